/* key.c - execution module `key`: fingerprints of this minion's key and of the master's, to compare with what
 * salt-key -F shows. */
#include "common/base/fs.h"
#include "common/crypto/keys.h"
#include "salt/plugin.h"

/* Fingerprint of a file in pki_dir. *ret_value NEW. A file that is not there is an error of the job. */
static int
finger_of(call_ctx_t *ctx, json_t *args, const char *file, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fs_join(value_str(ctx_opts(ctx), "pki_dir", ""), file);
    const char *type = value_str(args, "hash_type", value_str(ctx_opts(ctx), "hash_type", "sha256"));
    char finger[FINGER_MAX];
    int rc = key_finger_file(type, path, finger, err);

    if (rc == 0)
        *ret_value = json_string(finger);
    return rc;
}

/* File that the row names. */
static int
key_finger_known(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return finger_of(ctx, args, ctx_row(ctx)->data.text, ret_value, err);
}

/* The master's signing key, where this minion has been given its public part (verify_master_pubkey_sign). */
static int
key_finger_master_sign(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *file = xasprintf("%s.pub",
                                     value_str(ctx_opts(ctx), "master_sign_key_name", "master_sign"));

    return finger_of(ctx, args, file, ret_value, err);
}

static const arg_t finger_args[] = {
    ARG("hash_type", ARG_STR, "null",
        "Digest of the fingerprint; hash_type of the configuration when not given"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "finger", key_finger_known, finger_args, FN_READONLY,
      "Return the fingerprint of the minion's public key." CLI_EXAMPLE("salt '*' key.finger"),
      .data.text = "minion.pub" },
    { "finger_master", key_finger_known, finger_args, FN_READONLY,
      "Return the fingerprint of the master's public key as this minion knows it." CLI_EXAMPLE(
          "salt '*' key.finger_master"),
      .data.text = "minion_master.pub" },
    { "finger_master_sign", key_finger_master_sign, finger_args, FN_READONLY,
      "Return the fingerprint of the master's signing key as this minion knows it; empty: it knows "
      "none." CLI_EXAMPLE("salt '*' key.finger_master_sign") },
};

PLUGIN(exec, key, .doc = "Fingerprints of the minion's and the master's public keys", FUNCS(funcs));
