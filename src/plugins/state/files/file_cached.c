/* file_cached.c - states file.cached and not_cached: copies of files from elsewhere in the minion's cache.
 * Local files are only checked, not copied. */
#include <unistd.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/fstate.h"
#include "plugins/lib/file/source.h"

/* The local path that a path or file:// means; NULL for another URL. NEW. */
static char *
local_path(const char *name)
{
    AUTO_FREE char *scheme = source_scheme(name);
    const char *path = str_starts(name, "file://") ? name + strlen("file://") : name;

    if (*scheme != '\0' && !str_eq(scheme, "file"))
        return NULL;
    AUTO_FREE char *expanded = fop_expanduser(path);
    return fop_realpath(expanded);
}

/* The cached copy: NEW, or NULL when there is none. */
static char *
cached_copy(fstate_t *s, const char *saltenv)
{
    json_auto_t *list = json_pack("[s, s]", s->name, saltenv), *path = NULL;
    fail_auto_t why = FAIL_INIT;

    if (ctx_call(s->ctx, "cp.is_cached", list, NULL, &path, &why) != 0 || str_empty(json_string_value(path)))
        return NULL;
    return xstrdup(json_string_value(path));
}

/* By the digest of `sum`, else by hash_type. NEW, or NULL. */
static char *
hash_of(fstate_t *s, const char *path, const json_t *sum)
{
    const char *type = value_str(sum, "hash_type", value_str(ctx_opts(s->ctx), "hash_type", "sha256"));
    char *hex = NULL;

    return path != NULL && digest_file(path, type, &hex, NULL) == 0 ? hex : NULL;
}

/* Verifies the hash unless told not to; a changed hash is the state's change. */
static int
file_cached_fetch(fstate_t *s, const json_t *sum, const char *saltenv)
{
    AUTO_FREE char *before = cached_copy(s, saltenv);
    AUTO_FREE char *old = hash_of(s, before, sum);
    json_auto_t *list = json_pack("[s, s]", s->name, saltenv), *path = NULL;
    json_auto_t *kwargs = json_pack("{s:s?, s:b}", "source_hash", value_str(sum, "hsum", NULL), "use_etag",
                                    fstate_on(s, "use_etag", false));
    fail_auto_t why = FAIL_INIT;

    if (ctx_call(s->ctx, "cp.cache_file", list, kwargs, &path, &why) != 0)
        return fstate_error(s, "%s", fail_text(&why));
    const char *copy = json_string_value(path);
    if (str_empty(copy))
        return fstate_error(s, "Failed to cache %s, check minion log for more information", s->name);
    AUTO_FREE char *new = hash_of(s, copy, sum);
    if (!str_eq(old, new))
        state_change_from(s->ret, "hash", old != NULL ? json_string(old) : NULL,
                          new != NULL ? json_string(new) : NULL);
    if (fstate_on(s, "skip_verify", false) || sum == NULL)
        return state_ret_set(s->ret, STATE_TRUE, "File is cached to %s", copy);
    if (str_eq(new, value_str(sum, "hsum", NULL)))
        return state_ret_set(s->ret, STATE_TRUE, "File is already cached to %s with hash %s", copy, new);
    return fstate_error(s, "File is cached to %s, but the hash (%s) does not match the specified hash (%s)",
                        copy, new != NULL ? new : "", value_str(sum, "hsum", ""));
}

