/* conf_rules.c - shapes of the options that grant or deny access.
 *
 * A wrong value must not be dropped: a rule that can't be read denies nothing, or admits everybody. So each
 * option has a shape, down to its texts, and its patterns are compiled when it is loaded. A rule
 * (conf_rule_t) describes texts, list items and mappings recursively; check_rule() walks value and rule
 * together, and each level prefixes the error with its key or item number. */
#include <arpa/inet.h>
#include <sys/stat.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/conf/conf_int.h"
#include "common/match/match.h"
#include "salt/limits.h"

/* True when the text fits the rule; otherwise *err says what is wrong. */
typedef bool text_fn(json_t *opts, const char *text, fail_t *err);

typedef struct field {
    const char *name;
    const conf_rule_t *rule;
} field_t;

struct conf_rule {
    const char *what;         /* "a list of functions" */
    text_fn *text;            /* NULL: a text is refused */
    const conf_rule_t *items; /* NULL: a list is refused */
    bool lone;                /* a text alone is a list of one */
    bool some;                /* an empty list is refused, as it has no effect */
    bool loose;               /* any other value is accepted; its owner checks it */
    bool none;                /* null is accepted */
    bool flag;                /* true and false are accepted */
    bool single;              /* a mapping has one key */
    text_fn *key;             /* of a mapping: any key that this takes, */
    const conf_rule_t *values;
    const conf_rule_t *marked; /* of keys that begin with ^; NULL: they are like others */
    const char *also;          /* a key that is like these */
    const field_t *fields;     /* or these only; `loose` also admits others that resemble none */
};

static bool conf_rules_refuse(fail_t *err, const char *fmt, ...) PRINTF(2, 3);

static bool
conf_rules_refuse(fail_t *err, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    fail_set(err, -EINVAL, "%s", text);
    return false;
}

/* ---- texts -------------------------------------------------------------------------------------- */

/* Refuse an empty text; `blank` allows white space inside, as in commands and targets. */
static bool
check_filled(const char *text, bool blank, fail_t *err)
{
    if (*text == '\0' || text[strspn(text, " \t\r\n\v\f")] == '\0')
        return conf_rules_refuse(err, "an empty text names nothing");
    if (!blank && text[strcspn(text, " \t\r\n\v\f")] != '\0')
        return conf_rules_refuse(err, "'%.100s' has a blank, which no name has", text);
    return true;
}

/* True when the text has no other characters; also for an empty text. */
static bool
is_only(const char *text, const char *chars)
{
    return text[strspn(text, chars)] == '\0';
}

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* The name of a module, source or environment. Compared literally, so a pattern would match nothing. */
static bool
conf_rules_check_name(json_t *opts, const char *text, fail_t *err)
{
    if (!check_filled(text, false, err))
        return false;
    if (is_only(text, NAME_CHARS))
        return true;
    return conf_rules_refuse(
        err, "'%.100s' is not a module's name: whole modules are named here, without patterns", text);
}

static bool
check_no_blank(json_t *opts, const char *text, fail_t *err)
{
    return check_filled(text, false, err);
}

/* The name of a module, or an empty text for none. */
static bool
check_module(json_t *opts, const char *text, fail_t *err)
{
    return *text == '\0' || conf_rules_check_name(opts, text, err);
}

/* The name of a custom module, which may be in a folder. */
static bool
check_extmod(json_t *opts, const char *text, fail_t *err)
{
    if (!check_filled(text, false, err))
        return false;
    if (is_only(text, NAME_CHARS ".") && !str_ends(text, ".py"))
        return true;
    return conf_rules_refuse(err, "'%.100s' is not a module's name: write it without .py, / and patterns",
                             text);
}

/* A list in one text: "a,b". */
static bool
check_extmods(json_t *opts, const char *text, fail_t *err)
{
    char **names = str_split(text, ",", false);
    bool ok = true;

    for (size_t i = 0; ok && names[i] != NULL; i++)
        ok = check_extmod(opts, names[i], err);
    strv_free(names);
    return ok;
}

