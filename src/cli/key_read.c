/* key_read.c - salt-key's actions that change nothing: list, print, fingerprints. */
#include "cli/key_cli.h"
#include "common/crypto/saltpki.h"
#include "salt/value.h"

/* Show a table, or say that the glob names nothing: a script must be able to tell. One that reads JSON and the
 * like has its answer in the empty table, as with Salt. */
static int
key_read_show(key_cli_t *cli, const json_t *table, const fail_t *err)
{
    if (table == NULL)
        return key_out_fail("%s", fail_text(err));
    int rc = key_out_show(cli, table);

    if (rc != 0 || json_object_size(table) > 0 || cli->all)
        return rc;
    fprintf(stderr, "The key glob '%s' does not match any keys.\n", cli->match);
    return cli->structured ? 0 : 1;
}

int
key_run_list(key_cli_t *cli, const key_verb_t *verb)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *table = keyaction_table(cli->store, &err);
    json_auto_t *listed = table == NULL ? NULL : keyselect_status(table, cli->match);

    /* Before the master's first start the keys stand where its own will. */
    const char *pki_dir = keystore_dir(cli->store);
    size_t accepted, n = saltpki_count(pki_dir, &accepted);
    if (n > 0)
        fprintf(stderr,
                "%zu keys in %s are RSA keys of Salt, %zu of them of accepted minions. Halite can't use "
                "them: its master moves them to %s/" SALTPKI_ASIDE
                " when it starts, unchanged, and makes X25519 keys; "
                "minions introduce themselves once more.\n",
                n, pki_dir, accepted, pki_dir);

    /* For people: those that wait and were a Salt master's. */
    json_t *ids = cli->structured ? NULL : value_get(listed, key_state_dir(KEY_PENDING)), *id;
    json_t *marked = json_array();
    size_t i;
    json_array_foreach (ids, i, id)
        json_array_append_new(marked, keystore_is_expected(keystore_dir(cli->store), json_string_value(id))
                                          ? value_fmt("%s (expected)", json_string_value(id))
                                          : json_incref(id));
    if (ids != NULL)
        json_object_set(listed, key_state_dir(KEY_PENDING), marked);
    json_decref(marked);

    return listed == NULL ? key_out_fail("%s", fail_text(&err)) : key_out_show(cli, listed);
}

int
key_run_print(key_cli_t *cli, const key_verb_t *verb)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *glob = json_string(cli->match);
    json_auto_t *table = keyaction_table(cli->store, &err);
    json_auto_t *found = table == NULL ? NULL : keyselect_match(table, glob);
    json_auto_t *texts = found == NULL ? NULL : keyaction_texts(cli->store, found, &err);

    return key_read_show(cli, texts, &err);
}

int
key_run_finger(key_cli_t *cli, const key_verb_t *verb)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *glob = json_string(cli->match);
    json_auto_t *table = keyaction_table_local(cli->store, &err);
    json_auto_t *found = table == NULL ? NULL : keyselect_match(table, glob);
    const char *hash_type = value_str(cli->opts, "hash_type", "sha256");
    json_auto_t *fingers = found == NULL ? NULL : keyaction_fingers(cli->store, found, hash_type, &err);

    return key_read_show(cli, fingers, &err);
}
