/* key_rotate.c - salt-key --rotate-master-key and --gen-signature: a new key of the master, and the signature
 * that vouches for it. */
#include "cli/key_cli.h"
#include "common/local/client.h"
#include "keyring/masterkey.h"
#include "salt/value.h"

int
key_run_gen_signature(key_cli_t *cli, const key_verb_t *verb)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *path = NULL;
    char finger[FINGER_LEN];
    voucher_t v;

    if (masterkey_sign(cli->opts, value_str(cli->values, "priv", ""), value_str(cli->values, "pub", ""),
                       value_str(cli->values, "signature_path", ""),
                       value_bool(cli->values, "auto_create", false), &path, &err) != 0 ||
        voucher_read(path, &v, &err) != 0)
        return key_out_fail("%s", fail_text(&err));
    key_finger_of(KEY_KIND_SIGN, v.signer, finger);
    key_out_say(cli, "The signature was written to %s, made by the signing key %s\n", path, finger);
    return 0;
}

/* NEW {finger}; NULL with *err. */
static json_t *
key_rotate(key_cli_t *cli, fail_t *err)
{
    AUTO(local_client) line = key_line(cli, err);
    json_t *request = json_pack("{s:s}", "op", "key_rotate"), *reply = NULL;

    if (line != NULL)
        return local_call(line, &request, &reply, err) == 0 ? reply : NULL;
    json_decref(request);
    if (!key_no_master(err))
        return NULL;
    fail_clear(err);

    /* Without a master. */
    char finger[FINGER_LEN];
    masterkey_t key = { 0 };
    bool good = masterkey_rotate(cli->opts, err) == 0 && masterkey_open(&key, cli->opts, NULL, err) == 0;
    if (good)
        key_finger(key_pair_public(key.pair), finger);
    json_t *said = json_pack("{s:s, s:b, s:s*, s:s}", "op", "key_rotate", "allowed", true, "finger",
                             good ? finger : NULL, "outcome", good ? "ok" : "failed");

    key_audit(cli, &said);
    masterkey_close(&key);
    return good ? json_pack("{s:s}", "finger", finger) : NULL;
}

int
key_run_rotate(key_cli_t *cli, const key_verb_t *verb)
{
    fail_auto_t err = FAIL_INIT;

    if (!value_bool(cli->values, "yes", false)) {
        key_out_say(cli, "The master's key is going to be replaced.\n");
        key_answer_t answer = key_ask(cli, false);

        if (answer != KEY_ANSWER_YES)
            return answer == KEY_ANSWER_NO ? 0 : 1;
    }
    json_auto_t *reply = key_rotate(cli, &err);

    if (reply == NULL)
        return key_out_fail("%s", fail_text(&err));
    key_out_say(cli, "The master has a new key, fingerprint %s.\n", value_str(reply, "finger", ""));
    return 0;
}
