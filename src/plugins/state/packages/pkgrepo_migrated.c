/* pkgrepo_migrated.c - more of state module `pkgrepo`: repositories and their keys of this system in another root, on SUSE. Both
 * sides are read as {name: {argument of pkg.mod_repo: value}} and {key: {"key": description}}; whatever differs is
 * set anew. */
#include "common/base/fs.h"
#include "plugins/lib/call/subcall.h"
#include "salt/log.h"
#include "salt/state.h"

/* Members of a repository as pkg.list_repos tells them, and the names that pkg.mod_repo has for them; "keepackages" is Salt's
 * spelling, which no repository has. */
static const char *const repo_members[][2] = {
    { "name", "humanname" },    { "priority", "priority" },
    { "enabled", "enabled" },   { "autorefresh", "refresh" },
    { "gpgcheck", "gpgcheck" }, { "keepackages", "cache" },
    { "baseurl", "url" },       { NULL, NULL },
};
static const char *const key_members[][2] = { { "Description", "key" }, { NULL, NULL } };

/* The answer of fun with these members alone; `root`: of another root. A root that has nothing yet counts as empty, as by Salt,
 * and why it told nothing is logged. NEW, or NULL with *err. */
static json_t *
migrated_told(call_ctx_t *ctx, const char *fun, const char *root, const char *const (*members)[2],
              fail_t *err)
{
    json_auto_t *kwargs = json_object();
    json_t *answer = NULL, *ret = json_object(), *one;
    const char *name;

    if (root != NULL)
        json_object_set_new(kwargs, "root", json_string(root));
    if (members == key_members)
        json_object_set_new(kwargs, "info", json_true());
    if (ctx_call(ctx, fun, NULL, kwargs, &answer, err) < 0) {
        if (root != NULL) {
            log_info("%s of %s told nothing: %s", fun, root, fail_text(err));
            fail_clear(err);
            return ret;
        }
        json_decref(ret);
        return NULL;
    }
    json_object_foreach (answer, name, one) {
        json_t *plain = json_object();
        for (size_t i = 0; members[i][0] != NULL; i++) {
            if (value_get(one, members[i][0]) != NULL)
                json_object_set(plain, members[i][1], value_get(one, members[i][0]));
        }
        json_object_set_new(ret, name, plain);
    }
    json_decref(answer);
    return ret;
}

/* The members of `of` that `other` has not, or has otherwise. NEW. */
static json_t *
migrated_missing(const json_t *of, const json_t *other)
{
    json_t *ret = json_object(), *v;
    const char *name;

    json_object_foreach ((json_t *) of, name, v) {
        if (!value_equal(v, value_get(other, name)))
            json_object_set(ret, name, v);
    }
    return ret;
}

/* The steps to take: {"repos": {"migrate", "drop"}, "keys": {"migrate", "drop"}}. NEW, or NULL with *err. */
static json_t *
differences(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    const char *root = value_str(args, "name", "");
    bool keys = value_truthy(value_get(args, "keys")), drop = value_truthy(value_get(args, "drop"));
    json_auto_t *here = migrated_told(ctx, "pkg.list_repos", NULL, repo_members, err);
    json_auto_t *there = here != NULL ? migrated_told(ctx, "pkg.list_repos", root, repo_members, err) : NULL;
    json_auto_t *known = keys && there != NULL
                             ? migrated_told(ctx, "lowpkg.list_gpg_keys", NULL, key_members, err)
                             : json_object();
    json_auto_t *had = keys && known != NULL
                           ? migrated_told(ctx, "lowpkg.list_gpg_keys", root, key_members, err)
                           : json_object();

    if (there == NULL || known == NULL || had == NULL)
        return NULL;
    return json_pack("{s:{s:o, s:o}, s:{s:o, s:o}}", "repos", "migrate", migrated_missing(here, there),
                     "drop", drop ? migrated_missing(there, here) : json_object(), "keys", "migrate",
                     migrated_missing(known, had), "drop",
                     drop ? migrated_missing(had, known) : json_object());
}

static json_t *
part(const json_t *todo, const char *what, const char *how)
{
    return value_get(value_get(todo, what), how);
}

static bool
is_nothing(const json_t *todo)
{
    return json_object_size(part(todo, "repos", "migrate")) + json_object_size(part(todo, "repos", "drop")) +
               json_object_size(part(todo, "keys", "migrate")) +
               json_object_size(part(todo, "keys", "drop")) ==
           0;
}

