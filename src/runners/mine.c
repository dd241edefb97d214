/* mine.c - runner `mine`: values that minions gave for each other. `get` reads them from the master, `update`
 * runs mine.update on minions. */
#include "runners/lib/ask.h"
#include "master/api.h"
#include "salt/plugin.h"

static int
runners_mine_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *fields = json_pack("{s:O, s:O, s:O}", "tgt", value_get(args, "tgt"), "tgt_type",
                               value_get(args, "tgt_type"), "fun", value_get(args, "fun"));
    /* A minion that may start this runner is still one of those whom allow_tgt is about. */
    json_object_set_new(fields, "for_minion", json_boolean(api_peer(api_of(ctx))));
    json_auto_t *reply = ask_master_with(ctx, "mine", &fields, err);

    *ret_value = json_incref(value_get(reply, "mine"));
    return reply != NULL ? 0 : -EIO;
}

static int
runners_mine_update(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *arg = json_pack("[{s:b, s:O, s:O}]", "__kwarg__", true, "clear", value_get(args, "clear"),
                                 "mine_functions", value_get(args, "mine_functions"));
    json_auto_t *minions = ask_execute(ctx, value_get(args, "tgt"), value_str(args, "tgt_type", "glob"),
                                       "mine.update", arg, 0, err);

    *ret_value = minions != NULL ? ask_returns(minions) : NULL;
    return minions != NULL ? 0 : -EIO;
}

static const arg_t get_args[] = { ARG("tgt", ARG_ANY, ARG_REQUIRED, "Whose values"),
                                  ARG("fun", ARG_ANY, ARG_REQUIRED,
                                      "The name, several with commas between, or a list"),
                                  ARG("tgt_type", ARG_STR, "\"glob\"", "How tgt is meant"), ARGS_END };
static const arg_t update_args[] = {
    ARG("tgt", ARG_ANY, ARG_REQUIRED, "Which minions"),
    ARG("tgt_type", ARG_STR, "\"glob\"", "How tgt is meant"),
    ARG("clear", ARG_BOOL, "false", "Forget what was there before"),
    ARG("mine_functions", ARG_ANY, "null", "These functions instead of the configured ones"), ARGS_END
};

static const func_t funcs[] = {
    { "get", runners_mine_get, get_args, FN_READONLY | FN_ACCESS_READ,
      "Return what the minions of a target have put into the mine, by minion. A value with ``allow_tgt`` "
      "is among them." CLI_EXAMPLE("salt-run mine.get '*' network.interfaces"),
      ABSENT("fun", "No minion of the target has put '{}' into the mine") },
    { "update", runners_mine_update, update_args, FN_ACCESS_ADMIN,
      "Have minions call their ``mine_functions`` and send the values." CLI_EXAMPLE(
          "salt-run mine.update '*'\n    salt-run mine.update 'juniper-edges' tgt_type='nodegroup'") },
};

PLUGIN(runner, mine, .doc = "What minions gave for each other", FUNCS(funcs));
