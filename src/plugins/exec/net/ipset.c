/* ipset.c - execution module `ipset`: sets of addresses, networks and ports in the kernel, which rules of the
 * packet filter refer to. The program ipset(8) does the work. Most functions answer with a text: "Success",
 * or what is wrong behind "Error:", which the states of `ipset` read. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/ipaddr.h"
#include "plugins/lib/call/tool.h"
#include "salt/plugin.h"

#define PROGRAM    "ipset"
#define NAME(args) value_str(args, "name", "")

/* ---- types and their options ------------------------------------------------------------------ */

#define COMMON   " timeout counters comment skbinfo "
#define HASH     " hashsize maxelem" COMMON
#define HASH_NET " family netmask" HASH
#define ADD      " timeout packets bytes skbmark skbprio skbqueue "

/* A type of set: the options of `create`, which of them is a must, and those of `add`. */
typedef struct set_type {
    const char *name, *create, *must, *add;
} set_type_t;

static const set_type_t types[] = {
    { "bitmap:ip", " range netmask" COMMON, "range", ADD },
    { "bitmap:ip,mac", " range" COMMON, "range", ADD },
    { "bitmap:port", " range" COMMON, "range", " timeout packets bytes skbmark skbprio " },
    { "hash:ip", HASH_NET, NULL, ADD },
    { "hash:mac", HASH, NULL, ADD },
    { "hash:ip,port", HASH_NET, NULL, ADD " nomatch " },
    { "hash:ip,port,ip", HASH_NET, NULL, ADD },
    { "hash:ip,port,net", HASH_NET, NULL, ADD " nomatch " },
    { "hash:net", HASH_NET, NULL, ADD " nomatch " },
    { "hash:net,net", HASH_NET, NULL, ADD " nomatch " },
    { "hash:net,iface", HASH_NET, NULL, ADD " nomatch " },
    { "hash:net,port", HASH_NET, NULL, ADD " nomatch " },
    { "hash:net,port,net", HASH_NET, NULL, ADD " nomatch " },
    { "hash:ip,mark", " family markmask" HASH, NULL, ADD },
    { "list:set", " size timeout counters comment ", NULL, ADD },
};

/* Options that are a word alone. */
#define FLAGS " counters comment skbinfo nomatch "

static const set_type_t *
type_named(const char *name)
{
    for (size_t i = 0; i < NELEMS(types); i++)
        if (str_eq(types[i].name, name))
            return &types[i];
    return NULL;
}

/* True when `word` is one of the words, each with a blank on both sides. */
static bool
one_of(const char *words, const char *word)
{
    AUTO_FREE char *padded = xasprintf(" %s ", word);

    return strstr(words, padded) != NULL;
}

/* The keywords that are among `options`: a word and its value, or the word alone. Those that the line has
 * already are left out. */
static void
ipset_add_options(prog_t *prog, const char *options, const json_t *kwargs)
{
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *) kwargs, key, value) {
        bool there = false;
        for (size_t i = 0; i < prog->n; i++)
            there = there || str_eq(prog->argv[i], key);
        if (there || !one_of(options, key))
            continue;
        if (!one_of(FLAGS, key))
            prog_add_option(prog, key, value);
        else if (value_truthy(value))
            prog_add(prog, key);
    }
}

/* ---- the program ------------------------------------------------------------------------------ */

/* Starts "ipset ACTION NAME"; a name of None is left out. */
static int
ipset_begin(prog_t *prog, const char *action, const char *name, fail_t *err)
{
    int rc = tool_begin(prog, PROGRAM, err);

    if (rc < 0)
        return rc;
    prog_add(prog, action);
    return *name != '\0' ? prog_operand(prog, "name", name, err) : 0;
}

/* True, or what the program printed: the answer of those that make and delete sets. */
static int
ipset_done(call_ctx_t *ctx, prog_t *prog, json_t **ret_value, fail_t *err)
{
    int rc = tool_text(ctx, prog, ret_value, err);

    if (rc == 0 && *json_string_value(*ret_value) == '\0') {
        json_decref(*ret_value);
        *ret_value = json_true();
    }
    return rc;
}

/* The answer of those that change members. */
static int
ipset_success(call_ctx_t *ctx, prog_t *prog, json_t **ret_value, fail_t *err)
{
    json_auto_t *text = NULL;
    int rc = tool_text(ctx, prog, &text, err);

    if (rc == 0)
        *ret_value = *json_string_value(text) == '\0' ? json_string("Success")
                                                      : value_fmt("Error: %s", json_string_value(text));
    return rc;
}

