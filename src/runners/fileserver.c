/* fileserver.c - runner `fileserver`: what the file server serves, and its copies of remotes. Each call makes
 * a file server of the backends that `backend` names, with a copy of the master's configuration. */
#include "salt/plugin.h"

#include "common/base/str.h"
#include "common/files/fileserver.h"

/* The backends that are meant: "roots,git", a list, or with "-" before each all but these. NEW names. */
static json_t *
backends(json_t *opts, json_t *asked)
{
    json_t *set = value_get(opts, "fileserver_backend"), *names = json_array(), *one;
    json_auto_t *words = json_array();
    bool without = true;
    size_t i, k;

    if (json_is_string(asked)) {
        char **parts = str_split(json_string_value(asked), ",", true);
        for (char **p = parts; *p != NULL; p++)
            json_array_append_new(words, json_string(*p));
        strv_free(parts);
    } else if (json_is_array(asked)) {
        json_array_extend(words, asked);
    }
    json_array_foreach (words, i, one)
        without = without && str_starts(value_truthy(one) ? json_string_value(one) : "", "-");
    json_array_foreach (set, k, one) {
        const char *name = json_string_value(one);
        bool listed = json_array_size(words) == 0;
        json_t *word;
        json_array_foreach (words, i, word) {
            const char *text = json_is_string(word) ? json_string_value(word) + without : "";
            AUTO_FREE char *longer = xasprintf("%sfs", text);
            listed = listed || str_eq(text, name) || str_eq(longer, name);
        }
        if (json_array_size(words) == 0 || listed != without)
            json_array_append(names, one);
    }
    return names;
}

/* A file server of the backends in the call's `backend`. The configuration lives in *ret_opts. NEW; NULL
 * with *err: there is none of them, and one of no backends would be one of the default ones. */
static fileserver_t *
server_of(call_ctx_t *ctx, const json_t *args, json_t **ret_opts, fail_t *err)
{
    json_t *set = value_get(ctx_opts(ctx), "fileserver_backend"), *asked = value_get(args, "backend");
    json_auto_t *names = backends(ctx_opts(ctx), asked);

    if (json_array_size(names) == 0 && json_array_size(set) > 0) {
        AUTO_FREE char *wanted = value_pystr(asked);
        AUTO_FREE char *there = value_pystr(set);
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "backend %s: none of those in fileserver_backend, %s",
                         wanted, there);
        return NULL;
    }
    *ret_opts = json_copy(ctx_opts(ctx));
    json_object_set(*ret_opts, "fileserver_backend", names);
    return fileserver_new(*ret_opts, NULL);
}

/* A list that is empty is no news, unless the environment is none. */
static int
tell_no_env(call_ctx_t *ctx, fileserver_t *server, const char *saltenv, fail_t *err)
{
    json_auto_t *envs = fileserver_envs(server, err);

    if (envs != NULL && !value_lists(envs, saltenv))
        ctx_absent(ctx, "There is no environment '%s'; 'salt-run fileserver.envs' lists them", saltenv);
    return envs != NULL ? 0 : -EIO;
}

static int
fileserver_paths(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    files_kind_t kind = (files_kind_t) ctx_row(ctx)->data.number;
    json_auto_t *opts = NULL;
    AUTO(fileserver) server = server_of(ctx, args, &opts, err);

    const char *saltenv = value_str(args, "saltenv", "base");

    *ret_value = server != NULL ? fileserver_list(server, kind, saltenv, "", err) : NULL;
    if (*ret_value == NULL)
        return -EIO;
    return value_truthy(*ret_value) ? 0 : tell_no_env(ctx, server, saltenv, err);
}

/* {backend: [env]}. */
static int
envs_by_source(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *names = backends(ctx_opts(ctx), value_get(args, "backend")), *all = json_object();
    json_t *name;
    size_t i;

    json_array_foreach (names, i, name) {
        json_auto_t *opts = json_copy(ctx_opts(ctx));
        json_object_set_new(opts, "fileserver_backend", json_pack("[O]", name));
        AUTO(fileserver) server = fileserver_new(opts, NULL);
        json_t *envs = fileserver_envs(server, err);
        if (envs == NULL)
            return -EIO;
        json_object_set_new(all, json_string_value(name), envs);
    }
    *ret_value = json_incref(all);
    return 0;
}

static int
runner_envs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *opts = NULL;

    if (value_truthy(value_get(args, "sources")))
        return envs_by_source(ctx, args, ret_value, err);
    AUTO(fileserver) server = server_of(ctx, args, &opts, err);

    *ret_value = server != NULL ? fileserver_envs(server, err) : NULL;
    return *ret_value != NULL ? 0 : -EIO;
}

/* Updates the copies of remotes; failures are in the master's log, as in Salt. */
static int
runner_update(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *opts = NULL;
    AUTO(fileserver) server = server_of(ctx, args, &opts, err);

    if (server == NULL)
        return -EINVAL;
    fileserver_fetch_t fetch;
    (void) fileserver_update(server, true, &fetch);
    *ret_value = json_true();
    if (!fetch.fetched || !value_bool(opts, "fileserver_events", false))
        return 0;
    json_auto_t *data = fileserver_update_event(&fetch);
    return ctx_fire(ctx, FILESERVER_UPDATE_TAG, data, err);
}

