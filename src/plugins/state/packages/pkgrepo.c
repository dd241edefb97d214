/* pkgrepo.c - state module `pkgrepo`: sources of packages. The state compares pkg.get_repo (what there is)
 * with pkg.expand_repo_def (what the SLS means) member by member, and calls pkg.mod_repo or pkg.del_repo.
 * With apt a source is a line of sources.list(5) or a stanza of a .sources file; with dnf and zypper it is a
 * section of a file, and the state's keywords are its options. */
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/packages/pkg_api.h"
#include "salt/state.h"

/* A run. `wanted` and `have` are compared; both lose their "file" by that. */
typedef struct repo {
    call_ctx_t *ctx;
    json_t *args, *ret; /* BORROWED */
    const char *name;
    char *source;   /* owned: what the module is asked for */
    json_t *kwargs; /* owned: for the module's functions */
    json_t *wanted; /* owned: what the source says */
    json_t *have;   /* owned: what there is, {} for nothing */
    json_t *others; /* owned: lines that clean_file removes from the file */
    fail_t *err;
} repo_t;

static void
repo_free(repo_t *r)
{
    free(r->source);
    json_decref(r->kwargs);
    json_decref(r->wanted);
    json_decref(r->have);
    json_decref(r->others);
}

static const char *
pkgrepo_grain(call_ctx_t *ctx, const char *name)
{
    return value_str(ctx_grains(ctx), name, "");
}

/* Repositories are sections of files there, and no lines. */
static bool
is_rpm(call_ctx_t *ctx)
{
    return str_eq(pkgrepo_grain(ctx, "os_family"), "RedHat") ||
           str_eq(pkgrepo_grain(ctx, "os_family"), "Suse");
}

static bool
is_ubuntu(call_ctx_t *ctx)
{
    return str_eq(pkgrepo_grain(ctx, "os"), "Ubuntu") || str_eq(pkgrepo_grain(ctx, "os"), "Mint");
}

/* A function of the module on the source. NEW, or NULL with *err. */
static json_t *
pkgrepo_ask(repo_t *r, const char *fun, bool aptkey)
{
    json_auto_t *kwargs = json_copy(r->kwargs);
    json_t *value = NULL;

    json_object_set_new(kwargs, "repo", json_string(r->source));
    if (aptkey) {
        json_object_set_new(kwargs, "saltenv", json_string(ctx_saltenv(r->ctx)));
        json_object_set(kwargs, "aptkey", value_get(r->args, "aptkey"));
    }
    return ctx_call(r->ctx, fun, NULL, kwargs, &value, r->err) == 0 ? value : NULL;
}

/* What the SLS means: apt's module makes it of the line; for others it is the options. NEW, or NULL with
 * *err. */
static json_t *
pkgrepo_wanted(repo_t *r)
{
    return is_rpm(r->ctx) ? json_copy(r->kwargs) : pkgrepo_ask(r, "pkg.expand_repo_def", false);
}

/* The module could not do it: 1; other errors are negative. */
static int
pkgrepo_failed(repo_t *r, const char *words)
{
    if (r->err->kind == FAIL_GENERIC)
        return r->err->code;
    (void) state_ret_set(r->ret, STATE_FALSE, "%s repo '%s': %s", words, r->name, fail_text(r->err));
    fail_clear(r->err);
    return 1;
}

/* ---- what is asked for ------------------------------------------------------------------------ */

/* Salt's text against arguments that exclude each other; NULL when there are none. The last text says True
 * where it means False, as in Salt. */