/* The listing of a set by ipset, its members too with `whole`. NEW; NULL when there is none of that name, or
 * with *err. */
static json_t *
listing(call_ctx_t *ctx, const char *name, bool whole, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = tool_begin(&prog, PROGRAM, err);

    if (rc < 0)
        return NULL;
    prog_add(&prog, "list");
    if (!whole)
        prog_add(&prog, "-t");
    if (prog_operand(&prog, "name", name, err) < 0)
        return NULL;
    json_auto_t *out = tool_run(ctx, &prog, TOOL_QUIET, err);
    if (out == NULL || value_int(out, "retcode", 0) == 0)
        return json_incref(value_get(out, "stdout"));
    /* Another failure tells nothing of the set: who takes it for one that is absent says it was removed. */
    const char *why = value_str(out, "stderr", ""), *behind = strstr(why, ": "); /* "ipset v7.17: WHY" */
    if (strstr(why, "does not exist") == NULL)
        (void) fail_kind(err, FAIL_COMMAND, -EIO, "ipset list %s: %s", name,
                         behind != NULL ? behind + 2 : why);
    return NULL;
}

/* Adds the field of a line, "Name: value", which is cut; false when it is none. */
static bool
take_field(json_t *set, char *line)
{
    char *colon = strchr(line, ':');

    if (colon == NULL)
        return false;
    *colon = '\0';
    json_object_set_new(set, line, json_string(colon[1] != '\0' ? colon + 2 : ""));
    return true;
}

/* The fields of a set: "Type", "Header", "References", ... NEW as listing(). */
static json_t *
set_info(call_ctx_t *ctx, const char *name, fail_t *err)
{
    json_auto_t *text = listing(ctx, name, false, err);

    if (text == NULL)
        return NULL;
    json_t *info = json_object();
    char **lines = str_split(json_string_value(text), "\n", false);
    for (size_t i = 0; lines[i] != NULL; i++)
        (void) take_field(info, lines[i]);
    strv_free(lines);
    return info;
}

/* The lines behind "Members:". NEW list, as listing(). */
static json_t *
set_members(call_ctx_t *ctx, const char *name, fail_t *err)
{
    json_auto_t *text = listing(ctx, name, true, err);

    if (text == NULL)
        return NULL;
    json_t *members = json_array();
    const char *at = strstr(json_string_value(text), "\nMembers:");
    char **lines = str_split(at != NULL ? at + 1 : "", "\n", false);
    for (size_t i = 1; lines[0] != NULL && lines[i] != NULL; i++)
        json_array_append_new(members, json_string(lines[i]));
    strv_free(lines);
    return members;
}

/* ---- members ---------------------------------------------------------------------------------- */

/* A part of a member or an entry: addresses from the first to the last, or another word (a port, a MAC
 * address, an interface, a set). */
typedef struct part {
    bool is_addresses, alone; /* alone: an address, not a network or a range */
    ip_t first, last;
    char *word; /* owned */
} part_t;

/* An address, a network or a range; anything else stays a word. A port of ipset's own writing is "tcp:80" for
 * "80". */
static part_t
part_of(const char *kind, const char *text)
{
    part_t p = { false,
                 false,
                 { 0 },
                 { 0 },
                 xstrdup(str_eq(kind, "port") && str_starts(text, "tcp:") ? text + 4 : text) };
    fail_auto_t err = FAIL_INIT;
    ipnet_t net;
    const char *dash = strchr(text, '-');
    AUTO_FREE char *from = xstrndup(text, dash != NULL ? (size_t) (dash - text) : strlen(text));

    if (!str_eq(kind, "ip") && !str_eq(kind, "net"))
        return p;
    if (dash != NULL) {
        p.is_addresses = ip_parse(from, &p.first, &err) == 0 && ip_parse(dash + 1, &p.last, &err) == 0 &&
                         ip_cmp(&p.first, &p.last) <= 0;
    } else if (ipnet_parse(text, false, &net, &err) == 0) {
        p.is_addresses = true;
        p.alone = strchr(text, '/') == NULL;
        p.first = ipnet_first(&net);
        p.last = ipnet_last(&net);
    }
    return p;
}