static int
fileserver_clear_cache(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *opts = NULL, *done = json_array();
    json_t *one;
    AUTO(fileserver) server = server_of(ctx, args, &opts, err);
    json_auto_t *names = server != NULL ? fileserver_clear(server, err) : NULL;
    size_t i;

    if (names == NULL)
        return -EIO;
    json_array_foreach (names, i, one)
        json_array_append_new(
            done, value_fmt("The %s fileserver cache was successfully cleared", json_string_value(one)));
    *ret_value = json_array_size(done) > 0 ? json_pack("{s:O}", "cleared", done)
                                           : json_string("No cache was cleared");
    return 0;
}

/* Sets or removes update locks, as the row says. */
static int
fileserver_lock_roots(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool on = ctx_row(ctx)->data.number;
    json_auto_t *opts = NULL;
    AUTO(fileserver) server = server_of(ctx, args, &opts, err);
    json_auto_t *said = server != NULL ? fileserver_lock(server, value_str(args, "remote", NULL), on, err)
                                       : NULL;

    if (said == NULL)
        return -EIO;
    if (json_array_size(said) > 0)
        *ret_value = json_pack("{s:O}", on ? "locked" : "cleared", said);
    else
        *ret_value = value_fmt("No locks were %s", on ? "set" : "removed");
    return 0;
}

/* Lists are made when they are asked for. */
static int
fileserver_clear_file_list_cache(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_object();
    return 0;
}

#define BACKEND ARG("backend", ARG_ANY, "null", "Only these backends (roots,git), or all but these (-roots)")

static const arg_t backend_args[] = { BACKEND, ARGS_END };
static const arg_t update_args[] = { BACKEND, ARG("kwargs", ARG_DICT, ARG_STARSTAR, "Accepted"), ARGS_END };
static const arg_t envs_args[] = { BACKEND, ARG("sources", ARG_ANY, "false", "By backend"), ARGS_END };
static const arg_t list_args[] = { ARG("saltenv", ARG_STR, "\"base\"", "The environment"), BACKEND,
                                   ARGS_END };
static const arg_t lock_args[] = { BACKEND,
                                   ARG("remote", ARG_STR, "null", "Only remotes whose URL this glob fits"),
                                   ARGS_END };
static const arg_t cache_args[] = { ARG("saltenv", ARG_ANY, "null", "Accepted"), BACKEND, ARGS_END };

static const func_t funcs[] = {
    { "clear_cache", fileserver_clear_cache, backend_args, FN_ACCESS_ADMIN,
      "Remove the copies of remotes; they are fetched again." CLI_EXAMPLE(
          "salt-run fileserver.clear_cache") },
    { "clear_file_list_cache", fileserver_clear_file_list_cache, cache_args, FN_ACCESS_ADMIN,
      "Lists of files are not cached: {}." CLI_EXAMPLE("salt-run fileserver.clear_file_list_cache") },
    { "clear_lock", fileserver_lock_roots, lock_args, FN_ACCESS_ADMIN,
      "Let remotes be fetched again that fileserver.lock has locked." CLI_EXAMPLE(
          "salt-run fileserver.clear_lock\n    salt-run fileserver.clear_lock remote='*server1*'"),
      .data.number = false },
    { "dir_list", fileserver_paths, list_args, FN_ACCESS_READ,
      "The folders of an environment." CLI_EXAMPLE("salt-run fileserver.dir_list"),
      .data.number = FILES_DIRS },
    { "empty_dir_list", fileserver_paths, list_args, FN_ACCESS_READ,
      "Its empty folders." CLI_EXAMPLE("salt-run fileserver.empty_dir_list"),
      .data.number = FILES_EMPTYDIRS },
    { "envs", runner_envs, envs_args, FN_ACCESS_READ,
      "The environments." CLI_EXAMPLE(
          "salt-run fileserver.envs\n    salt-run fileserver.envs backend=roots,git") },
    { "file_list", fileserver_paths, list_args, FN_ACCESS_READ,
      "The files of an environment." CLI_EXAMPLE("salt-run fileserver.file_list saltenv=prod"),
      .data.number = FILES_FILES },
    { "lock", fileserver_lock_roots, lock_args, FN_ACCESS_ADMIN,
      "Keep remotes from being fetched, until fileserver.clear_lock." CLI_EXAMPLE(
          "salt-run fileserver.lock\n    salt-run fileserver.lock remote='*server1*'"),
      .data.number = true },
    { "symlink_list", fileserver_paths, list_args, FN_ACCESS_READ,
      "Its links, and where they lead." CLI_EXAMPLE("salt-run fileserver.symlink_list"),
      .data.number = FILES_SYMLINKS },
    { "update", runner_update, update_args, FN_ACCESS_ADMIN,
      "Fetch from the remotes now." CLI_EXAMPLE("salt-run fileserver.update") },
};

PLUGIN(runner, fileserver, .doc = "The file server's environments, lists and remotes", FUNCS(funcs));
