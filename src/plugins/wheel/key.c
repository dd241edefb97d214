/* key.c - wheel module `key`: what salt-key does, for reactors, orchestration and programs. Reads the folders
 * of keys itself, and changes them by the master's operation key_apply, so that live connections follow at
 * once. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/crypto/keys.h"
#include "master/api.h"
#include "keyring/keyaction.h"
#include "keyring/masterkey.h"
#include "salt/plugin.h"

static keystore_t *
open_store(call_ctx_t *ctx, fail_t *err)
{
    return keystore_new(value_str(ctx_opts(ctx), "pki_dir", ""), err);
}

static const char *
hash_type(call_ctx_t *ctx, const json_t *args)
{
    return value_str(args, "hash_type", value_str(ctx_opts(ctx), "hash_type", "sha256"));
}

/* ---- reading ------------------------------------------------------------------------------------- */

typedef json_t *choose_fn(const json_t *table, const json_t *match, fail_t *err);

static json_t *
by_globs(const json_t *table, const json_t *match, fail_t *err)
{
    return keyselect_match(table, match);
}

static json_t *
by_ids(const json_t *table, const json_t *match, fail_t *err)
{
    return keyselect_ids(table, match);
}

/* NEW key table of the ids that `match` names; `local`: the master's own files too. */
static json_t *
chosen_of(call_ctx_t *ctx, const json_t *match, choose_fn *choose, bool local, keystore_t **ret_store,
          fail_t *err)
{
    AUTO(keystore) store = open_store(ctx, err);

    if (store == NULL)
        return NULL;
    json_auto_t *table = local ? keyaction_table_local(store, err) : keyaction_table(store, err);

    if (table == NULL)
        return NULL;
    if (ret_store != NULL)
        *ret_store = STEAL(store);
    return choose(table, match, err);
}

/* By globs, as the reading functions do. */
static json_t *
wheel_key_matching(call_ctx_t *ctx, const json_t *match, bool local, keystore_t **ret_store, fail_t *err)
{
    return chosen_of(ctx, match, by_globs, local, ret_store, err);
}

static int
key_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(keystore) store = open_store(ctx, err);
    json_auto_t *table = store == NULL ? NULL : keyaction_table_local(store, err);

    if (table == NULL)
        return err->code;
    *ret_value = keyselect_status(table, value_str(args, "match", ""));
    if (*ret_value == NULL)
        *ret_value = json_object();
    return 0;
}

static int
key_list_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(keystore) store = open_store(ctx, err);

    *ret_value = store == NULL ? NULL : keyaction_table_local(store, err);
    return *ret_value == NULL ? err->code : 0;
}

static int
key_name_match(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = wheel_key_matching(ctx, value_get(args, "match"), false, NULL, err);
    return *ret_value == NULL ? err->code : 0;
}

static int
key_str(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(keystore) store = NULL;
    json_auto_t *table = wheel_key_matching(ctx, value_get(args, "match"), false, &store, err);

    *ret_value = table == NULL ? NULL : keyaction_texts(store, table, err);
    return *ret_value == NULL ? err->code : 0;
}

static int
key_finger_(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(keystore) store = NULL;
    json_auto_t *table = wheel_key_matching(ctx, value_get(args, "match"), true, &store, err);

    *ret_value = table == NULL ? NULL : keyaction_fingers(store, table, hash_type(ctx, args), err);
    return *ret_value == NULL ? err->code : 0;
}

#define MASTER_PUB "master.pub"

static int
key_finger_master(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fs_join(value_str(ctx_opts(ctx), "pki_dir", ""), MASTER_PUB);
    char finger[FINGER_MAX];
    int rc = key_finger_file(hash_type(ctx, args), path, finger, err);

    if (rc == 0)
        *ret_value = json_pack("{s:{s:s}}", "local", MASTER_PUB, finger);
    return rc;
}