static int
cached_body(fstate_t *s, fail_t *err)
{
    const char *saltenv = fstate_str(s, "saltenv") != NULL ? fstate_str(s, "saltenv") : "base";
    AUTO_FREE char *scheme = source_scheme(s->name), *path = local_path(s->name);
    bool hashed = fstate_on(s, "source_hash", false);
    json_auto_t *sum = NULL;
    fail_auto_t why = FAIL_INIT;

    if (!fstate_on(s, "skip_verify", false) && !hashed && !fstate_on(s, "use_etag", false) &&
        source_is_remote(scheme))
        return fstate_error(s,
                            "Unable to verify upstream hash of source file %s, please set source_hash or set "
                            "skip_verify or use_etag to True",
                            s->name);
    /* source_sum() looks for the hash of the file that `source` names. */
    json_object_set_new(s->args, "source", json_string(s->name));
    if (hashed && source_sum(s->ctx, s->args, &sum, &why) != 0)
        return fstate_error(s, "%s", fail_text(&why));
    if (path != NULL) {
        /* A local file must exist, and have the hash when one is given. */
        int there = fstate_exists(s, path);
        if (there <= 0)
            return there < 0 ? 0 : fstate_error(s, "File %s is not present on the minion", path);
        if (fstate_on(s, "skip_verify", false) || sum == NULL)
            return state_ret_set(s->ret, STATE_TRUE, "File %s is present on the minion", path);
        AUTO_FREE char *hex = hash_of(s, path, sum);
        if (str_eq(hex, value_str(sum, "hsum", NULL)))
            return state_ret_set(s->ret, STATE_TRUE, "File %s is present on the minion and has hash %s", path,
                                 hex);
        return fstate_error(
            s, "File %s is present on the minion, but the hash (%s) does not match the specified hash (%s)",
            path, hex != NULL ? hex : "", value_str(sum, "hsum", ""));
    }
    if (!s->test)
        return file_cached_fetch(s, sum, saltenv);

    /* Test mode. */
    AUTO_FREE char *copy = cached_copy(s, saltenv);
    AUTO_FREE char *hex = hash_of(s, copy, sum);
    if (copy == NULL)
        return state_ret_set(s->ret, STATE_NONE, "File will be cached: %s", s->name);
    if (sum == NULL)
        return state_ret_set(s->ret, STATE_NONE, "No hash found. File will be cached: %s", s->name);
    if (str_eq(hex, value_str(sum, "hsum", NULL)))
        return state_ret_set(s->ret, STATE_TRUE, "File already cached: %s", s->name);
    return state_ret_set(s->ret, STATE_NONE, "Hashes don't match.\nFile will be cached: %s", s->name);
}

/* Removes the copy of the cache. A local file is its own copy and stays. */
static int
not_cached_body(fstate_t *s, fail_t *err)
{
    const char *saltenv = fstate_str(s, "saltenv") != NULL ? fstate_str(s, "saltenv") : "base";
    AUTO_FREE char *path = local_path(s->name);

    if (path != NULL)
        return state_ret_set(s->ret, STATE_TRUE, "File %s is a local path, no action taken", path);
    AUTO_FREE char *copy = cached_copy(s, saltenv);
    if (copy == NULL)
        return state_ret_set(s->ret, STATE_TRUE, "%s is not cached", s->name);
    if (!s->test && unlink(copy) != 0)
        return fstate_error(s, "Failed to delete %s: %s", copy, strerror(errno));
    state_change(s->ret, "deleted", json_true());
    if (s->test)
        return state_ret_set(s->ret, STATE_NONE, "%s would be deleted", copy);
    return state_ret_set(s->ret, STATE_TRUE, "%s was deleted", copy);
}

static FILE_STATE(file_state_cached, "Must provide name to file.cached", cached_body);
static FILE_STATE(file_state_not_cached, "Must provide name to file.not_cached", not_cached_body);

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t cached_args[] = {
    STATE_ANY("name", ARG_REQUIRED, "URL or path"),
    STATE_ANY("source_hash", "\"\"", "Digest, TYPE=DIGEST, or a file of sums"),
    STATE_ANY("source_hash_name", "null", "Name to look for in a file of sums"),
    STATE_ANY("skip_verify", "false", "Take a file from outside without a digest"),
    STATE_TEXT("saltenv", "\"base\"", "Environment of salt:// URLs"),
    STATE_ANY("use_etag", "false", "Ask a web server whether its file has changed"),
    SOURCE_SIGNER_ROWS,
    ARGS_END
};
static const arg_t not_cached_args[] = { STATE_ANY("name", ARG_REQUIRED, "URL"),
                                         STATE_TEXT("saltenv", "\"base\"", "Environment of salt:// URLs"),
                                         ARGS_END };

static const func_t funcs[] = {
    { "cached", file_state_cached, cached_args, 0,
      "Make sure that the minion's cache has a copy of a file." },
    { "not_cached", file_state_not_cached, not_cached_args, 0,
      "Make sure that the minion's cache has no copy of a file." },
};

PLUGIN(state, file_cached, .provides = "file", .doc = "Manage files and folders", FUNCS(funcs));
