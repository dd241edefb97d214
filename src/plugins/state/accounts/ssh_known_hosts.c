/* ssh_known_hosts.c - state module `ssh_known_hosts`: hosts whose keys ssh knows. Test mode asks the host as
 * the run does (ssh-keyscan), so that it foretells the same; with `key` no host is asked. A host may have
 * keys of several types: `fingerprint` picks those that match. */
#include "common/base/str.h"
#include "plugins/lib/system/knownhosts.h"
#include "salt/state.h"

/* The request of the SLS. ret is set to the failure when there is one: then false. */
static bool
known_begin(knownhosts_t *w, json_t *args, json_t *ret, fail_t *err)
{
    if (knownhosts_of(w, args, "name", err) < 0)
        return state_ret_fail(ret, err), false;
    json_auto_t *wrong = knownhosts_wrong(w);
    if (wrong != NULL && *w->user == '\0')
        return state_ret_set(ret, STATE_FALSE,
                             "If not specifying a \"user\", specify an absolute \"config\"."),
               false;
    if (wrong != NULL)
        return state_ret_set(ret, STATE_FALSE, "%s", value_str(wrong, "error", "")), false;
    return true;
}

/* The file as the SLS names it. BORROWED. */
static const char *
config_of(const knownhosts_t *w, const json_t *args)
{
    const char *config = value_str(args, "config", "");

    return *config != '\0' ? config : *w->user != '\0' ? ".ssh/known_hosts" : "/etc/ssh/ssh_known_hosts";
}

/* A host that can't be asked fails a test as a comment, and a run as the module's failure, as in Salt. */
static int
known_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    knownhosts_auto_t w = { 0 };

    if (!known_begin(&w, args, ret, err))
        return 0;
    const char *config = config_of(&w, args);
    if (*w.key != '\0' && *w.enc == '\0')
        return state_ret_set(ret, STATE_FALSE, "Required argument \"enc\" if using \"key\" argument.");
    json_auto_t *did = knownhosts_set(ctx, &w, ctx_test(ctx), err);
    if (did == NULL && err->kind == FAIL_PROGRAM && ctx_test(ctx)) {
        state_ret_set(ret, STATE_FALSE, "ssh.check_known_host error: %s", fail_text(err));
        fail_clear(err);
        return 0;
    }
    if (did == NULL)
        return err->code;
    const char *status = value_str(did, "status", "");
    if (strcmp(status, "error") == 0)
        return state_ret_set(ret, STATE_FALSE, "%s", value_str(did, "error", ""));
    if (strcmp(status, "exists") == 0)
        return state_ret_set(ret, STATE_TRUE,
                             ctx_test(ctx) ? "Host %s is already in %s" : "%s already exists in %s", w.host,
                             config);
    json_t *old = value_get(did, "old"), *fresh = value_get(did, "new"), *first = json_array_get(fresh, 0);
    state_change_set(ret, json_pack("{s:O, s:O}", "old", old, "new", fresh));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Key for %s is set to be %s %s", w.host,
                             json_is_null(old) ? "added to" : "updated in", config);
    /* A given key is shown as such, a fetched one by its fingerprint, which the user can compare. */
    if (*w.key != '\0')
        return state_ret_set(ret, STATE_TRUE, "%s's key saved to %s (key: %s)", w.host, config,
                             value_str(first, "key", ""));
    return state_ret_set(ret, STATE_TRUE, "%s's key saved to %s (fingerprint: %s)", w.host, config,
                         value_str(first, "fingerprint", ""));
}

/* All entries of the host go, whatever their type. */
static int
known_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *said = NULL;
    knownhosts_auto_t w = { 0 };

    if (!known_begin(&w, args, ret, err))
        return 0;
    json_auto_t *entries = knownhosts_entries(ctx, &w, err);
    if (entries == NULL)
        return err->code;
    if (json_is_null(entries))
        return state_ret_set(ret, STATE_TRUE, "Host is already absent");
    if (ctx_test(ctx))
        state_ret_set(ret, STATE_NONE, "Key for %s is set to be removed from %s", w.host,
                      config_of(&w, args));
    else if (knownhosts_rewrite(ctx, &w, false, &said, err) == 0)
        state_ret_comment(ret, said);
    else
        return err->code;
    state_change_set(ret, json_pack("{s:O, s:n}", "old", entries, "new"));
    return 0;
}

/* ---- table ---------------------------------------------------------------------------------- */

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The host")
#define USER_ROW ARG("user", ARG_STR, "null", "Whose file; None: the machine's")
#define CONFIG_ROW                                                                                           \
    ARG("config", ARG_STR, "null", "The file; by default .ssh/known_hosts, or /etc/ssh/ssh_known_hosts")

static const arg_t present_args[] = {
    NAME_ROW,
    USER_ROW,
    ARG("fingerprint", ARG_STR, "null", "The fingerprint that the host's key must have"),
    ARG("key", ARG_STR, "null", "The key in base64: then the host is not asked"),
    ARG("port", ARG_ANY, "null", "The host's port; by default 22"),
    ARG("enc", ARG_STR, "null", "Type of the key"),
    CONFIG_ROW,
    ARG("hash_known_hosts", ARG_BOOL, "true", "Hash the hosts' names"),
    ARG("timeout", ARG_ANY, "5", "Seconds to wait for the host"),
    ARG("fingerprint_hash_type", ARG_STR, "null", "sha256 unless told"),
    ARGS_END
};
static const arg_t absent_args[] = { NAME_ROW, USER_ROW, CONFIG_ROW, ARGS_END };

static const func_t funcs[] = {
    { "absent", known_absent, absent_args, 0, "Ensure that a host is not known." },
    { "present", known_present, present_args, 0, "Ensure that a host is known by its key." },
};

PLUGIN(state, ssh_known_hosts, .doc = "Hosts that ssh knows", FUNCS(funcs));