static int
key_master_key_str(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fs_join(value_str(ctx_opts(ctx), "pki_dir", ""), MASTER_PUB);
    buf_auto_t text = BUF_INIT;
    int rc = fs_read(path, LIMIT_KEY_FILE, &text, err);

    if (rc == 0)
        *ret_value = json_pack("{s:{s:o}}", "local", MASTER_PUB, value_utf8(buf_str(&text), text.len));
    return rc;
}

/* ---- changing ------------------------------------------------------------------------------------ */

/* Further states that a key may be in, by the call's include_* arguments. */
static unsigned
wheel_key_included(const json_t *args)
{
    return (value_bool(args, "include_accepted", false) ? KEY_BIT(KEY_ACCEPTED) : 0) |
           (value_bool(args, "include_rejected", false) ? KEY_BIT(KEY_REJECTED) : 0) |
           (value_bool(args, "include_denied", false) ? KEY_BIT(KEY_DENIED) : 0);
}

/* Sends one request per state, so that only the chosen file of an id changes. Goes on after a failure; the
 * first one is the error. */
static int
wheel_key_apply(call_ctx_t *ctx, key_act_t act, const json_t *chosen, fail_t *err)
{
    const char *state, *id;
    json_t *ids, *why;

    json_object_foreach ((json_t *) chosen, state, ids) {
        json_auto_t *reply = NULL;
        json_t *request = json_pack("{s:s, s:s, s:O, s:[s]}", "op", "key_apply", "action", key_act_name(act),
                                    "ids", ids, "from", state);
        int rc = api_request(api_of(ctx), &request, &reply, err);

        if (rc < 0)
            return rc;
        json_object_foreach (value_get(reply, "failed"), id, why)
            (void) fail_set(err, -EIO, "%s %s: %s", key_act_name(act), id, json_string_value(why));
    }
    return err->code;
}

/* Reactions and programs name a key, often by what its minion says: a text means the key of that name and
 * no other, unless globs are asked for. Returns where the ids are afterwards. */
static int
key_by_match(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    key_act_t act = (key_act_t) ctx_row(ctx)->data.number;
    const json_t *match = value_get(args, "match");
    bool globs = value_bool(args, "glob", false);
    json_auto_t *table = chosen_of(ctx, match, globs ? by_globs : keyselect_exact, false, NULL, err);

    if (table == NULL)
        return err->code;
    json_auto_t *chosen = keyselect_only(table, key_act_from(act, wheel_key_included(args)));
    int rc = wheel_key_apply(ctx, act, chosen, err);

    if (rc < 0)
        return rc;
    *ret_value = chosen_of(ctx, match, globs ? by_globs : by_ids, false, NULL, err);
    return *ret_value == NULL ? err->code : 0;
}

/* NEW list of every id in a dict of lists; NULL with *err for another shape. */
static json_t *
ids_of(json_t *dict, fail_t *err)
{
    json_auto_t *all = json_array();
    json_t *ids, *id;
    const char *state;
    size_t i;

    json_object_foreach (dict, state, ids) {
        if (!json_is_array(ids)) {
            fail_kind(err, FAIL_INVOCATION, -EINVAL, "match: '%s' must be a list of ids", state);
            return NULL;
        }
        json_array_foreach (ids, i, id)
            if (json_is_string(id))
                json_array_append(all, id);
    }
    return STEAL(all);
}

/* By an explicit {state: [id]}: where those ids are afterwards. */
static int
key_by_dict(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    key_act_t act = (key_act_t) ctx_row(ctx)->data.number;
    json_t *dict = value_get(args, "match");
    json_auto_t *ids = ids_of(dict, err);

    if (ids == NULL)
        return err->code;
    json_auto_t *chosen = keyselect_only(dict, key_act_from(act, wheel_key_included(args)));
    int rc = wheel_key_apply(ctx, act, chosen, err);

    if (rc < 0)
        return rc;
    *ret_value = chosen_of(ctx, ids, by_ids, false, NULL, err);
    return *ret_value == NULL ? err->code : 0;
}

