/* cp_list.c - more of execution module `cp`: what the file server and the cache have. */
#include "salt/plugin.h"

#include <dirent.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/transfer/fetch.h"
#include "salt/value.h"

/* ---- lists -------------------------------------------------------------------------------- */

/* Paths of one kind that begin with `prefix`. *ret_value NEW. An empty list is no news, unless the environment
 * is none. */
static int
cp_list(call_ctx_t *ctx, files_kind_t kind, const json_t *args, json_t **ret_value, fail_t *err)
{
    fileclient_t *files = fetch_files(ctx, err);

    if (files == NULL)
        return -ENOTSUP;
    const char *saltenv = fetch_env_arg(ctx, args);
    *ret_value = fileclient_list(files, kind, saltenv, value_str(args, "prefix", ""), err);
    if (*ret_value == NULL)
        return -EIO;
    json_auto_t *envs = value_truthy(*ret_value) ? NULL : fileclient_envs(files, NULL);
    if (envs != NULL && !value_lists(envs, saltenv))
        ctx_absent(ctx, "There is no environment '%s'; 'cp.envs' lists them", saltenv);
    return 0;
}

/* The row's number is the kind: files, folders, empty folders, links. */
static int
cp_list_kind(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return cp_list(ctx, (files_kind_t) ctx_row(ctx)->data.number, args, ret_value, err);
}

/* The master's environments, or those of file_roots where there is no master. */
static int
cp_envs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fileclient_t *files = fetch_files(ctx, err);

    if (files == NULL)
        return -ENOTSUP;
    *ret_value = fileclient_envs(files, err);
    return *ret_value != NULL ? 0 : -EIO;
}

/* "web/init.sls" is the state `web`, "web/conf.sls" is `web.conf`. Sorted, and each once: web.sls and
 * web/init.sls are the same state. */
static int
cp_list_states(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = NULL, *states = json_object();
    json_t *path;
    size_t i;
    int rc = cp_list(ctx, FILES_FILES, args, &all, err);

    if (rc < 0)
        return rc;
    json_array_foreach (all, i, path) {
        const char *text = json_string_value(path);
        if (!str_ends(text, ".sls"))
            continue;
        size_t cut = str_ends(text, "/init.sls") ? strlen("/init.sls") : strlen(".sls");
        AUTO_FREE char *stem = xstrndup(text, strlen(text) - cut);
        AUTO_FREE char *name = str_replace(stem, "/", ".");
        json_object_set_new(states, name, json_true());
    }
    *ret_value = value_sorted_keys(states);
    return 0;
}

/* Every file below `folder`, as Python's os.walk with followlinks finds them. Links to folders may lead in a
 * circle, hence the depth. */
static int
cp_list_walk(const char *folder, int depth, json_t *into, fail_t *err)
{
    char **names = NULL;
    int rc = depth < LIMIT_FILE_DEPTH ? fs_names(folder, &names, err) : 0;

    for (size_t i = 0; names != NULL && rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *path = fs_join(folder, names[i]);
        int below = fs_look_dir(path, err);
        if (below == 0)
            json_object_set_new(into, path, json_true());
        rc = below > 0 ? cp_list_walk(path, depth + 1, into, err) : below;
    }
    strv_free(names);
    return rc;
}

/* Both parts of the cache: what came from the server in this environment, and local files that were
 * cached. */
static int
cp_list_minion(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *cached = fetch_cache_place(ctx, "files", fetch_env_arg(ctx, args));
    AUTO_FREE char *local = fetch_cache_place(ctx, "localfiles", "");
    json_auto_t *set = json_object();

    int rc = cp_list_walk(cached, 0, set, err);
    if (rc == 0)
        rc = cp_list_walk(local, 0, set, err);
    if (rc == 0)
        *ret_value = value_sorted_keys(set);
    return rc;
}

/* ---- the table ---------------------------------------------------------------------------- */

#define ENV_ARG                                                                                              \
    ARG("saltenv", ARG_STR, "null", "The environment; the option saltenv, or base, when there is none")

static const arg_t list_args[] = {
    ENV_ARG,
    ARG("prefix", ARG_STR, "\"\"", "Only what begins with this"),
    ARGS_END,
};
static const arg_t env_args[] = { ENV_ARG, ARGS_END };

static const func_t funcs[] = {
    { "envs", cp_envs, NULL, FN_READONLY,
      "The environments of the file server." CLI_EXAMPLE("salt '*' cp.envs") },
    { "list_master", cp_list_kind, list_args, FN_READONLY,
      "The files of an environment." CLI_EXAMPLE("salt '*' cp.list_master"), .data.number = FILES_FILES },
    { "list_master_dirs", cp_list_kind, list_args, FN_READONLY,
      "The folders of an environment." CLI_EXAMPLE("salt '*' cp.list_master_dirs"),
      .data.number = FILES_DIRS },
    { "list_master_symlinks", cp_list_kind, list_args, FN_READONLY,
      "The links of an environment, and where they lead." CLI_EXAMPLE("salt '*' cp.list_master_symlinks"),
      .data.number = FILES_SYMLINKS },
    { "list_minion", cp_list_minion, env_args, FN_READONLY,
      "The files in the minion's cache." CLI_EXAMPLE("salt '*' cp.list_minion") },
    { "list_states", cp_list_states, env_args, FN_READONLY,
      "The SLS files of an environment, by the names that states use." CLI_EXAMPLE(
          "salt '*' cp.list_states") },
};

PLUGIN(exec, cp_list, .provides = "cp", .doc = "What files there are", FUNCS(funcs));