/* True when `a` has all addresses of `b`. */
static bool
ipset_has_all(const part_t *a, const part_t *b)
{
    return a->first.version == b->first.version && ip_cmp(&a->first, &b->first) <= 0 &&
           ip_cmp(&a->last, &b->last) >= 0;
}

/* True for the same part, an address of a member's network, and, as in Salt, a member that is an address
 * within the network that is asked for. */
static bool
part_found(const char *kind, const char *member, const char *entry)
{
    part_t m = part_of(kind, member), e = part_of(kind, entry);
    bool same = str_eq(m.word, e.word);

    if (!same && m.is_addresses && e.is_addresses)
        same = (ipset_has_all(&m, &e) && ipset_has_all(&e, &m)) || (e.alone && ipset_has_all(&m, &e)) ||
               (m.alone && ipset_has_all(&e, &m));
    free(m.word);
    free(e.word);
    return same;
}

/* The words of an entry or a member: its parts, then its options. Quotes of a comment are no part of it. NEW,
 * NULL with *err. */
static char **
entry_words(const char *entry, fail_t *err)
{
    char **words = prog_split(entry, err);

    if (words != NULL && words[0] == NULL) {
        strv_free(words);
        words = NULL;
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "an entry is empty");
    }
    return words;
}

/* True when the member has each option of the entry, with its value. */
static bool
options_found(char *const *member, char *const *entry)
{
    for (size_t i = 1; entry[i] != NULL; i++) {
        bool flag = one_of(FLAGS, entry[i]) && !str_eq(entry[i], "comment"), found = false;
        for (size_t j = 1; member[j] != NULL && !found; j++)
            found = str_eq(member[j], entry[i]) && (flag || str_eq(member[j + 1], entry[i + 1]));
        if (!found)
            return false;
        if (!flag && entry[i + 1] != NULL)
            i++;
    }
    return true;
}

/* True when a member's line has the entry: the parts of the type that the entry has, and its options. */
static bool
member_has(const char *type, const char *line, char *const *entry)
{
    fail_auto_t err = FAIL_INIT;
    char **member = prog_split(line, &err), **kinds = str_split(strchr(type, ':') + 1, ",", false);
    char **theirs = str_split(member != NULL && member[0] != NULL ? member[0] : "", ",", false),
         **ours = str_split(entry[0], ",", false);
    bool found = member != NULL && member[0] != NULL && strv_len(ours) <= strv_len(theirs);

    for (size_t i = 0; found && ours[i] != NULL; i++)
        found = part_found(i < strv_len(kinds) ? kinds[i] : "", theirs[i], ours[i]);
    found = found && options_found(member, entry);
    strv_free(theirs);
    strv_free(ours);
    strv_free(kinds);
    if (member != NULL)
        strv_free(member);
    return found;
}

/* ---- functions -------------------------------------------------------------------------------- */

/* Answers when a needed argument is missing: true. `needs` are pairs of an argument and its name in the
 * answer, up to NULL. */
static bool
not_given(const json_t *args, const char *const *needs, json_t **ret_value)
{
    for (; *needs != NULL; needs += 2)
        if (!value_truthy(value_get(args, needs[0]))) {
            *ret_value = value_fmt("Error: %s needs to be specified", needs[1]);
            return true;
        }
    return false;
}

#define NEEDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* "ipset v7.17, protocol version: 7": the second word, with its comma, as Salt has it. */
static int
ipset_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    json_auto_t *text = NULL;
    int rc = ipset_begin(&prog, "--version", "", err);

    rc = rc == 0 ? tool_text(ctx, &prog, &text, err) : rc;
    if (rc < 0)
        return rc;
    char **words = str_split(json_string_value(text), " \n", true);
    if (strv_len(words) > 1)
        *ret_value = json_string(words[1]);
    else
        (void) fail_kind(err, FAIL_COMMAND, -EIO, "ipset --version tells no version");
    strv_free(words);
    return err->code;
}