/* {"repos migrated": [names] ...}, by the words that end each. NEW. */
static json_t *
migrated_names(const json_t *todo, const char *migrated, const char *dropped)
{
    static const char *const parts[][2] = {
        { "repos", "migrate" }, { "repos", "drop" }, { "keys", "migrate" }, { "keys", "drop" }
    };
    json_t *ret = json_object(), *v;
    const char *name;

    for (size_t i = 0; i < NELEMS(parts); i++) {
        json_t *names = json_array();
        json_object_foreach (part(todo, parts[i][0], parts[i][1]), name, v)
            json_array_append_new(names, json_string(name));
        AUTO_FREE char *key = xasprintf("%s %s", parts[i][0], i % 2 == 0 ? migrated : dropped);
        json_object_set_new(ret, key, names);
    }
    return ret;
}

/* Copies the files of this system's repositories over those of the root. */
static int
copy_files(call_ctx_t *ctx, const char *root, fail_t *err)
{
    AUTO_FREE char *to = fs_join(root, "etc/zypp/repos.d");

    return sub_call_bool(ctx, err, "file.copy", "{s:s, s:s, s:b}", "src", "/etc/zypp/repos.d", "dst", to,
                         "recurse", 1);
}

/* 0, or negative with *err. */
static int
migrate(call_ctx_t *ctx, const json_t *args, const json_t *todo, fail_t *err)
{
    const char *root = value_str(args, "name", ""), *name;
    bool files = strcmp(value_str(args, "method", ""), "copy") == 0;
    json_t *v;

    if (files && json_object_size(part(todo, "repos", "migrate")) > 0 && copy_files(ctx, root, err) < 0)
        return err->code;
    json_object_foreach (part(todo, "repos", "migrate"), name, v) {
        json_auto_t *kwargs = json_copy(v), *names = json_pack("[s]", name);
        json_t *answer = NULL;
        json_object_set_new(kwargs, "root", json_string(root));
        if (!files && ctx_call(ctx, "pkg.mod_repo", names, kwargs, &answer, err) < 0)
            return err->code;
        json_decref(answer);
    }
    json_object_foreach (part(todo, "repos", "drop"), name, v) {
        if (sub_call_bool(ctx, err, "pkg.del_repo", "{s:s, s:s}", "repo", name, "root", root) < 0)
            return err->code;
    }
    json_object_foreach (part(todo, "keys", "migrate"), name, v) {
        if (sub_call_bool(ctx, err, "lowpkg.import_gpg_key", "{s:s, s:s}", "key", value_str(v, "key", ""),
                          "root", root) < 0)
            return err->code;
    }
    json_object_foreach (part(todo, "keys", "drop"), name, v) {
        if (sub_call_bool(ctx, err, "lowpkg.remove_gpg_key", "{s:s, s:s}", "key", name, "root", root) < 0)
            return err->code;
    }
    return 0;
}

static int
pkgrepo_migrated(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *method = value_str(args, "method", NULL);
    json_t *ret = *ret_value = state_ret_args(args);

    if (strcmp(value_str(ctx_grains(ctx), "os_family", ""), "Suse") != 0)
        return state_ret_set(ret, STATE_FALSE, "Migration not supported for this platform");
    if (value_truthy(value_get(args, "keys")) && !ctx_has(ctx, "lowpkg.import_gpg_key"))
        return state_ret_set(ret, STATE_FALSE, "Keys cannot be migrated for this platform");
    if (method != NULL && strcmp(method, "salt") != 0 && strcmp(method, "copy") != 0)
        return state_ret_set(ret, STATE_FALSE, "Migration method not supported");
    json_auto_t *todo = differences(ctx, args, err);
    if (todo == NULL)
        return err->code;
    if (is_nothing(todo))
        return state_ret_set(ret, STATE_TRUE, "Repositories are already migrated");
    if (ctx_test(ctx)) {
        state_change_set(ret, migrated_names(todo, "to migrate", "to drop"));
        return state_ret_set(ret, STATE_NONE, "There are keys or repositories to migrate or drop");
    }
    if (migrate(ctx, args, todo, err) < 0)
        return err->kind == FAIL_COMMAND ? state_ret_fail(ret, err) : err->code;
    json_auto_t *rest = differences(ctx, args, err);
    if (rest == NULL)
        return err->code;
    if (!is_nothing(rest))
        return state_ret_set(ret, STATE_FALSE, "Migration of repositories failed");
    state_change_set(ret, migrated_names(todo, "migrated", "dropped"));
    return state_ret_set(ret, STATE_TRUE, "Repositories synchronized");
}

static const arg_t migrated_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The other root"),
    ARG("keys", ARG_BOOL, "true", "The keys that packages are signed with too"),
    ARG("drop", ARG_BOOL, "false", "Remove there what is not here"),
    ARG("method", ARG_STR, "null", "salt: by zypper; copy: copy the files"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for Salt's sake", "*"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "migrated", pkgrepo_migrated, migrated_args, 0,
      "Ensure that another root has this system's repositories. Only on SUSE." },
};

PLUGIN(state, pkgrepo_migrated, .provides = "pkgrepo", .doc = "Repositories in another root", FUNCS(funcs));