static bool
check_glob(json_t *opts, const char *text, fail_t *err)
{
    return check_filled(text, true, err);
}

/* A glob of functions; "not " before it denies. */
static bool
conf_rules_check_allowed(json_t *opts, const char *text, fail_t *err)
{
    const char *glob = str_starts(text, "not ") ? text + strlen("not ") + strspn(text + strlen("not "), " ")
                                                : text;

    if (!check_filled(glob, false, err))
        return false;
    if (is_only(glob + (*glob == '!'), NAME_CHARS ".*?[]-!") && *glob != '!' && *glob != '-')
        return true;
    return conf_rules_refuse(err, "'%.100s' is not a glob of functions, and none with `not ` before it",
                             text);
}

/* A glob or regular expression that must match a whole text. */
static bool
check_expr(json_t *opts, const char *text, fail_t *err)
{
    return check_filled(text, false, err) && match_expr_check(text, err);
}

static bool
check_regex(json_t *opts, const char *text, fail_t *err)
{
    bool all;

    return check_filled(text, true, err) && match_pcre_check(text, false, &all, err);
}

/* Checks a pattern of user names. Numbers and groups are refused, because they would never match. */
static bool
check_user(json_t *opts, const char *text, fail_t *err)
{
    if (!check_filled(text, false, err))
        return false;
    if (is_only(text, "0123456789"))
        return conf_rules_refuse(err, "'%s' is a number: users have names here", text);
    if (*text == '%' || str_ends(text, "%"))
        return conf_rules_refuse(err, "'%.100s' is a group: there are users only here", text);
    return check_expr(opts, text, err);
}

/* A pattern that Salt matches at the beginning only: one that can match the empty text, such as "a|" or "t*",
 * matches everything. Refuse it, unless it is written as ".*". */
static bool
check_prefix(const char *text, bool glob, fail_t *err)
{
    static const char *const meant[] = { ".*", "^.*", ".*$", "^.*$" };
    bool all;

    if (!check_filled(text, false, err) || !match_pcre_check(text, glob, &all, err))
        return false;
    for (size_t i = 0; all && i < NELEMS(meant); i++)
        all = !str_eq(text, meant[i]);
    if (!all)
        return true;
    return fail_set(err, -EINVAL,
                    "'%.100s' matches everything, as a regular expression that is compared from the "
                    "beginning; write '.*' if that is meant",
                    text) == 0;
}

static bool
conf_rules_check_function(json_t *opts, const char *text, fail_t *err)
{
    return check_prefix(text, true, err);
}

static bool
check_prefix_only(json_t *opts, const char *text, fail_t *err)
{
    return check_prefix(text, false, err);
}

/* A bare module name such as "cmd" matches no function and would forbid nothing. */
static bool
conf_rules_check_forbidden(json_t *opts, const char *text, fail_t *err)
{
    if (!check_expr(opts, text, err))
        return false;
    if (!is_only(text, NAME_CHARS))
        return true;
    return fail_set(err, -EINVAL, "'%.100s' is not a function; write '%.100s.*' for all of the module", text,
                    text) == 0;
}

/* Checks a compound target by parsing it, with the node groups of this configuration. */
static bool
check_target(json_t *opts, const char *text, fail_t *err)
{
    json_auto_t *expr = json_string(text);

    if (!check_filled(text, true, err))
        return false;
    AUTO(target) target = target_new(expr, TGT_COMPOUND, json_object_get(opts, "nodegroups"), NULL, err);
    if (target == NULL)
        fail_prefix(err, "the target '%.100s': ", text);
    return target != NULL;
}

/* Checks an argument's pattern; one that matches every text is written as null or ".*". */
static bool
check_argument(json_t *opts, const char *text, fail_t *err)
{
    bool all;

    return match_pcre_check(text, false, &all, err);
}

/* Checks a rule that is a text: a function, or "@runner", "@jobs". */
static bool
check_called(json_t *opts, const char *text, fail_t *err)
{
    if (*text == '@')
        return conf_rules_check_name(opts, text + 1, err);
    return check_prefix_only(opts, text, err);
}

