/* saltutil_keys.c - more of execution module `saltutil`: replaces or revokes this minion's own key, by its
 * running minion. */
#include "salt/plugin.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/crypto/keys.h"
#include "salt/log.h"

/* The files of a folder, not the folders in it: the master's public key goes too. What can't be removed
 * stays, as in Salt. */
static int
remove_files(const char *dir, fail_t *err)
{
    char **names = NULL;
    int rc = fs_names(dir, &names, err);
    struct stat st;

    for (char **name = names; rc == 0 && *name != NULL; name++) {
        AUTO_FREE char *path = fs_join(dir, *name);
        if ((lstat(path, &st) != 0 || !S_ISDIR(st.st_mode)) && unlink(path) != 0 && errno != ENOENT)
            log_warning("cannot remove %s: %s", path, strerror(errno));
    }
    strv_free(names);
    return rc;
}

/* Without a minion that runs: its next start has them. The folder must be known: an empty one would mean the
 * working directory. */
static int
make_anew(call_ctx_t *ctx, fail_t *err)
{
    const char *dir = value_str(ctx_opts(ctx), "pki_dir", "");
    key_pair_t *pair;

    if (*dir == '\0')
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "pki_dir is not set: there are no keys to make anew");
    if (remove_files(dir, err) < 0 || (pair = key_pair_open(dir, "minion", NULL, err)) == NULL)
        return -EIO;
    key_pair_destroy(&pair);
    return 0;
}

/* None. The running minion makes a new key, which takes the accepted one's place on each master when the
 * minion comes with it. */
static int
saltutil_regen_keys(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *request = json_pack("{s:s}", "op", "rekey"), *answer = NULL;
    fail_auto_t why = FAIL_INIT;
    int rc = ctx_host(ctx, request, &answer, &why);

    if (rc == -ENOTSUP)
        rc = make_anew(ctx, err);
    else if (rc < 0)
        rc = fail_kind(err, FAIL_COMMAND, rc, "%s", fail_text(&why));
    if (rc == 0)
        *ret_value = json_null();
    return rc;
}

/* False when the masters could not be asked. The master deletes this minion's key; the minion can be heard
 * only after a new acceptance. */
static int
saltutil_revoke_auth(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *request = json_pack("{s:s, s:O}", "op", "revoke", "preserve_minion_cache",
                                     value_get(args, "preserve_minion_cache"));
    json_auto_t *answer = NULL;
    fail_auto_t why = FAIL_INIT;

    int rc = ctx_host(ctx, request, &answer, &why);
    if (rc < 0)
        log_error("saltutil.revoke_auth: %s", fail_text(&why));
    *ret_value = json_boolean(rc == 0 && json_is_true(answer));
    return 0;
}

static const arg_t revoke_args[] = {
    ARG("preserve_minion_cache", ARG_BOOL, "false", "Let the master keep what it knows of this minion"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "regen_keys", saltutil_regen_keys, NULL, 0,
      "Give this minion a new key. The masters take it in the place of the old one, which is good until then "
      "and never again; nobody has to accept it.\n\nFrom ``salt-call``: remove all keys, the master's known "
      "key with them, and make new ones, which the minion uses from its next start on and the master has to "
      "accept." CLI_EXAMPLE("salt '*' saltutil.regen_keys") },
    { "revoke_auth", saltutil_revoke_auth, revoke_args, 0,
      "Have the masters delete this minion's key, as their option ``allow_minion_key_revoke`` allows. The "
      "return of this job may not reach them any more. Returns whether they were asked." CLI_EXAMPLE(
          "salt '*' saltutil.revoke_auth") },
};

PLUGIN(exec, saltutil_keys, .provides = "saltutil", .doc = "This minion's own key", FUNCS(funcs));