static int
ipset_new_set(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *family = value_str(args, "family", "");
    bool six = str_eq(family, "ipv6") || str_eq(family, "ip6");
    const set_type_t *type = type_named(value_str(args, "set_type", ""));
    const json_t *kwargs = value_get(args, "kwargs");
    prog_auto_t prog = PROG_INIT;

    if (!six && !str_eq(family, "ipv4") && !str_eq(family, "ip4"))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "family: '%s' is neither ipv4 nor ipv6", family);
    if (not_given(args, NEEDS("name", "Set Name", "set_type", "Set Type"), ret_value))
        return 0;
    if (type == NULL) {
        *ret_value = json_string("Error: Set Type is invalid");
        return 0;
    }
    if (type->must != NULL && value_get(kwargs, type->must) == NULL) {
        *ret_value = value_fmt("Error: %s is a required argument", type->must);
        return 0;
    }
    int rc = ipset_begin(&prog, "create", NAME(args), err);
    if (rc < 0)
        return rc;
    prog_add(&prog, type->name);
    ipset_add_options(&prog, type->create, kwargs);
    if (one_of(type->create, "family"))
        prog_adds(&prog, "family", six ? "inet6" : "inet", NULL);
    if (value_truthy(value_get(args, "comment")))
        prog_add(&prog, "comment");
    return ipset_done(ctx, &prog, ret_value, err);
}

static int
ipset_delete_set(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (not_given(args, NEEDS("name", "Set"), ret_value))
        return 0;
    int rc = ipset_begin(&prog, "destroy", NAME(args), err);
    return rc < 0 ? rc : ipset_done(ctx, &prog, ret_value, err);
}

static int
ipset_rename_set(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *other = value_str(args, "new_set", "");
    prog_auto_t prog = PROG_INIT;

    if (not_given(args, NEEDS("name", "Set", "new_set", "New name for set"), ret_value))
        return 0;
    json_auto_t *old = set_info(ctx, NAME(args), err),
                *taken = err->code == 0 ? set_info(ctx, other, err) : NULL;
    if (err->code < 0)
        return err->code;
    if (old == NULL || taken != NULL) {
        *ret_value = json_string(old == NULL ? "Error: Set does not exist" : "Error: New Set already exists");
        return 0;
    }
    int rc = ipset_begin(&prog, "rename", NAME(args), err);
    rc = rc == 0 ? prog_operand(&prog, "new_set", other, err) : rc;
    return rc < 0 ? rc : ipset_done(ctx, &prog, ret_value, err);
}

/* The fields of every set: ipset parts them by an empty line. */
static int
ipset_list_sets(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    json_auto_t *text = NULL;
    int rc = ipset_begin(&prog, "list", "", err);

    prog_add(&prog, "-t");
    rc = rc == 0 ? tool_text(ctx, &prog, &text, err) : rc;
    if (rc < 0)
        return rc;
    json_t *sets = *ret_value = json_array(), *set = NULL;
    char **lines = str_split(json_string_value(text), "\n", false);
    for (size_t i = 0; lines[i] != NULL; i++) {
        if (set == NULL && strchr(lines[i], ':') != NULL)
            json_array_append_new(sets, set = json_object());
        if (set != NULL && !take_field(set, lines[i]))
            set = NULL;
    }
    strv_free(lines);
    return 0;
}

static int
ipset_check_set(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (not_given(args, NEEDS("name", "Set"), ret_value))
        return 0;
    json_auto_t *info = set_info(ctx, NAME(args), err);
    *ret_value = err->code == 0 ? json_boolean(info != NULL) : NULL;
    return err->code;
}

/* Answers when the set, the entry or what the set must have been made with is missing: true. */
static bool
not_takable(const json_t *args, const json_t *info, json_t **ret_value)
{
    static const struct {
        const char *options, *support;
    } wants[] = { { "timeout", "timeout" },
                  { "packets bytes", "counters" },
                  { "comment", "comment" },
                  { "skbmark skbprio skbqueue", "skbinfo" } };
    const char *header = value_str(info, "Header", ""), *key;
    json_t *value;

    if (info == NULL) {
        *ret_value = value_fmt("Error: Set %s does not exist", NAME(args));
        return true;
    }
    for (size_t i = 0; i < NELEMS(wants); i++) {
        AUTO_FREE char *options = xasprintf(" %s ", wants[i].options);
        json_object_foreach (value_get(args, "kwargs"), key, value) {
            if (!one_of(options, key) || strstr(header, wants[i].support) != NULL)
                continue;
            *ret_value = value_fmt("Error: Set %s not created with %s support", NAME(args), wants[i].support);
            return true;
        }
    }
    return false;
}

