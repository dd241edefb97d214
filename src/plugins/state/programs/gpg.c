/* gpg.c - state module `gpg`: keys are in a keyring, or not. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/system/gpgring.h"
#include "plugins/lib/system/gpgrows.h"
#include "salt/state.h"

/* The key of the list that is named, BORROWED; NULL: it is not there. */
static json_t *
gpg_key_in(const json_t *keys, const char *wanted)
{
    json_t *one;
    size_t i;

    json_array_foreach (keys, i, one)
        if (gpg_is_key(one, wanted))
            return one;
    return NULL;
}

/* The keys that the state is about: `keys`, or its name. NEW list. */
static json_t *
gpg_wanted(const json_t *args)
{
    json_t *keys = value_get(args, "keys");

    return json_is_array(keys) && value_truthy(keys) ? json_incref(keys)
           : value_truthy(keys)                      ? json_pack("[O]", keys)
                                                     : json_pack("[O]", value_get(args, "name"));
}

/* The trust of a key. Adds to changes[key]; false: gpg refused, and the comment says it. */
static bool
set_trust(call_ctx_t *ctx, const json_t *args, const char *key, json_t *change, json_t *ret, fail_t *err)
{
    const char *level = value_str(args, "trust", "");
    int number;
    const char *shown = gpg_trust(level, &number);

    json_object_set_new(change, "trust", json_string(shown));
    if (ctx_test(ctx)) {
        state_ret_add(ret, "Set trust level for %s to %s", key, level);
        return true;
    }
    json_auto_t *done = sub_call(ctx, err, "gpg.trust_key", "{s:s, s:s, s:O, s:O, s:O}", "keyid", key,
                                 "trust_level", level, "user", value_get(args, "user"), "gnupghome",
                                 value_get(args, "gnupghome"), "keyring", value_get(args, "keyring"));
    if (done == NULL)
        return false;
    bool good = value_truthy(value_get(done, "res"));
    state_ret_add(ret, "%s%s%s%s", good ? "Set trust level for " : "",
                  good ? key : value_str(done, "message", ""), good ? " to " : "", good ? level : "");
    return good;
}

/* Receives a key. False: the server has not given it, and the comment says so. */
static bool
receive(call_ctx_t *ctx, const json_t *args, const char *key, json_t *ret, fail_t *err)
{
    if (!ctx_test(ctx)) {
        json_auto_t *done = sub_call(ctx, err, "gpg.receive_keys", "{s:O, s:[s], s:O, s:O, s:O}", "keyserver",
                                     value_get(args, "keyserver"), "keys", key, "user",
                                     value_get(args, "user"), "gnupghome", value_get(args, "gnupghome"),
                                     "keyring", value_get(args, "keyring"));
        json_auto_t *keys = done != NULL ? gpg_keys(ctx, args, false, err) : NULL;
        if (keys == NULL)
            return false;
        if (gpg_key_in(keys, key) == NULL) {
            state_ret_add(ret, "Unable to add %s to GPG keychain", key);
            return false;
        }
    }
    state_ret_add(ret, "Adding %s to GPG keychain", value_str(args, "name", ""));
    return true;
}

/* Handles a key: false when something failed. */
static bool
gpg_present_one(call_ctx_t *ctx, const json_t *args, const json_t *keys, const char *key, json_t *ret,
                fail_t *err)
{
    const char *level = value_str(args, "trust", "");
    json_t *there = gpg_key_in(keys, key);
    json_auto_t *change = json_object();
    bool good = true;
    int number;
    const char *shown = gpg_trust(level, &number);

    if (there == NULL) {
        good = receive(ctx, args, key, ret, err);
        if (good)
            json_object_set_new(change, "added", json_true());
    }
    if (good && *level != '\0' && shown == NULL)
        state_ret_add(ret, "Invalid trust level %s", level);
    else if (good && *level != '\0' && there != NULL && str_eq(value_str(there, "ownerTrust", ""), shown))
        state_ret_add(ret, "GPG Public Key %s already in correct trust state", key);
    else if (good && *level != '\0')
        good = set_trust(ctx, args, key, change, ret, err);
    if (there != NULL)
        state_ret_add(ret, "GPG Public Key %s already in keychain ", key);
    if (good && json_object_size(change) > 0)
        state_change(ret, key, json_incref(change));
    return good;
}