static const char *
contradiction(const json_t *kw)
{
    bool id = value_get(kw, "keyid") != NULL || value_get(kw, "keyserver") != NULL,
         url = value_get(kw, "key_url") != NULL, text = value_get(kw, "key_text") != NULL;

    if (value_get(kw, "repo") != NULL)
        return "'repo' is not a supported argument for this state. The 'name' argument is probably what was "
               "intended.";
    if (text && url)
        return "You may not use both \"key_url\" and \"key_text\" argument.";
    if (text && id)
        return "You may not use both \"keyid\"/\"keyserver\" and \"key_text\" argument.";
    if (url && id)
        return "You may not use both \"keyid\"/\"keyserver\" and \"key_url\" argument.";
    if (value_get(kw, "enabled") != NULL && value_get(kw, "disabled") != NULL)
        return "Only one of enabled/disabled is allowed";
    if (str_starts(value_str(kw, "key_url", ""), "http:") && !value_bool(kw, "allow_insecure_key", true))
        return "Cannot have 'key_url' using http with 'allow_insecure_key' set to True";
    return NULL;
}

/* Makes the module's arguments of the state's. 1: ret is the answer. */
static int
take_arguments(repo_t *r)
{
    json_t *given = value_get(r->args, "kwargs"), *enabled = value_get(given, "enabled"),
           *ppa = value_get(r->args, "ppa");
    const char *no = contradiction(given);

    if (!ctx_has(r->ctx, "pkg.get_repo"))
        no = "Repo management not implemented on this platform";
    if (no != NULL) {
        (void) state_ret_set(r->ret, STATE_FALSE, "%s", no);
        return 1;
    }
    r->kwargs = json_copy(given);
    json_object_del(r->kwargs, "enabled");
    json_object_del(r->kwargs, "allow_insecure_key");
    json_object_set_new(
        r->kwargs, "disabled",
        json_boolean(enabled != NULL ? !value_truthy(enabled) : value_truthy(value_get(given, "disabled"))));
    if (is_rpm(r->ctx)) {
        /* A section's name is `humanname`, a project of copr has an id, and `enabled` counts instead of
         * `disabled`. */
        json_t *copr = value_get(r->args, "copr"), *disabled = value_get(given, "disabled");
        bool is_copr = value_truthy(copr) && str_eq(pkgrepo_grain(r->ctx, "os_family"), "RedHat");
        AUTO_FREE char *text = is_copr ? value_pystr(copr) : NULL;
        bool on = disabled != NULL ? !pkg_true(disabled) : enabled == NULL || pkg_true(enabled);
        r->source = text != NULL ? xasprintf("copr:%s", text) : xstrdup(r->name);
        if (text != NULL)
            json_object_set_new(r->kwargs, "name", json_string(r->name));
        if (value_get(r->kwargs, "humanname") != NULL)
            json_object_set(r->kwargs, "name", value_get(r->kwargs, "humanname"));
        json_object_del(r->kwargs, "humanname");
        if (value_get(r->kwargs, "name") == NULL)
            json_object_set_new(r->kwargs, "name", json_string(r->source));
        json_object_del(r->kwargs, "disabled");
        json_object_set_new(r->kwargs, "enabled", json_boolean(on));
        return 0;
    }
    AUTO_FREE char *text = value_truthy(ppa) ? value_pystr(ppa) : NULL;
    r->source = text != NULL && is_ubuntu(r->ctx) ? xasprintf("ppa:%s", text) : xstrdup(r->name);
    return 0;
}

/* ---- what differs ----------------------------------------------------------------------------- */

/* True when both lists hold the same texts, in any order. */
static bool
pkgrepo_same_members(const json_t *a, const json_t *b)
{
    size_t i, k;
    json_t *one;

    if (json_array_size(a) != json_array_size(b))
        return false;
    json_array_foreach (a, i, one) {
        for (k = 0; k < json_array_size(b) && !json_equal(one, json_array_get(b, k)); k++)
            ;
        if (k == json_array_size(b))
            return false;
    }
    return true;
}

/* A source line without its comment, taken apart. Both lists are NEW: strv_free. */
typedef struct line_parts {
    char **words;   /* without the options; those behind the distribution in order */
    char **options; /* NAME=VALUE, between the brackets */
} line_parts_t;