/* ---- making -------------------------------------------------------------------------------------- */

static json_t *
pair_texts(const key_pair_t *pair)
{
    char *priv = key_pair_pem(pair);
    AUTO_FREE char *pub = key_public_pem(key_pair_public(pair));
    json_t *texts = json_pack("{s:s, s:s}", "priv", priv, "pub", pub);

    key_text_free(&priv);
    return texts;
}

/* The pair is returned and stored nowhere. */
static int
key_gen(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(key_pair) pair = key_pair_new();

    *ret_value = pair_texts(pair);
    return 0;
}

/* Stored as pending first, then accepted by the master itself, so that it knows the key from then on. */
static int
key_gen_accept(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *id = value_str(args, "id_", "");
    AUTO(keystore) store = open_store(ctx, err);
    AUTO(key_pair) pair = key_pair_new();

    if (store == NULL)
        return err->code;
    key_state_t state;
    if (keystore_state(store, id, &state, err) < 0)
        return err->code;
    if (state == KEY_ACCEPTED && !value_bool(args, "force", false)) {
        *ret_value = json_object();
        return 0;
    }
    int rc = keystore_put(store, id, KEY_PENDING, key_pair_public(pair), err);

    if (rc == 0) {
        json_auto_t *chosen = json_pack("{s:[s]}", key_state_dir(KEY_PENDING), id);

        rc = wheel_key_apply(ctx, KEY_ACT_ACCEPT, chosen, err);
    }
    if (rc == 0)
        *ret_value = pair_texts(pair);
    return rc;
}

/* Opens the pair or creates it, and returns the fingerprint. */
static int
key_gen_keys(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *dir = value_str(args, "keydir", value_str(ctx_opts(ctx), "pki_dir", ""));
    const char *name = value_str(args, "keyname", "minion");
    AUTO(key_pair) pair = key_pair_open(dir, name, NULL, err);
    char finger[FINGER_LEN];

    if (pair == NULL)
        return err->code;
    key_finger(key_pair_public(pair), finger);
    *ret_value = json_string(finger);
    return 0;
}

/* As Salt, True when it is done. */
static int
key_gen_signature(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = NULL;
    int rc = masterkey_sign(ctx_opts(ctx), value_str(args, "priv", ""), value_str(args, "pub", ""),
                            value_str(args, "signature_path", ""), value_bool(args, "auto_create", false),
                            &path, err);

    if (rc == 0)
        *ret_value = json_true();
    return rc;
}

/* The master replaces its key, and tells minions. */
static int
key_rotate_master(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *request = json_pack("{s:s}", "op", "key_rotate");
    json_auto_t *reply = NULL;
    int rc = api_request(api_of(ctx), &request, &reply, err);

    if (rc == 0)
        *ret_value = json_incref(value_get(reply, "finger"));
    return rc;
}

/* ---- tables -------------------------------------------------------------------------------------- */

#define MATCH_ROW                                                                                            \
    ARG("match", ARG_ANY, ARG_REQUIRED, "A glob of ids, several with commas between them, or a list")
#define ID_ROW ARG("match", ARG_ANY, ARG_REQUIRED, "The id of one minion, or a list of ids")
#define GLOB_ROW                                                                                             \
    ARG("glob", ARG_BOOL, "false", "match is a glob of ids, several with commas between them, or a list")
#define DICT_ROW                                                                                             \
    ARG("match", ARG_DICT, ARG_REQUIRED, "Ids by state folder: {'minions_pre': ['jerry', 'stuart']}")
#define INC_ACC_ROW ARG("include_accepted", ARG_BOOL, "false", "Take accepted keys as well as pending ones")
#define INC_REJ_ROW ARG("include_rejected", ARG_BOOL, "false", "Take rejected keys as well as pending ones")
#define INC_DEN_ROW ARG("include_denied", ARG_BOOL, "false", "Take denied keys as well as pending ones")
#define HASH_ROW                                                                                             \
    ARG("hash_type", ARG_STR, "null",                                                                        \
        "Digest of the fingerprint; hash_type of the configuration when not given")