static int
ipset_add(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *entry = value_str(args, "entry", "");
    const json_t *kwargs = value_get(args, "kwargs"), *comment = value_get(kwargs, "comment");
    prog_auto_t prog = PROG_INIT;
    json_t *member;
    size_t i;

    if (not_given(args, NEEDS("name", "Set", "entry", "Entry"), ret_value))
        return 0;
    json_auto_t *info = set_info(ctx, NAME(args), err);
    if (err->code < 0 || not_takable(args, info, ret_value))
        return err->code;
    json_auto_t *members = set_members(ctx, NAME(args), err);
    if (err->code < 0)
        return err->code;
    json_array_foreach (members, i, member) {
        if (!str_eq(json_string_value(member), entry))
            continue;
        *ret_value = value_fmt("Warn: Entry %s already exists in set %s", entry, NAME(args));
        return 0;
    }
    char **words = entry_words(entry, err);
    int rc = words != NULL ? ipset_begin(&prog, "add", "", err) : err->code;
    if (rc == 0)
        prog_add(&prog, "-exist");
    rc = rc == 0 ? prog_operand(&prog, "name", NAME(args), err) : rc;
    for (size_t k = 0; rc == 0 && words[k] != NULL; k++)
        rc = prog_operand(&prog, "entry", words[k], err);
    if (words != NULL)
        strv_free(words);
    if (rc < 0)
        return rc;
    if (comment != NULL && strstr(entry, "comment") == NULL)
        prog_add_option(&prog, "comment", comment);
    const set_type_t *type = type_named(value_str(info, "Type", ""));
    ipset_add_options(&prog, type != NULL ? type->add : ADD, kwargs);
    return ipset_success(ctx, &prog, ret_value, err);
}

/* The beginning of delete and test: "ipset ACTION NAME ENTRY". 1 when it may run, 0 with the answer, negative
 * with *err. */
static int
about_entry(call_ctx_t *ctx, const json_t *args, const char *action, prog_t *prog, json_t **ret_value,
            fail_t *err)
{
    if (not_given(args, NEEDS("name", "Set", "entry", "Entry"), ret_value))
        return 0;
    json_auto_t *info = set_info(ctx, NAME(args), err);
    if (err->code < 0)
        return err->code;
    if (info == NULL) {
        *ret_value = value_fmt("Error: Set %s does not exist", NAME(args));
        return 0;
    }
    int rc = ipset_begin(prog, action, NAME(args), err);
    rc = rc == 0 ? prog_operand(prog, "entry", value_str(args, "entry", ""), err) : rc;
    return rc < 0 ? rc : 1;
}

static int
ipset_delete(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = about_entry(ctx, args, "del", &prog, ret_value, err);

    return rc > 0 ? ipset_success(ctx, &prog, ret_value, err) : rc;
}

static int
ipset_test(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int rc = about_entry(ctx, args, "test", &prog, ret_value, err);

    return rc > 0 ? tool_bool(ctx, &prog, TOOL_QUIET, ret_value, err) : rc;
}

/* True when a member has the entry, or one of a list of them. */
static int
ipset_check(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *given = value_get(args, "entry"), *member, *one;
    bool found = false;
    size_t i, k;

    if (not_given(args, NEEDS("name", "Set", "entry", "Entry"), ret_value))
        return 0;
    json_auto_t *info = set_info(ctx, NAME(args), err);
    const char *type = value_str(info, "Type", "");
    if (err->code == 0 && strchr(type, ':') == NULL)
        *ret_value = value_fmt("Error: Set %s does not exist", NAME(args));
    if (err->code < 0 || *ret_value != NULL)
        return err->code;
    json_auto_t *members = set_members(ctx, NAME(args), err),
                *entries = json_is_array(given) ? json_incref(given) : json_pack("[O]", given);
    json_array_foreach (entries, k, one) {
        AUTO_FREE char *text = value_pystr(one);
        char **entry = err->code == 0 ? entry_words(text, err) : NULL;
        if (entry == NULL)
            return err->code;
        json_array_foreach (members, i, member)
            found = found || member_has(type, json_string_value(member), entry);
        strv_free(entry);
    }
    *ret_value = json_boolean(found);
    return 0;
}

static int
ipset_flush(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    json_auto_t *text = NULL;
    int rc = ipset_begin(&prog, "flush", NAME(args), err);

    rc = rc == 0 ? tool_text(ctx, &prog, &text, err) : rc;
    if (rc == 0)
        *ret_value = json_boolean(*json_string_value(text) == '\0');
    return rc;
}

static const char *
ipset_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which(PROGRAM);

    return path != NULL ? NULL : "The ipset execution modules cannot be loaded: ipset binary not in path.";
}