static line_parts_t
line_parts(const char *line)
{
    AUTO_FREE char *text = xstrndup(line, strcspn(line, "#")), *options = NULL;
    char *open = strchr(text, '['), *close = open != NULL ? strchr(open, ']') : NULL;
    size_t n = 0;

    if (close != NULL) {
        options = xstrndup(open + 1, (size_t) (close - open - 1));
        memset(open, ' ', (size_t) (close - open + 1));
    }
    line_parts_t ret = { str_split(text, " \t", true),
                         str_split(options != NULL ? options : "", " \t", true) };
    while (ret.words[n] != NULL)
        n++;
    if (n > 3)
        qsort(ret.words + 3, n - 3, sizeof(*ret.words), str_by_text);
    return ret;
}

/* True when `b` has the options of `a`; `told`: only those that Salt tells as members of their own. */
static bool
has_options(char **a, char **b, bool told)
{
    for (size_t i = 0; a[i] != NULL; i++) {
        bool found = told && !str_starts(a[i], "arch=") && !str_starts(a[i], "signed-by=");
        for (size_t k = 0; !found && b[k] != NULL; k++)
            found = strcmp(a[i], b[k]) == 0;
        if (!found)
            return false;
    }
    return true;
}

/* True when the wish adds nothing to the line that is there, which may have options beyond it. */
static bool
pkgrepo_same_words(const char *wanted, const char *have)
{
    line_parts_t x = line_parts(wanted), y = line_parts(have);
    bool same = strv_equal(x.words, y.words) && has_options(x.options, y.options, false) &&
                has_options(y.options, x.options, true);

    strv_free(x.words);
    strv_free(x.options);
    strv_free(y.words);
    strv_free(y.options);
    return same;
}

/* Compares source lines by their words; comments count only when the SLS gives some. */
static bool
pkgrepo_same_line(const repo_t *r)
{
    const char *have = value_str(r->have, "line", ""), *comment = strchr(have, '#');
    json_t *comments = value_get(r->kwargs, "comments");

    if (value_truthy(value_get(r->wanted, "disabled")))
        return true;
    if (!pkgrepo_same_words(value_str(r->wanted, "line", ""), have))
        return false;
    if (comments == NULL)
        return true;
    AUTO_FREE char *wanted = value_joined(comments, " "),
                   *there = xstrdup(comment != NULL ? comment + 1 : "");
    return strcmp(str_trim(wanted), str_trim(there)) == 0;
}

/* Files of the newer format have no line; who signs stays unless the SLS says it. */
static bool
does_not_count(const repo_t *r, const char *key, const char *file)
{
    return str_ends(file, ".sources") &&
           (str_eq(key, "line") ||
            (str_eq(key, "signedby") && *value_str(r->wanted, "signedby", "") == '\0'));
}

/* Comments without their signs. NEW. */
static char *
comment_text(const json_t *v)
{
    json_auto_t *list = json_is_array(v) ? json_incref((json_t *) v) : json_pack("[O]", v);
    buf_t out = BUF_INIT;
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        const char *at = text + strspn(text, "#");
        buf_printf(&out, "%s\n", at + strspn(at, " \t"));
    }
    return buf_steal(&out);
}

/* Whether one member of the wish is as it should be already. Values of the SLS file have types, those of a
 * file are texts. */
static bool
same_member(const repo_t *r, const char *key, const json_t *wanted, const json_t *have)
{
    if (have == NULL && is_rpm(r->ctx)) {
        /* Options that are not there have their default; a repository without `enabled` is enabled. */
        bool redhat = str_eq(pkgrepo_grain(r->ctx, "os_family"), "RedHat");
        return !str_eq(key, "key_url") && !(str_eq(key, "enabled") && !(redhat && pkg_true(wanted)));
    }
    if (have == NULL)
        return false;
    if (is_rpm(r->ctx) && (json_is_boolean(wanted) || json_is_boolean(have)))
        return pkg_true(wanted) == pkg_true(have);
    if (str_eq(key, "comments") && is_rpm(r->ctx)) {
        AUTO_FREE char *a = comment_text(wanted), *b = comment_text(have);
        return str_eq(a, b);
    }
    if (str_eq(key, "line"))
        return pkgrepo_same_line(r);
    if (str_eq(key, "comps"))
        return pkgrepo_same_members(wanted, have);
    if (str_eq(key, "architectures") && json_array_size(wanted) > 0)
        return pkgrepo_same_members(wanted, have);
    AUTO_FREE char *a = value_pystr(wanted), *b = value_pystr(have);
    return strcmp(a, b) == 0;
}