#define SIZE_ROW ARG("keysize", ARG_INT, "2048", "Taken for compatibility: an X25519 key has one size")

static const arg_t list_args[] = {
    ARG("match", ARG_STR, ARG_REQUIRED,
        "pre, un or unaccepted; acc or accepted; rej or rejected; den or denied; all"),
    ARGS_END
};
static const arg_t match_args[] = { MATCH_ROW, ARGS_END };
static const arg_t delete_args[] = { ID_ROW, GLOB_ROW, ARGS_END };
static const arg_t dict_args[] = { DICT_ROW, ARGS_END };
static const arg_t accept_args[] = { ID_ROW, INC_REJ_ROW, INC_DEN_ROW, GLOB_ROW, ARGS_END };
static const arg_t accept_dict_args[] = { DICT_ROW, INC_REJ_ROW, INC_DEN_ROW, ARGS_END };
static const arg_t reject_args[] = { ID_ROW, INC_ACC_ROW, INC_DEN_ROW, GLOB_ROW, ARGS_END };
static const arg_t reject_dict_args[] = { DICT_ROW, INC_ACC_ROW, INC_DEN_ROW, ARGS_END };
static const arg_t finger_args[] = { MATCH_ROW, HASH_ROW, ARGS_END };
static const arg_t finger_master_args[] = { HASH_ROW, ARGS_END };
static const arg_t gen_args[] = {
    ARG("id_", ARG_STR, "null", "A name for the pair; nothing is stored under it"), SIZE_ROW, ARGS_END
};
static const arg_t gen_accept_args[] = {
    ARG("id_", ARG_STR, ARG_REQUIRED, "The minion's id"), SIZE_ROW,
    ARG("force", ARG_BOOL, "false", "Replace a key that is accepted already"), ARGS_END
};
static const arg_t gen_keys_args[] = {
    ARG("keydir", ARG_STR, "null", "Folder; pki_dir when not given"),
    ARG("keyname", ARG_STR, "null", "Name of the files without .pem and .pub"), SIZE_ROW,
    ARG("user", ARG_STR, "null", "Taken for compatibility: the master's own user"), ARGS_END
};
static const arg_t signature_args[] = {
    ARG("priv", ARG_STR, ARG_REQUIRED, "The private signing key's file; empty: master_sign.pem in pki_dir"),
    ARG("pub", ARG_STR, ARG_REQUIRED, "The public key's file; empty: master.pub in pki_dir"),
    ARG("signature_path", ARG_STR, ARG_REQUIRED, "The folder of master_pubkey_signature; empty: pki_dir"),
    ARG("auto_create", ARG_BOOL, "false", "Make a signing key if there is none"),
    ARG("keysize", ARG_INT, "null", "Taken for compatibility: an Ed25519 key has one size"),
    ARGS_END
};

