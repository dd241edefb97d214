/* vault.c - state module `vault`: policies of a HashiCorp Vault server. */
#include "common/data/diff.h"
#include "plugins/lib/vault/vault.h"
#include "salt/state.h"

/* Policies are compared as texts: a change of white space writes the policy again. */
static int
vault_policy_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *rules = value_str(args, "rules", "");
    AUTO_FREE char *resource = xasprintf("v1/sys/policy/%s", name);
    vault_answer_auto_t answer = { 0 };
    json_t *ret = *ret_value = state_ret_args(args);

    if (vault_ask(ctx, "GET", resource, NULL, &answer, err) < 0)
        return err->code;
    const char *now = value_str(answer.body, "rules",
                                value_str(value_get(answer.body, "data"), "rules", NULL));
    bool is_new = answer.status == 404;
    if (!is_new && (answer.status != 200 || now == NULL)) {
        (void) vault_refused(&answer, err);
        (void) state_ret_set(ret, STATE_FALSE, "Failed to get policy: %s", fail_text(err));
        fail_clear(err);
        return 0;
    }
    if (!is_new && strcmp(now, rules) == 0)
        return state_ret_set(ret, STATE_TRUE, "Policy exists, and has the correct content");
    AUTO_FREE char *diff = is_new ? NULL : diff_texts(now, strlen(now), rules, strlen(rules), "", "");
    json_t *change = is_new ? json_pack("{s:n, s:s}", "old", "new", rules)
                            : json_pack("{s:s}", "change", diff);
    if (!ctx_test(ctx)) {
        json_auto_t *body = json_pack("{s:s}", "rules", rules);
        if (vault_ask(ctx, "PUT", resource, body, &answer, err) < 0) {
            json_decref(change);
            return err->code;
        }
        if (answer.status != 200 && answer.status != 204) {
            json_decref(change);
            return state_ret_set(ret, STATE_FALSE, "Failed to %s policy: %s", is_new ? "create" : "change",
                                 answer.reason);
        }
    }
    state_change(ret, name, change);
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Policy would be %s", is_new ? "created" : "changed");
    return state_ret_set(ret, STATE_TRUE, "Policy was %s", is_new ? "created" : "updated");
}

static const arg_t policy_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The policy"),
                                     ARG("rules", ARG_STR, ARG_REQUIRED, "Its rules, in HCL"), ARGS_END };

static const func_t funcs[] = { { "policy_present", vault_policy_present, policy_args, 0,
                                  "Ensure that a policy is there with these rules." } };

PLUGIN(state, vault, .doc = "Policies of a HashiCorp Vault server", FUNCS(funcs));