/* With clean_file, lists the other sources that the file holds. 0, or negative with *err. */
static int
find_others(repo_t *r)
{
    const char *file = value_str(r->kwargs, "file", NULL), *uri;
    json_t *entries, *entry;
    size_t i;

    r->others = json_array();
    if (file == NULL || !value_truthy(value_get(r->kwargs, "clean_file")))
        return 0;
    json_auto_t *all = sub_call(r->ctx, r->err, "pkg.list_repos", "{}");
    if (all == NULL)
        return r->err->code;
    json_object_foreach (all, uri, entries) {
        json_array_foreach (entries, i, entry) {
            if (str_eq(value_str(entry, "file", ""), file) &&
                !str_eq(value_str(entry, "line", ""), value_str(r->have, "line", NULL)))
                json_array_append(r->others, value_get(entry, "line"));
        }
    }
    return 0;
}

/* True when every member of the wish has its value already, in whatever file. */
static bool
is_configured(repo_t *r)
{
    AUTO_FREE char *file = xstrdup(value_str(r->have, "file", ""));
    const char *key;
    json_t *v;

    if (json_object_size(r->have) == 0 || json_array_size(r->others) > 0)
        return false;
    /* The same source may stand in another file. */
    json_object_del(r->have, "file");
    json_object_del(r->wanted, "file");
    json_object_foreach (r->wanted, key, v) {
        if (!does_not_count(r, key, file) && !same_member(r, key, v, value_get(r->have, key)))
            return false;
    }
    return true;
}

/* Members of the wish that `now` has otherwise than there was, and what clean_file removes. */
static void
pkgrepo_tell_changes(repo_t *r, const json_t *now)
{
    const char *key;
    json_t *v;

    if (json_array_size(r->others) > 0)
        state_change(r->ret, "removed", json_incref(r->others));
    json_object_foreach (r->wanted, key, v) {
        json_t *before = value_get(r->have, key), *after = value_get(now, key);
        if (!json_equal(before, after))
            state_change(r->ret, key,
                         json_pack("{s:o, s:o}", "new", after != NULL ? json_incref(after) : json_null(),
                                   "old", before != NULL ? json_incref(before) : json_null()));
    }
}

/* ---- managed ---------------------------------------------------------------------------------- */

/* The options as pkg.get_repo will read them. NEW. */
static json_t *
options_to_come(const repo_t *r)
{
    bool suse = str_eq(pkgrepo_grain(r->ctx, "os_family"), "Suse");
    json_t *ret = json_object(), *v;
    const char *key;

    json_object_foreach (r->wanted, key, v) {
        AUTO_FREE char *text = json_is_boolean(v) ? xstrdup(json_is_true(v) ? "1" : "0") : value_pystr(v);
        bool truth = suse && (str_eq(text, "0") || str_eq(text, "1"));
        if (str_eq(key, "comments"))
            json_object_set(ret, key, v);
        else if (value_truthy(v) || json_is_boolean(v) || json_is_number(v))
            json_object_set_new(ret, key, truth ? json_boolean(*text == '1') : json_string(text));
    }
    return ret;
}