/* Checks the key of a rule: a target, or "@runner", "@jobs". */
static bool
check_scope(json_t *opts, const char *text, fail_t *err)
{
    return *text == '@' && is_only(text + 1, NAME_CHARS) ? conf_rules_check_name(opts, text + 1, err)
                                                         : check_target(opts, text, err);
}

static const char *
next_parameter(void *cookie)
{
    static const char *const known[] = { "field_separator", "filename", "filetype",       "hashtype",
                                         "password_field",  "realm",    "username_field", "url" };
    size_t *at = cookie;

    return *at < NELEMS(known) ? known[(*at)++] : NULL;
}

/* Checks a parameter of a system, whose files and digests its users are held against; a user's own system has
 * others. With a misspelt hashtype the digests of a file would be passwords. */
static bool
check_parameter(const char *text, fail_t *err)
{
    size_t at = 0, next = 0;
    const char *name;

    while ((name = next_parameter(&at)) != NULL)
        if (str_eq(name, text + 1))
            return true;
    const char *near = str_typo_of(text + 1, next_parameter, &next);
    return near == NULL || conf_rules_refuse(err, "'%.100s' is not known; is '^%s' meant?", text, near);
}

/* Checks who it is for: a name, a pattern of names, "GROUP%", "*", or a parameter "^name". */
static bool
check_key(json_t *opts, const char *text, fail_t *err)
{
    if (*text == '^' && !check_parameter(text, err))
        return false;
    if (*text == '^' || str_ends(text, "%"))
        return check_filled(text, true, err) &&
               (text[1] != '\0' || conf_rules_refuse(err, "'%s' has no name", text));
    return check_filled(text, true, err) && match_expr_check(text, err);
}

/* Names of states, as they are compared. */
static bool
check_state(json_t *opts, const char *text, fail_t *err)
{
    if (!check_filled(text, false, err))
        return false;
    if (str_eq(text, "*") || is_only(text, NAME_CHARS "."))
        return true;
    return conf_rules_refuse(err, "'%.100s' is neither a state module, nor MODULE.FUNCTION, nor *", text);
}

static bool
check_type(json_t *opts, const char *text, fail_t *err)
{
    tgt_type_t type;

    if (tgt_type_parse(text, &type))
        return true;
    return conf_rules_refuse(err, "'%.100s' is not a type of targets", text);
}

/* Kinds of custom modules, as Salt names them. */
static const char *const kinds[] = {
    "beacons",      "cache",     "clouds",    "engines", "executors", "fileserver", "grains",
    "log_handlers", "matchers",  "modules",   "output",  "pillar",    "proxy",      "proxymodules",
    "queues",       "renderers", "returners", "roster",  "runners",   "sdb",        "serializers",
    "states",       "thorium",   "tokens",    "tops",    "utils",     "wheel",      NULL
};

static const char *
next_kind(void *cookie)
{
    const char *const **at = cookie;

    return **at != NULL ? *(*at)++ : NULL;
}

/* Checks the kind of custom modules, with a suggestion for a misspelt one. */
static bool
check_kind(json_t *opts, const char *text, fail_t *err)
{
    const char *const *at = kinds;

    for (size_t i = 0; kinds[i] != NULL; i++)
        if (str_eq(kinds[i], text))
            return true;
    const char *near = str_suggest(text, next_kind, &at);
    AUTO_FREE char *hint = near != NULL ? xasprintf("; is '%s' meant?", near) : xstrdup("");
    return conf_rules_refuse(err, "'%.100s' is not a kind of custom modules%s", text, hint);
}

/* A minion has no node groups: an N@ target can be resolved by its master only. */
static bool
check_minion_target(json_t *opts, const char *text, fail_t *err)
{
    return strstr(text, "N@") != NULL ? check_filled(text, true, err) : check_target(opts, text, err);
}

