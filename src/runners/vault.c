/* vault.c - runner `vault`: tokens for minions, by the master's login at a HashiCorp Vault server.
 *
 * A minion asks for its own token only: who asks is known by the connection, so that the signature of Salt's
 * minions is not needed. */
#include "common/base/str.h"
#include "master/api.h"
#include "plugins/lib/vault/vault.h"
#include "runners/lib/ask.h"

#define PEER "minion:" /* begins the user of what a minion has the master run */

/* The policies of a minion by what the master knows of it. NEW, or NULL with *err. */
static json_t *
vault_policies_of(call_ctx_t *ctx, const char *id, fail_t *err)
{
    json_auto_t *grains = api_grains(api_of(ctx), id, err);
    json_auto_t *pillar = grains != NULL ? api_pillar(api_of(ctx), id, err) : NULL;

    return pillar != NULL ? vault_policies(value_get(ctx_opts(ctx), "vault"), id, value_get(grains, id),
                                           value_get(pillar, id))
                          : NULL;
}

static int
vault_generate_token(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *id = value_str(args, "minion_id", ""), *user = api_user(api_of(ctx));
    fail_auto_t why = FAIL_INIT;

    if (str_starts(user, PEER) && strcmp(user + strlen(PEER), id) != 0)
        return fail_kind(err, FAIL_COMMAND, -EACCES, "Could not validate token request from %s: %s asks", id,
                         user + strlen(PEER));
    json_auto_t *policies = vault_policies_of(ctx, id, &why), *token = NULL;
    json_auto_t *audit = json_pack("{s:s, s:s}", "saltstack-jid", ctx_jid(ctx), "saltstack-user", user);
    if (policies != NULL)
        token = vault_make_token(ctx, id, policies, value_get(args, "ttl"), value_get(args, "uses"), audit,
                                 &why);
    *ret_value = token != NULL ? json_incref(token) : json_pack("{s:s}", "error", fail_text(&why));
    return 0;
}

static int
vault_show_policies(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = vault_policies_of(ctx, value_str(args, "minion_id", ""), err);
    return *ret_value != NULL ? 0 : err->code;
}

static int
vault_unseal(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *keys = value_get(value_get(ctx_opts(ctx), "vault"), "keys"), *key;
    bool open = false;
    size_t i;

    if (json_array_size(keys) == 0)
        return fail_kind(err, FAIL_COMMAND, -ENOENT,
                         "The option vault has no 'keys' to unseal the server with");
    json_array_foreach (keys, i, key) {
        vault_answer_auto_t answer = { 0 };
        json_auto_t *body = json_pack("{s:O}", "key", key);
        if (vault_ask(ctx, "PUT", "v1/sys/unseal", body, &answer, err) < 0)
            return err->code;
        open = answer.status == 200 && json_is_false(value_get(answer.body, "sealed"));
        if (open)
            break;
    }
    if (!open)
        ctx_set_retcode(ctx, 1);
    *ret_value = json_boolean(open);
    return 0;
}

#define MINION_ROW ARG("minion_id", ARG_STR, ARG_REQUIRED, "The minion")
static const arg_t token_args[] = {
    MINION_ROW,
    ARG("signature", ARG_ANY, ARG_REQUIRED, "Not used: who asks is known by the connection"),
    ARG("impersonated_by_master", ARG_ANY, "false", "Not used"),
    ARG("ttl", ARG_ANY, "null", "How long the token holds, where the master lets minions say so"),
    ARG("uses", ARG_ANY, "null", "How often it may be used; likewise"),
    ARGS_END
};
static const arg_t show_args[] = {
    MINION_ROW, ARG("refresh_pillar", ARG_ANY, "null", "Not used: the pillar that the minion has counts"),
    ARG("expire", ARG_ANY, "null", "Not used: nothing is kept"), ARGS_END
};

static const func_t funcs[] = {
    { "generate_token", vault_generate_token, token_args, FN_ACCESS_ADMIN | FN_SECRET,
      "Make a token for a minion. The option ``peer_run`` lets minions ask for theirs." CLI_EXAMPLE(
          "salt-run vault.generate_token web1 ''") },
    { "show_policies", vault_show_policies, show_args, FN_ACCESS_READ,
      "Return the policies that a minion's tokens have." CLI_EXAMPLE("salt-run vault.show_policies web1") },
    { "unseal", vault_unseal, NULL, FN_ACCESS_ADMIN,
      "Unseal the server with the keys of the option vault." CLI_EXAMPLE("salt-run vault.unseal") },
};

PLUGIN(runner, vault, .doc = "Tokens and policies of a HashiCorp Vault server", FUNCS(funcs));