/* ---- table ------------------------------------------------------------------------------------ */

#define CREATE_WORDS "range netmask family markmask hashsize maxelem size timeout counters skbinfo"
#define ADD_WORDS    "timeout packets bytes comment nomatch skbmark skbprio skbqueue"

#define NAME_ROW   ARG("name", ARG_STR, "null", "The set")
#define ENTRY_ROW  ARG("entry", ARG_STR, "null", "A member: its parts with commas between, then options")
#define FAMILY_ROW ARG("family", ARG_STR, "\"ipv4\"", "ipv4 or ipv6")

static const arg_t none_args[] = { ARGS_END };
static const arg_t new_set_args[] = { NAME_ROW,
                                      ARG("set_type", ARG_STR, "null", "hash:ip, hash:net, bitmap:port, ..."),
                                      FAMILY_ROW,
                                      ARG("comment", ARG_ANY, "false", "Members may have comments"),
                                      ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Options of the type",
                                          CREATE_WORDS),
                                      ARGS_END };
static const arg_t set_args[] = { NAME_ROW, FAMILY_ROW, ARGS_END };
static const arg_t rename_args[] = { NAME_ROW, ARG("new_set", ARG_STR, "null", "Its new name"), FAMILY_ROW,
                                     ARGS_END };
static const arg_t family_args[] = { FAMILY_ROW, ARGS_END };
static const arg_t add_args[] = { NAME_ROW, ENTRY_ROW, FAMILY_ROW,
                                  ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Options of the member", ADD_WORDS),
                                  ARGS_END };
static const arg_t entry_args[] = { NAME_ROW, ENTRY_ROW, FAMILY_ROW,
                                    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Without effect", ADD_WORDS),
                                    ARGS_END };
static const arg_t check_args[] = { NAME_ROW,
                                    ARG("entry", ARG_ANY, "null",
                                        "Address, network or range, with a type's further parts; or a list"),
                                    FAMILY_ROW, ARGS_END };

static const func_t funcs[] = {
    { "add", ipset_add, add_args, 0,
      "Add a member to a set." CLI_EXAMPLE("salt '*' ipset.add name 192.168.0.3,AA:BB:CC:DD:EE:FF") },
    { "check", ipset_check, check_args, FN_READONLY,
      "Return whether a set has a member, or one of a list of them."
      "\n\nA network or a range finds each address in it." CLI_EXAMPLE(
          "salt '*' ipset.check name '192.168.0.1 comment \"Hello\"'") },
    { "check_set", ipset_check_set, set_args, FN_READONLY,
      "Return whether there is a set of this name." CLI_EXAMPLE("salt '*' ipset.check_set name") },
    { "delete", ipset_delete, entry_args, 0,
      "Delete a member of a set." CLI_EXAMPLE("salt '*' ipset.delete name 192.168.0.3,AA:BB:CC:DD:EE:FF") },
    { "delete_set", ipset_delete_set, set_args, 0,
      "Delete a set that no rule refers to." CLI_EXAMPLE("salt '*' ipset.delete_set custom_set") },
    { "flush", ipset_flush, set_args, 0,
      "Delete all members of a set, or of every set." CLI_EXAMPLE("salt '*' ipset.flush name") },
    { "list_sets", ipset_list_sets, family_args, FN_READONLY,
      "Return every set's type, options and counts." CLI_EXAMPLE("salt '*' ipset.list_sets") },
    { "new_set", ipset_new_set, new_set_args, 0,
      "Make a set." CLI_EXAMPLE("salt '*' ipset.new_set custom_set list:set comment=True"
                                "\n    salt '*' ipset.new_set custom_set hash:net family=ipv6") },
    { "rename_set", ipset_rename_set, rename_args, 0,
      "Give a set another name, which must be free." CLI_EXAMPLE(
          "salt '*' ipset.rename_set custom_set new_set=new_set_name") },
    { "test", ipset_test, entry_args, FN_READONLY,
      "Return whether the kernel would find an entry in a set." CLI_EXAMPLE(
          "salt '*' ipset.test name 192.168.0.2") },
    { "version", ipset_version, none_args, FN_READONLY,
      "Return the version of ipset." CLI_EXAMPLE("salt '*' ipset.version") },
};

PLUGIN(exec, ipset, .doc = "Sets of addresses in the kernel", FUNCS(funcs), .unavailable = ipset_unavailable);