static const func_t funcs[] = {
    { "list", key_list, list_args, FN_READONLY | FN_ACCESS_READ,
      "List the ids in one state." CLI_EXAMPLE("salt-run salt.cmd saltutil.wheel key.list accepted") },
    { "list_all", key_list_all, NULL, FN_READONLY | FN_ACCESS_READ,
      "List the ids of every state, and the master's own key files as ``local``." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.list_all") },
    { "name_match", key_name_match, match_args, FN_READONLY | FN_ACCESS_READ,
      "List the ids that a glob matches, by state." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.name_match 'web*'") },
    { "accept", key_by_match, accept_args, FN_ACCESS_ADMIN,
      "Accept the pending key of a minion, or of each in a list.\n\nReturns where these keys are "
      "afterwards. An id is taken as it is; ``glob=True`` takes globs." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.accept web1\n    "
          "salt-run salt.cmd saltutil.wheel key.accept 'web*' glob=True"),
      .data.number = KEY_ACT_ACCEPT },
    { "accept_dict", key_by_dict, accept_dict_args, FN_ACCESS_ADMIN,
      "Accept the keys of a dictionary of ids by state." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.accept_dict '{minions_pre: [jerry, stuart]}'"),
      .data.number = KEY_ACT_ACCEPT },
    { "reject", key_by_match, reject_args, FN_ACCESS_ADMIN,
      "Reject the pending key of a minion, or of each in a list; with ``glob=True`` of globs." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.reject web1"),
      .data.number = KEY_ACT_REJECT },
    { "reject_dict", key_by_dict, reject_dict_args, FN_ACCESS_ADMIN,
      "Reject the keys of a dictionary of ids by state." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.reject_dict '{minions_pre: [jerry, stuart]}'"),
      .data.number = KEY_ACT_REJECT },
    { "delete", key_by_match, delete_args, FN_ACCESS_ADMIN,
      "Delete the key of a minion, or of each in a list, whatever its state; with ``glob=True`` of "
      "globs." CLI_EXAMPLE("salt-run salt.cmd saltutil.wheel key.delete web1"),
      .data.number = KEY_ACT_DELETE },
    { "delete_dict", key_by_dict, dict_args, FN_ACCESS_ADMIN,
      "Delete the keys of a dictionary of ids by state." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.delete_dict '{minions: [jerry, stuart]}'"),
      .data.number = KEY_ACT_DELETE },
    { "key_str", key_str, match_args, FN_READONLY | FN_ACCESS_READ,
      "Return the public keys that a glob matches, as PEM text." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.key_str web1") },
    { "print", key_str, match_args, FN_READONLY | FN_ACCESS_READ,
      "Return the public keys that a glob matches, as PEM text." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.print web1") },
    { "master_key_str", key_master_key_str, NULL, FN_READONLY | FN_ACCESS_READ,
      "Return the master's public key, as PEM text." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.master_key_str") },
    { "finger", key_finger_, finger_args, FN_READONLY | FN_ACCESS_READ,
      "Return the fingerprints of the keys that a glob matches, the master's own files included." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.finger 'web*'") },
    { "finger_master", key_finger_master, finger_master_args, FN_READONLY | FN_ACCESS_READ,
      "Return the fingerprint of the master's public key." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.finger_master") },
    { "gen", key_gen, gen_args, FN_READONLY | FN_ACCESS_ADMIN | FN_SECRET,
      "Make a key pair and return it as ``priv`` and ``pub``; nothing is stored.\n\nOnly who asks and "
      "waits for the pair gets it: events and the job cache have ``VALUE_TRIMMED`` in its place." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.gen") },
    { "gen_accept", key_gen_accept, gen_accept_args, FN_ACCESS_ADMIN | FN_SECRET,
      "Make a key pair, accept its public key for a minion and return the pair.\n\nReturns an empty "
      "dictionary when the minion has an accepted key already. Only who asks and waits for the pair gets it: "
      "events and the job cache have ``VALUE_TRIMMED`` in its place." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.gen_accept web9") },
    { "gen_keys", key_gen_keys, gen_keys_args, FN_ACCESS_ADMIN,
      "Make a key pair in a folder unless it is there, and return its fingerprint." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.gen_keys /root/keys web9") },
    { "gen_signature", key_gen_signature, signature_args, FN_ACCESS_ADMIN,
      "Have the signing key vouch for the master's key, for the option "
      "``master_use_pubkey_signature``." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel key.gen_signature '' '' /root/keys") },
    { "rotate_master", key_rotate_master, NULL, FN_ACCESS_ADMIN,
      "Give the master a new key and return its fingerprint. Minions that know the signing key take it by "
      "themselves." CLI_EXAMPLE("salt-run salt.cmd saltutil.wheel key.rotate_master") },
};

PLUGIN(wheel, key, .doc = "List, accept, reject and delete the keys of minions", FUNCS(funcs));
