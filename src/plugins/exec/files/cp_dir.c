/* cp_dir.c - more of execution module `cp`: whole folders of the file server, copied or cached. Lists what is
 * served below the folder and takes each path as listed ("salt://|PATH"), so that its characters have no
 * meaning. */
#include "salt/plugin.h"

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/destpath.h"
#include "common/match/match.h"
#include "common/match/regex.h"
#include "plugins/lib/transfer/cptemplate.h"
#include "plugins/lib/transfer/fetch.h"

/* ---- folders ------------------------------------------------------------------------------ */

/* Cache one path of the file server's own list, or copy it to `dest`; its name may hold any character. A path
 * that vanished from the server meanwhile is False in `into`. */
static int
take_listed(call_ctx_t *ctx, const char *path, const char *env, const char *dest, json_t *into, fail_t *err)
{
    AUTO_FREE char *url = xasprintf("salt://|%s", path);
    AUTO_FREE char *got = NULL;
    fetch_t what = { .url = url, .saltenv = env, .dest = dest, .makedirs = true };
    int rc = fetch_salt(ctx, &what, &got, err);

    if (rc == 0)
        json_array_append_new(into, fetch_path_or(got, json_false()));
    return rc;
}

/* "salt://a/b/" is "a/b" in its own environment or the given one. Both texts NEW. */
static int
cp_dir_folder_of(call_ctx_t *ctx, const json_t *args, char **ret_path, char **ret_env, fail_t *err)
{
    const char *url = value_str(args, "path", "");

    if (!str_starts(url, "salt://"))
        return fail_set(err, -EINVAL, "Unsupported path: %s", url);
    if (fileclient_split(url, fetch_env_arg(ctx, args), ret_path, ret_env, NULL) == 0)
        return 0;
    /* All of an environment: the one path that is not below its root. */
    char *rest = xstrndup(url + strlen("salt://"), strcspn(url + strlen("salt://"), "?"));
    bool all = rest[strspn(rest, "/.")] == '\0' && strstr(rest, "..") == NULL;
    free(rest);
    if (!all)
        return fail_set(err, -EINVAL, "'%s' is not a path below the file server's roots", url);
    *ret_path = xstrdup("");
    *ret_env = xstrdup(fetch_env_arg(ctx, args));
    return 0;
}

/* For each of a list's paths below `folder`. */
typedef int each_fn(call_ctx_t *ctx, const char *path, void *cookie, fail_t *err);
/* Calls `fn` for each served path of the kind below the folder, until one fails. The list is the server's,
 * filtered by prefix there; that "a/b" is not above "a/bc" is tested here. */
static int
each_below(call_ctx_t *ctx, files_kind_t kind, const char *env, const char *folder, each_fn *fn, void *cookie,
           fail_t *err)
{
    fileclient_t *files = fetch_files(ctx, err);
    json_auto_t *all = files != NULL ? fileclient_list(files, kind, env, folder, err) : NULL;
    json_t *one;
    size_t i, n = strlen(folder);
    int rc = all != NULL ? 0 : -EIO;

    json_array_foreach (all, i, one) {
        const char *path = json_string_value(one);
        if (rc == 0 && (n == 0 || (str_starts(path, folder) && path[n] == '/')))
            rc = fn(ctx, path, cookie, err);
    }
    return rc;
}

/* A copy or caching in work; all BORROWED. `patterns` and `dest` are each for one of the two. */
typedef struct copying {
    const char *env, *folder, *dest;
    json_t *patterns; /* the call's arguments: include_pat, exclude_pat */
    json_t *into;
} copying_t;

/* Maps a source path to its destination: the copied folder keeps its name, its parents are dropped. NEW. */
static char *
copied_to(const copying_t *c, const char *path)
{
    const char *slash = strrchr(c->folder, '/');
    const char *rest = path + (slash != NULL ? (size_t) (slash - c->folder) : 0);

    return xasprintf("%s/%s", c->dest, rest + strspn(rest, "/"));
}

/* For each_below(): one served file into the destination. */
static int
copy_file(call_ctx_t *ctx, const char *path, void *cookie, fail_t *err)
{
    const copying_t *c = cookie;
    AUTO_FREE char *dest = copied_to(c, path);

    return take_listed(ctx, path, c->env, dest, c->into, err);
}

/* Adds the path to `into`. Folders above it are made as well. */
static int
cp_dir_make_folder(const char *path, json_t *into, fail_t *err)
{
    int rc = destpath_make_folder(path, 0, &destpath_made_ours, err);

    if (rc == 0)
        json_array_append_new(into, value_utf8(path, strlen(path)));
    return rc;
}

static int
cp_dir_copy_folder(call_ctx_t *ctx, const char *path, void *cookie, fail_t *err)
{
    const copying_t *c = cookie;
    AUTO_FREE char *dest = copied_to(c, path);

    return cp_dir_make_folder(dest, c->into, err);
}

/* Files and empty folders. *ret_value NEW list of the paths, sorted. */
static int
cp_get_dir(call_ctx_t *ctx, json_t *call, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *folder = NULL, *env = NULL;
    json_auto_t *got = json_array(), *args = json_copy(call);
    if (cptemplate_paths(ctx, args, err) < 0)
        return err->code;
    copying_t c = { .dest = value_str(args, "dest", ""), .into = got };

    int rc = cp_dir_folder_of(ctx, args, &folder, &env, err);
    c.folder = folder;
    c.env = env;
    if (rc == 0)
        rc = each_below(ctx, FILES_FILES, env, folder, copy_file, &c, err);
    if (rc == 0)
        rc = each_below(ctx, FILES_EMPTYDIRS, env, folder, cp_dir_copy_folder, &c, err);
    if (rc == 0) {
        /* Lists the folder's files in order. */
        json_auto_t *set = json_object();
        json_t *v;
        size_t i;
        json_array_foreach (got, i, v) {
            if (json_is_string(v))
                json_object_set_new(set, json_string_value(v), json_true());
        }
        *ret_value = value_sorted_keys(set);
    }
    return rc;
}