/* Examine, compare, change. An error of the module is the state's comment. */
static int
manage(repo_t *r)
{
    int rc = take_arguments(r);

    if (rc != 0)
        return 0;
    r->have = pkgrepo_ask(r, "pkg.get_repo", false);
    r->wanted = r->have != NULL ? pkgrepo_wanted(r) : NULL;
    if (r->wanted == NULL || find_others(r) < 0) {
        rc = pkgrepo_failed(r, "Failed to examine");
        return rc < 0 ? rc : 0;
    }
    if (is_configured(r))
        return state_ret_set(r->ret, STATE_TRUE, "Package repo '%s' already configured", r->name);
    if (!ctx_test(r->ctx)) {
        /* Calls pkg.mod_repo and reads the source again, so that the changes are what happened. */
        json_auto_t *done = pkgrepo_ask(r, "pkg.mod_repo", !is_rpm(r->ctx));
        if (done == NULL) {
            (void) state_ret_set(r->ret, STATE_FALSE, "Failed to configure repo '%s': %s", r->name,
                                 fail_text(r->err));
            fail_clear(r->err);
            return 0;
        }
        json_auto_t *now = pkgrepo_ask(r, "pkg.get_repo", false);
        if (now == NULL) {
            (void) state_ret_set(r->ret, STATE_FALSE, "Failed to confirm config of repo '%s': %s", r->name,
                                 fail_text(r->err));
            fail_clear(r->err);
            return 0;
        }
        if (json_object_size(r->have) > 0)
            pkgrepo_tell_changes(r, now);
        else
            state_change(r->ret, "repo", json_string(r->source));
        return state_ret_set(r->ret, STATE_TRUE, "Configured package repo '%s'", r->name);
    }
    /* Test mode's answer, with the changes as far as they can be known. */
    json_auto_t *now = is_rpm(r->ctx) ? options_to_come(r) : json_incref(r->wanted);
    if (json_object_size(r->have) > 0)
        pkgrepo_tell_changes(r, now);
    else
        state_change(r->ret, "repo", json_string(r->name));
    return state_ret_set(r->ret, STATE_NONE,
                         "Package repo '%s' would be configured. This may cause pkg states to behave "
                         "differently than stated if this action is repeated without test=True, due to the "
                         "differences in the configured repositories.",
                         r->name);
}

static int
pkgrepo_managed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    repo_t r = {
        .ctx = ctx, .args = args, .ret = *ret_value, .name = value_str(args, "name", ""), .err = err
    };
    int rc = manage(&r);

    repo_free(&r);
    return rc;
}

/* ---- absent ----------------------------------------------------------------------------------- */

/* The source without a slash at the end of its address, as the module reads it from the file. NEW. */
static char *
pkgrepo_stripped(const char *source)
{
    char **words = str_split(source, " \t", true);
    buf_t out = BUF_INIT;

    for (size_t i = 0; words[i] != NULL; i++) {
        size_t n = strlen(words[i]);
        bool url = str_starts(words[i], "http://") || str_starts(words[i], "https://") ||
                   str_starts(words[i], "ftp://");
        while (url && n > 0 && words[i][n - 1] == '/')
            n--;
        buf_printf(&out, "%s%.*s", i > 0 ? " " : "", (int) n, words[i]);
    }
    strv_free(words);
    return buf_steal(&out);
}

/* Removes the source and, when the SLS names it, its key. 0, or negative. */
static int
take_away(repo_t *r)
{
    json_t *keyid = value_get(r->kwargs, "keyid"), *keyid_ppa = value_get(r->kwargs, "keyid_ppa");
    bool key = (keyid != NULL && !json_is_null(keyid)) || (keyid_ppa != NULL && !json_is_null(keyid_ppa));

    r->have = pkgrepo_ask(r, "pkg.get_repo", false);
    r->wanted = r->have != NULL ? pkgrepo_wanted(r) : NULL;
    if (r->wanted == NULL)
        return pkgrepo_failed(r, "Failed to configure");
    /* pkg.get_repo compares no architectures: one that is configured for others is another source. */
    if (json_object_size(r->have) == 0 ||
        (!is_rpm(r->ctx) &&
         !pkgrepo_same_members(value_get(r->wanted, "architectures"), value_get(r->have, "architectures"))))
        return state_ret_set(r->ret, STATE_TRUE, "Package repo %s is absent", r->name);
    if (ctx_test(r->ctx))
        return state_ret_set(
            r->ret, STATE_NONE,
            "Package repo '%s' will be removed. This may cause pkg states to behave "
            "differently than stated if this action is repeated without test=True, due to the "
            "differences in the configured repositories.",
            r->name);
    json_auto_t *done = pkgrepo_ask(r, "pkg.del_repo", false);
    if (done == NULL)
        return r->err->kind == FAIL_GENERIC ? r->err->code : state_ret_fail(r->ret, r->err);
    json_auto_t *left = pkgrepo_ask(r, "pkg.get_repo", false);
    if (json_object_size(left) > 0)
        return state_ret_set(r->ret, STATE_FALSE, "Failed to remove repo %s", r->name);
    state_change(r->ret, "repo", json_string(r->name));
    if (!key)
        return state_ret_set(r->ret, STATE_TRUE, "Removed repo %s", r->name);
    /* Removes the key of the source as well. The source is gone already: a failure says so. */
    json_auto_t *gone = pkgrepo_ask(r, "pkg.del_repo_key", false);
    AUTO_FREE char *shown = gone != NULL ? value_pystr(gone) : NULL;
    if (gone == NULL && r->err->kind == FAIL_GENERIC)
        return r->err->code;
    if (gone == NULL) {
        (void) state_ret_set(r->ret, STATE_FALSE, "Removed repo %s, but failed to remove key: %s", r->name,
                             fail_text(r->err));
        fail_clear(r->err);
        return 0;
    }
    state_change(r->ret, "keyid", json_incref(gone));
    return state_ret_set(r->ret, STATE_TRUE, "Removed repo %s, and keyid %s", r->name, shown);
}