/* Lines of a file of ids or users, without a byte order mark; comments are the caller's. NEW, or NULL with
 * *err. */
char **
conf_lines(const char *text, size_t len, fail_t *err)
{
    static const char bom[] = "\xef\xbb\xbf";
    const char *nul = memchr(text, '\0', len);

    if (nul != NULL) {
        (void) fail_set(err, -EINVAL,
                        "a NUL byte after %zu bytes: this is not a text, or one in UTF-16; write it in UTF-8",
                        (size_t) (nul - text));
        return NULL;
    }
    return str_split(text + (str_starts(text, bom) ? strlen(bom) : 0), "\n", false);
}

/* Check the lines of a file of ids: globs, regular expressions, comments. */
static bool
check_lines(json_t *opts, const char *path, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    bool ok = true;

    struct stat st;

    /* A pipe or a socket would be waited for. Permissions are checked when the file is used, and so is a file
     * that appears later. */
    if (stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
        return conf_rules_refuse(err, "%s is a pipe or a socket, and not a file", path);
    if (*path == '\0' || fs_read(path, LIMIT_CONF_FILE, &text, NULL) < 0)
        return true;
    char **lines = conf_lines(buf_str(&text), text.len, err);
    if (lines == NULL)
        return fail_prefix(err, "%s: ", path), false;
    for (size_t i = 0; ok && lines[i] != NULL; i++) {
        const char *line = str_trim(lines[i]);
        ok = *line == '\0' || *line == '#' || check_expr(opts, line, err);
        if (!ok)
            fail_prefix(err, "%s, line %zu: ", path, i + 1);
    }
    strv_free(lines);
    return ok;
}

/* A missing file would reject nobody: refuse it. */
static bool
check_rejects(json_t *opts, const char *path, fail_t *err)
{
    if (*path != '\0' && fs_absent(path))
        return conf_rules_refuse(err, "there is no file %s; make an empty one if nobody is to be rejected",
                                 path);
    return check_lines(opts, path, err);
}

/* A path that is no folder would let nobody in, without a word. */
static bool
check_claims(json_t *opts, const char *path, fail_t *err)
{
    struct stat st;

    return *path == '\0' || stat(path, &st) != 0 || S_ISDIR(st.st_mode) ||
           conf_rules_refuse(
               err, "%s is not a folder; it has a file for each grain, with the values that count", path);
}

static bool
check_grain(json_t *opts, const char *name, fail_t *err)
{
    return (*name != '\0' && strlen(name) <= LIMIT_CLAIM_TEXT) ||
           conf_rules_refuse(err, "a grain's name has 1 to %d bytes", LIMIT_CLAIM_TEXT);
}

/* Checks an address; it is compared as a whole, so that a network would match nobody. */
static bool
check_address(json_t *opts, const char *text, fail_t *err)
{
    unsigned char room[sizeof(struct in6_addr)];

    if (!check_filled(text, false, err))
        return false;
    if (str_eq(text, "*") || inet_pton(AF_INET, text, room) == 1 || inet_pton(AF_INET6, text, room) == 1)
        return true;
    return conf_rules_refuse(err, "'%.100s' is neither an address nor '*'", text);
}

/* Checks an origin as browsers send it, "https://example.com:8000". */
static bool
check_origin(json_t *opts, const char *text, fail_t *err)
{
    const char *host = strstr(text, "://");

    if (!check_filled(text, false, err))
        return false;
    if (str_eq(text, "*") || (host != NULL && host[3] != '\0' && strpbrk(host + 3, "/*?") == NULL))
        return true;
    return conf_rules_refuse(err, "'%.100s' is neither an origin, as https://example.com, nor '*'", text);
}

/* ---- rules -------------------------------------------------------------------------------------- */

#define TEXT(name, described, fn) static const conf_rule_t name = { .what = (described), .text = (fn) }
#define LIST(name, described, of)                                                                            \
    const conf_rule_t name = { .what = (described), .items = &(of), .lone = true }

TEXT(one_name, "a module's name", conf_rules_check_name);
TEXT(one_glob, "a glob", check_glob);
TEXT(one_allowed, "a glob of functions", conf_rules_check_allowed);
TEXT(one_expr, "a glob or a regular expression", check_expr);
TEXT(one_regex, "a regular expression", check_regex);
TEXT(one_user, "a user's name or a pattern of names", check_user);
TEXT(one_forbidden, "a function or a pattern of functions", conf_rules_check_forbidden);
TEXT(one_prefix, "a regular expression", check_prefix_only);
TEXT(one_extmod, "a module's name", check_extmod);
TEXT(one_target, "a compound target", check_minion_target);
TEXT(one_type, "a type of targets", check_type);
TEXT(one_grain, "a grain's name", check_grain);

LIST(conf_rule_names, "a list of modules' names", one_name);
LIST(conf_rule_globs, "a list of globs", one_glob);
LIST(conf_rule_allowed, "a list of globs of functions", one_allowed);
LIST(conf_rule_grains, "a list of grains' names", one_grain);
LIST(conf_rule_exprs, "a list of globs or regular expressions", one_expr);
LIST(conf_rule_regexes, "a list of regular expressions", one_regex);
const conf_rule_t conf_rule_module = { .what = "a module's name", .text = check_module };
const conf_rule_t conf_rule_lines = { .what = "a path", .text = check_lines };
const conf_rule_t conf_rule_rejects = { .what = "a path", .text = check_rejects };
const conf_rule_t conf_rule_claims = { .what = "a path", .text = check_claims };

/* {args: [regex or null], kwargs: {NAME: regex or null}}, or a list of such: what arguments a function may
 * have. */
static const conf_rule_t one_value = { .what = "a regular expression", .text = check_argument, .none = true };
static const conf_rule_t by_place = { .what = "a list of regular expressions", .items = &one_value };
static const conf_rule_t by_name = { .what = "a mapping of names to regular expressions",
                                     .key = check_glob,
                                     .values = &one_value };
static const field_t demands[] = { { "args", &by_place }, { "kwargs", &by_name }, { NULL, NULL } };
static const conf_rule_t demand = { .what = "a mapping of args and kwargs", .fields = demands };
static const conf_rule_t condition = { .what = "a mapping of args and kwargs, or a list of such",
                                       .items = &demand,
                                       .fields = demands };

/* USER: [FUNCTION, {TARGET: [FUNCTION, {FUNCTION: CONDITIONS}]}] */
static const conf_rule_t one_function = {
    .what = "a function or a pattern of functions, or a mapping of one to conditions",
    .text = conf_rules_check_function,
    .key = check_prefix_only,
    .single = true,
    .values = &condition
};
static LIST(functions, "a list of functions", one_function);
static const conf_rule_t grant = { .what = "a function, or a mapping of targets to lists of functions",
                                   .text = conf_rules_check_function,
                                   .key = check_target,
                                   .values = &functions };
static const conf_rule_t grants = { .what = "a list of functions", .items = &grant };
const conf_rule_t conf_rule_acl = { .what = "a mapping of users to lists of functions",
                                    .key = check_user,
                                    .values = &grants };

/* SYSTEM: {USER: [FUNCTION, "@MODULE", {TARGET or "@MODULE": [FUNCTION, {FUNCTION: CONDITIONS}]}],
 * ^PARAMETER: value} */
static const conf_rule_t call = { .what = "a function, or a mapping of one to conditions",
                                  .text = check_prefix_only,
                                  .key = check_prefix_only,
                                  .single = true,
                                  .values = &condition };
static const conf_rule_t calls = { .what = "a list of functions", .items = &call, .lone = true };
static const conf_rule_t eauth_rule = {
    .what = "a function, or a mapping of one target to a list of functions",
    .text = check_called,
    .key = check_scope,
    .single = true,
    .values = &calls
};
static const conf_rule_t eauth_rules = { .what = "a list of functions", .items = &eauth_rule };
static const conf_rule_t parameter = { .what = "a value", .loose = true };
static const conf_rule_t eauth_users = { .what = "a mapping of users to lists of functions",
                                         .key = check_key,
                                         .values = &eauth_rules,
                                         .marked = &parameter,
                                         .also = "ca_file" /* of Salt's pki */ };
const conf_rule_t conf_rule_eauth = { .what = "a mapping of systems to mappings of users",
                                      .key = conf_rules_check_name,
                                      .values = &eauth_users };

static LIST(users, "a list of users", one_user);
static LIST(forbidden, "a list of functions", one_forbidden);
static const field_t forbids[] = { { "users", &users }, { "modules", &forbidden }, { NULL, NULL } };
const conf_rule_t conf_rule_blacklist = { .what = "a mapping of users and modules to lists",
                                          .fields = forbids };

/* IDS: [NAME] */
static const conf_rule_t names_asked = { .what = "a list of regular expressions", .items = &one_prefix };
const conf_rule_t conf_rule_mine = { .what = "a mapping of ids to lists of names",
                                     .key = check_prefix_only,
                                     .values = &names_asked };

/* IDS: [FUNCTION, {TARGET: [FUNCTION, {FUNCTION: CONDITIONS}]}] */
static const conf_rule_t peer_rule = {
    .what = "a function, or a mapping of one target to a list of functions",
    .text = check_prefix_only,
    .key = check_target,
    .single = true,
    .values = &calls
};
static const conf_rule_t peer_rules = { .what = "a list of functions", .items = &peer_rule };
const conf_rule_t conf_rule_peer = { .what = "a mapping of ids to lists of functions",
                                     .key = check_prefix_only,
                                     .values = &peer_rules };

/* KIND: [MODULE] or "a,b" */
static const conf_rule_t extmods = { .what = "a list of modules' names",
                                     .text = check_extmods,
                                     .items = &one_extmod };
const conf_rule_t conf_rule_extmods = { .what = "a mapping of kinds to lists of modules' names",
                                        .key = check_kind,
                                        .values = &extmods };

/* STATE: [TARGET] */
static const conf_rule_t conditions = {
    .what = "a list of compound targets", .items = &one_target, .lone = true, .some = true
};
const conf_rule_t conf_rule_conditions = { .what = "a mapping of states to lists of compound targets",
                                           .key = check_state,
                                           .values = &conditions };

/* ALIAS: arguments, with allow_tgt among them */
static const conf_rule_t allow_tgt = {
    .what = "a target", .text = check_glob, .items = &one_glob, .some = true
};
static const field_t allows[] = { { "allow_tgt", &allow_tgt },
                                  { "allow_tgt_type", &one_type },
                                  { NULL, NULL } };
static const conf_rule_t called_item = { .what = "an argument", .fields = allows, .loose = true };
static const conf_rule_t called = {
    .what = "arguments", .items = &called_item, .fields = allows, .loose = true
};
TEXT(one_listed, "a function", check_glob);
const conf_rule_t conf_rule_mine_functions = { .what = "a mapping (name: arguments) or a list of texts",
                                               .items = &one_listed,
                                               .key = check_glob,
                                               .values = &called };

/* [URL, {URL: [{saltenv_blacklist: [ENV]}]}]: of a remote's settings only those that grant or deny. */
static const conf_rule_t remote_envs = { .what = "a list of globs or regular expressions",
                                         .items = &one_expr };
static const field_t exposes[] = { { "saltenv_whitelist", &remote_envs },
                                   { "saltenv_blacklist", &remote_envs },
                                   { NULL, NULL } };
static const conf_rule_t remote_setting = { .what = "a setting", .fields = exposes, .loose = true };
static const conf_rule_t remote_settings = {
    .what = "settings", .items = &remote_setting, .fields = exposes, .loose = true
};
static const conf_rule_t remote = { .what = "an address, or a mapping of it to settings",
                                    .text = check_glob,
                                    .key = check_glob,
                                    .values = &remote_settings };
const conf_rule_t conf_rule_remotes = { .what = "a list of addresses", .items = &remote };

/* {users: {USER: [ADDRESS]}} */
TEXT(one_address, "an address or '*'", check_address);
TEXT(one_origin, "an origin", check_origin);
static const conf_rule_t addresses = { .what = "a list of addresses", .items = &one_address };
static const conf_rule_t from_where = { .what = "a mapping of users to lists of addresses",
                                        .key = check_glob,
                                        .values = &addresses };
static const field_t api_acl_fields[] = { { "users", &from_where }, { NULL, NULL } };
static const conf_rule_t api_acl = { .what = "a mapping", .fields = api_acl_fields, .none = true };
static const conf_rule_t some_addresses = {
    .what = "a list of addresses", .items = &one_address, .lone = true, .none = true
};
static const conf_rule_t origins = {
    .what = "a list of origins", .items = &one_origin, .lone = true, .none = true
};
static const conf_rule_t yes_or_no = { .what = "true or false", .flag = true, .none = true };
/* Settings of salt-api that grant or deny; api/settings.c knows the others. */
static const field_t api_fields[] = { { "api_acl", &api_acl },
                                      { "authorized_ips", &some_addresses },
                                      { "cors_origin", &origins },
                                      { "disable_ssl", &yes_or_no },
                                      { "metrics_disable_auth", &yes_or_no },
                                      { "stats_disable_auth", &yes_or_no },
                                      { "webhook_disable_auth", &yes_or_no },
                                      { NULL, NULL } };
const conf_rule_t conf_rule_api = { .what = "a mapping of settings", .fields = api_fields, .loose = true };

/* true, or SYSTEM: [USER] */
TEXT(one_login, "a user's name", check_glob);
static const conf_rule_t logins = { .what = "a list of users", .items = &one_login };
const conf_rule_t conf_rule_choosers = { .what = "true or false, or a mapping of systems to lists of users",
                                         .flag = true,
                                         .key = conf_rules_check_name,
                                         .values = &logins };

/* POLICY: {minions: TARGET, ...}, or a list of such */
static const field_t policy_fields[] = { { "minions", &one_glob }, { NULL, NULL } };
static const conf_rule_t policy_item = { .what = "a mapping", .fields = policy_fields, .loose = true };
static const conf_rule_t policy = { .what = "a mapping of settings, or a list of such",
                                    .items = &policy_item,
                                    .fields = policy_fields,
                                    .loose = true };
const conf_rule_t conf_rule_policies = { .what = "a mapping of policies",
                                         .key = check_glob,
                                         .values = &policy };

/* The server of secrets: which policies minions get, who may choose, and how to log in. */
TEXT(one_policy, "a policy's name", check_no_blank);
static const conf_rule_t policy_names = { .what = "a list of policies", .items = &one_policy, .none = true };
static const conf_rule_t anything = { .what = "anything", .loose = true };
static const field_t vault_auth_fields[] = { { "allow_minion_override", &yes_or_no },
                                             { "method", &anything },
                                             { "role_id", &anything },
                                             { "secret_id", &anything },
                                             { "token", &anything },
                                             { "token_backend", &anything },
                                             { "ttl", &anything },
                                             { "uses", &anything },
                                             { NULL, NULL } };
static const conf_rule_t vault_auth = { .what = "a mapping of settings", .fields = vault_auth_fields };
static const field_t vault_fields[] = { { "auth", &vault_auth },
                                        { "config_location", &anything },
                                        { "keys", &anything },
                                        { "namespace", &anything },
                                        { "policies", &policy_names },
                                        { "policies_cache_time", &anything },
                                        { "policies_refresh_pillar", &anything },
                                        { "role_name", &anything },
                                        { "url", &anything },
                                        { "verify", &anything },
                                        { NULL, NULL } };
const conf_rule_t conf_rule_vault = { .what = "a mapping of settings", .fields = vault_fields };

/* ---- shapes ------------------------------------------------------------------------------------- */

typedef struct look {
    json_t *opts;
    fail_t *err;
} look_t;

static bool check_rule(look_t *look, const conf_rule_t *rule, const json_t *v);

static const char *
next_field(void *cookie)
{
    const field_t **at = cookie;

    return (*at)->name != NULL ? (*at)++->name : NULL;
}

/* Checks a key and its value. A rule has either fixed fields or a check for any key. */
static bool
check_pair(look_t *look, const conf_rule_t *rule, const char *key, const json_t *v)
{
    const field_t *field = NULL;

    for (const field_t *f = rule->fields; f != NULL && f->name != NULL && field == NULL; f++)
        field = str_eq(f->name, key) ? f : NULL;

    if (rule->fields != NULL && field == NULL) {
        /* An unknown field is accepted by a loose rule, unless it looks like a misspelt known one. */
        const field_t *at = rule->fields;
        const char *near = str_suggest(key, next_field, &at);
        if (rule->loose && near == NULL)
            return true;
        buf_auto_t known = BUF_INIT;
        for (const field_t *f = rule->fields; f->name != NULL; f++)
            buf_printf(&known, "%s%s", known.len > 0 ? ", " : "", f->name);
        AUTO_FREE char *hint = near != NULL ? xasprintf("; is '%s' meant?", near) : xstrdup("");
        return conf_rules_refuse(look->err, "'%.100s' is not known here; known are %s%s", key,
                                 buf_str(&known), hint);
    }
    bool marked = rule->marked != NULL && (*key == '^' || (rule->also != NULL && str_eq(key, rule->also)));
    const conf_rule_t *values = field != NULL ? field->rule : marked ? rule->marked : rule->values;
    if (field == NULL && !rule->key(look->opts, key, look->err))
        return false;
    if (check_rule(look, values, v))
        return true;
    fail_prefix(look->err, "%.100s: ", key);
    return false;
}

/* Checks a value by its type; a rule may allow several types. */
static bool
check_rule(look_t *look, const conf_rule_t *rule, const json_t *v)
{
    if (json_is_string(v) && rule->text != NULL)
        return rule->text(look->opts, json_string_value(v), look->err);
    if (json_is_string(v) && rule->lone)
        return check_rule(look, rule->items, v);
    if (json_is_array(v) && rule->items != NULL) {
        /* Checks each item of a list. An error names the item by its number, as users count them. */
        size_t i;
        json_t *item;
        if (rule->some && json_array_size(v) == 0)
            return conf_rules_refuse(look->err, "an empty list says nothing: leave it out");
        json_array_foreach (v, i, item) {
            if (check_rule(look, rule->items, item))
                continue;
            fail_prefix(look->err, "item %zu: ", i + 1);
            return false;
        }
        return true;
    }
    if (json_is_object(v) && (rule->key != NULL || rule->fields != NULL)) {
        /* Checks the keys and values of a mapping. */
        const char *key;
        json_t *value;
        if (rule->single && json_object_size(v) != 1)
            return conf_rules_refuse(look->err,
                                     "a mapping of one name to its rules, not of %zu: begin a new item",
                                     json_object_size(v));
        json_object_foreach ((json_t *) v, key, value)
            if (!check_pair(look, rule, key, value))
                return false;
        return true;
    }
    if (rule->loose || (rule->none && json_is_null(v)) || (rule->flag && json_is_boolean(v)))
        return true;
    if (json_is_string(v))
        return conf_rules_refuse(look->err, "wants %s, not the text '%.100s'", rule->what,
                                 json_string_value(v));
    return conf_rules_refuse(look->err, "wants %s, not %s", rule->what, conf_type_name(v));
}

/* 0, or -EINVAL: the error names file and option, and then each key and item on the way to the wrong
 * value. */
int
conf_check_rule(const option_row_t *row, json_t *opts, const json_t *said, const char *where, fail_t *err)
{
    look_t look = { opts, err };

    if (check_rule(&look, row->rule, said))
        return 0;
    fail_prefix(err, "%s: option '%s': ", where, row->name);
    return -EINVAL;
}