/* "E@REGEX" is searched for, anything else is a glob. */
static bool
cp_dir_matches(const char *pattern, const char *path)
{
    if (!str_starts(pattern, "E@"))
        return match_glob(pattern, path);
    AUTO(rx) rx = rx_new(pattern + 2, 0, NULL);
    return rx != NULL && rx_search(rx, path, strlen(path), 0, NULL) == 1;
}

/* A text or a list of patterns; other values match nothing. */
static bool
matches_any(json_t *patterns, const char *path)
{
    json_t *p;
    size_t i;

    if (json_is_string(patterns))
        return cp_dir_matches(json_string_value(patterns), path);
    json_array_foreach (patterns, i, p) {
        if (json_is_string(p) && cp_dir_matches(json_string_value(p), path))
            return true;
    }
    return false;
}

/* include_pat must match, exclude_pat must not. */
static int
cache_one(call_ctx_t *ctx, const char *path, void *cookie, fail_t *err)
{
    const copying_t *c = cookie;
    json_t *in = value_get(c->patterns, "include_pat"), *out = value_get(c->patterns, "exclude_pat");

    if ((value_truthy(in) && !matches_any(in, path)) || (value_truthy(out) && matches_any(out, path)))
        return 0;
    return take_listed(ctx, path, c->env, NULL, c->into, err);
}

/* Empty folders are cached by making them: nothing is asked of the server for it. */
static int
cache_empty(call_ctx_t *ctx, const char *path, void *cookie, fail_t *err)
{
    const copying_t *c = cookie;
    AUTO_FREE char *rest = fs_join(c->env, path);
    AUTO_FREE char *place = fetch_cache_place(ctx, "files", rest);

    return cp_dir_make_folder(place, c->into, err);
}

/* Other than get_dir the list is in the server's order, False for what failed included. */
static int
cp_cache_dir(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *folder = NULL, *env = NULL;
    json_auto_t *got = json_array();
    copying_t c = { .patterns = args, .into = got };

    int rc = cp_dir_folder_of(ctx, args, &folder, &env, err);
    c.env = env;
    if (rc == 0)
        rc = each_below(ctx, FILES_FILES, env, folder, cache_one, &c, err);
    if (rc == 0 && value_truthy(value_get(args, "include_empty")))
        rc = each_below(ctx, FILES_EMPTYDIRS, env, folder, cache_empty, &c, err);
    if (rc == 0)
        *ret_value = json_incref(got);
    return rc;
}

/* All of an environment, without patterns. */
static int
cp_cache_master(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *got = json_array();
    copying_t c = { .env = fetch_env_arg(ctx, args), .into = got };
    int rc = each_below(ctx, FILES_FILES, c.env, "", cache_one, &c, err);

    if (rc == 0)
        *ret_value = json_incref(got);
    return rc;
}

/* ---- the table ---------------------------------------------------------------------------- */

#define ENV_ARG                                                                                              \
    ARG("saltenv", ARG_STR, "null", "The environment; the option saltenv, or base, when there is none")
#define KWARGS ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Further variables of the template", "*")

static const arg_t env_args[] = { ENV_ARG, ARGS_END };
static const arg_t get_dir_args[] = {
    ARG("path", ARG_STR, ARG_REQUIRED, "salt://path/to/dir"),
    ARG("dest", ARG_STR, ARG_REQUIRED, "A folder of the minion"),
    ENV_ARG,
    ARG("template", ARG_STR, "null", "Render path and dest with this engine first: jinja"),
    ARG("gzip", ARG_ANY, "null", "Accepted; transfers are not compressed"),
    KWARGS,
    ARGS_END,
};
static const arg_t cache_dir_args[] = {
    ARG("path", ARG_STR, ARG_REQUIRED, "salt://path/to/dir"),
    ENV_ARG,
    ARG("include_empty", ARG_ANY, "false", "Make empty folders too"),
    ARG("include_pat", ARG_ANY, "null", "Only these: a glob, E@REGEX, or a list"),
    ARG("exclude_pat", ARG_ANY, "null", "Not these"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "cache_dir", cp_cache_dir, cache_dir_args, 0,
      "Cache everything below a folder of the file server; return the paths." CLI_EXAMPLE(
          "salt '*' cp.cache_dir salt://path/to/dir\n    salt '*' cp.cache_dir salt://path/to/dir "
          "include_pat='E@*.py$'"),
      ABSENT("path", "No file was found below {}; 'cp.list_master' lists the file server's files") },
    { "cache_master", cp_cache_master, env_args, 0,
      "Cache all files of an environment; return their paths." CLI_EXAMPLE("salt '*' cp.cache_master") },
    { "get_dir", cp_get_dir, get_dir_args, 0,
      "Copy a folder of the file server with all below it; return the paths." CLI_EXAMPLE(
          "salt '*' cp.get_dir salt://path/to/dir/ /minion/dest"),
      ABSENT("path", "No file was found below {}; 'cp.list_master' lists the file server's files") },
};

PLUGIN(exec, cp_dir, .provides = "cp", .doc = "Folders from the file server", FUNCS(funcs));