/* A PPA or a COPR is named by its own keyword, with or without its prefix. */
static int
pkgrepo_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *kwargs = value_get(args, "kwargs");
    bool redhat = str_eq(pkgrepo_grain(ctx, "os_family"), "RedHat");
    const char *word = redhat ? "copr" : "ppa",
               *id = redhat || is_ubuntu(ctx) ? value_str(kwargs, word, NULL) : NULL;
    AUTO_FREE char *prefix = xasprintf("%s:", word);
    AUTO_FREE char *name = id != NULL ? xasprintf("%s%s", str_starts(id, prefix) ? "" : prefix, id)
                                      : xstrdup(value_str(args, "name", ""));
    *ret_value = state_ret_args(args);
    repo_t r = { .ctx = ctx,
                 .args = args,
                 .ret = *ret_value,
                 .name = name,
                 .source = is_rpm(ctx) ? xstrdup(name) : pkgrepo_stripped(name),
                 .kwargs = json_copy(kwargs),
                 .err = err };

    json_object_del(r.kwargs, "ppa");
    json_object_del(r.kwargs, "copr");
    int rc = ctx_has(ctx, "pkg.get_repo")
                 ? take_away(&r)
                 : state_ret_set(r.ret, STATE_FALSE, "Repo management not implemented on this platform");
    repo_free(&r);
    return rc < 0 ? rc : 0;
}

/* ---- table ------------------------------------------------------------------------------------ */

static const arg_t managed_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED,
        "The source as apt's lists have it: deb http://... stable main; of dnf and zypper its id"),
    ARG("ppa", ARG_ANY, "null", "Of Ubuntu: OWNER/NAME in the place of the name"),
    ARG("copr", ARG_ANY, "null", "Of Red Hat"),
    ARG("aptkey", ARG_ANY, "true", "Give keys to apt-key where there is one; False: to a file of their own"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "file, clean_file, comments, disabled, enabled, keyid, keyserver, key_url, key_text, signedby, comps, "
        "architectures, refresh, ...",
        "file clean_file comments disabled enabled keyid keyserver key_url key_text signedby comps architectures refresh "
        "consolidate dist humanname baseurl mirrorlist gpgcheck gpgkey gpgautoimport *"),
    ARGS_END,
};
static const arg_t absent_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The source"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "ppa: of Ubuntu; copr: of Red Hat; keyid, keyid_ppa: remove the key too",
        "ppa copr keyid keyid_ppa *"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "absent", pkgrepo_absent, absent_args, 0, "Ensure that a source of packages is not configured." },
    { "managed", pkgrepo_managed, managed_args, 0, "Ensure that a source of packages is configured." },
};

PLUGIN(state, pkgrepo, .doc = "Sources of packages", FUNCS(funcs));