/* After all keys: None in test mode when something would change. */
static int
gpg_finish(call_ctx_t *ctx, json_t *ret, bool good)
{
    /* A key that was there already leaves no change, and so no None. */
    bool pending = ctx_test(ctx) && state_changed(ret);

    json_object_set_new(ret, "result", !good ? json_false() : pending ? json_null() : json_true());
    return 0;
}

/* Failures of one key don't keep the others from being received. */
static int
gpg_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *one;
    json_auto_t *keys = gpg_keys(ctx, args, false, err), *wanted = gpg_wanted(args);
    bool good = keys != NULL;
    size_t i;

    json_array_foreach (wanted, i, one) {
        AUTO_FREE char *key = value_pystr(one);
        if (err->code == 0 && !gpg_present_one(ctx, args, keys, key, ret, err))
            good = false;
    }
    return err->code != 0 ? state_ret_fail(ret, err) : gpg_finish(ctx, ret, good);
}

/* gpg refuses to delete a public key whose secret key is there; the state says so before it asks. */
static int
gpg_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args), *one;
    json_auto_t *keys = gpg_keys(ctx, args, false, err), *wanted = gpg_wanted(args);
    json_auto_t *secrets = keys != NULL ? gpg_keys(ctx, args, true, err) : NULL;
    bool good = true;
    size_t i;

    json_array_foreach (wanted, i, one) {
        AUTO_FREE char *key = value_pystr(one);
        if (err->code != 0)
            break;
        if (gpg_key_in(keys, key) == NULL) {
            state_ret_add(ret, "%s not found in GPG keychain", name);
            continue;
        }
        if (gpg_key_in(secrets, key) != NULL) {
            state_ret_add(ret, "Secret key exists, delete first or pass delete_secret=True.");
            good = false;
            continue;
        }
        json_auto_t *done = ctx_test(ctx) ? json_pack("{s:b}", "res", 1)
                                          : sub_call(ctx, err, "gpg.delete_key", "{s:s, s:O, s:O, s:O}",
                                                     "keyid", key, "user", value_get(args, "user"),
                                                     "gnupghome", value_get(args, "gnupghome"), "keyring",
                                                     value_get(args, "keyring"));
        if (!value_truthy(value_get(done, "res"))) {
            if (done != NULL)
                state_ret_add(ret, "%s", value_str(done, "message", ""));
            good = false;
            continue;
        }
        state_ret_add(ret, "Deleting %s from GPG keychain", name);
        state_change(ret, key, json_pack("{s:b}", "deleted", 1));
    }
    return err->code != 0 ? state_ret_fail(ret, err) : gpg_finish(ctx, ret, good);
}

#define GPG_ROW_NAME ARG("name", ARG_STR, ARG_REQUIRED, "The key, unless keys names others")
#define GPG_ROW_KEYS                                                                                         \
    ARG("keys", ARG_ANY, "null", "A key, or a list: fingerprints or their last 16 or 8 digits")
#define GPG_ROW_MORE ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE)

static const arg_t present_args[] = {
    GPG_ROW_NAME,
    GPG_ROW_KEYS,
    GPG_ROW_USER,
    GPG_ROW_SERVER,
    GPG_ROW_HOME,
    ARG("trust", ARG_STR, "null", "expired, unknown, not_trusted, marginally, fully or ultimately"),
    GPG_ROW_KEYRING,
    GPG_ROW_MORE,
    ARGS_END,
};
static const arg_t absent_args[] = { GPG_ROW_NAME,    GPG_ROW_KEYS, GPG_ROW_USER, GPG_ROW_HOME,
                                     GPG_ROW_KEYRING, GPG_ROW_MORE, ARGS_END };

static const func_t funcs[] = {
    { "absent", gpg_absent, absent_args, 0,
      "Keys are not in a keyring." CLI_EXAMPLE("salt '*' state.single gpg.absent 3FAD9F1E") },
    { "present", gpg_present, present_args, 0,
      "Keys are in a keyring, received from a key server where they are not." CLI_EXAMPLE(
          "salt '*' state.single gpg.present 3FAD9F1E trust=ultimately") },
};

PLUGIN(state, gpg, .doc = "Keys in a keyring of GnuPG", FUNCS(funcs), .unavailable = gpg_missing);
