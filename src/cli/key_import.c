/* key_import.c - salt-key --import-salt: takes over the ids that a Salt master had accepted, as expected ones
 * (keyexpect.c). */
#include "cli/key_cli.h"
#include "salt/value.h"

int
key_run_import(key_cli_t *cli, const key_verb_t *verb)
{
    fail_auto_t err = FAIL_INIT;
    const char *pki = value_str(cli->opts, "pki_dir", ""), *fingers = value_str(cli->values, "fingers", "");
    json_auto_t *done = keystore_import_salt(pki, cli->match, fingers, &err);
    size_t with = 0;
    const char *id;
    json_t *has;

    json_object_foreach (done, id, has)
        with += json_is_true(has);
    json_t *said = json_pack("{s:s, s:b, s:I, s:I, s:s}", "op", "key_import", "allowed", true, "minions",
                             (json_int_t) json_object_size(done), "fingers", (json_int_t) with, "outcome",
                             done != NULL ? "ok" : "failed");

    key_audit(cli, &said);
    if (done == NULL)
        return key_out_fail("%s", fail_text(&err));
    key_out_say(cli,
                "%zu minions are expected: a key of %zu of them is accepted when its fingerprint agrees, all "
                "others wait and salt-key -L marks them (expected).\n",
                json_object_size(done), with);
    return 0;
}
