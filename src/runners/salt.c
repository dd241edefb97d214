/* salt.c - runner `salt`: runs functions on minions, or in the master itself, from within a runner, a
 * schedule or an orchestration. */
#include "common/base/str.h"
#include "common/masterctx/masterctx.h"
#include "master/api.h"
#include "runners/lib/ask.h"
#include "runners/lib/fleet.h"
#include "salt/plugin.h"

/* Only minions that returned are in the return. */
static int
salt_execute(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *arg = fleet_args(value_get(args, "arg"), value_get(args, "kwarg"));
    json_auto_t *minions = ask_execute(ctx, value_get(args, "tgt"), value_str(args, "tgt_type", "glob"),
                                       value_str(args, "fun", ""), arg, value_int(args, "timeout", 0), err);

    if (minions == NULL)
        return -EIO;
    *ret_value = ask_returns(minions);
    return 0;
}

/* ---- on the master ------------------------------------------------------------------------------------- */

/* Events of the inner context go to the runner's bus. */
static int
fire_on(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    return ctx_fire(cookie, tag, data, err);
}

/* The function's own arguments, and whether it shall see a pillar. NEW. */
static json_t *
cmd_arguments(const json_t *args, bool *ret_pillar)
{
    json_t *list = json_copy(value_get(args, "args")), *kwargs = json_object(), *v;
    const char *key;

    json_object_foreach (value_get(args, "kwargs"), key, v)
        if (!str_starts(key, "__"))
            json_object_set(kwargs, key, v);
    *ret_pillar = value_bool(kwargs, "with_pillar", false);
    json_object_del(kwargs, "with_pillar");
    if (json_object_size(kwargs) > 0) {
        json_object_set_new(kwargs, "__kwarg__", json_true());
        json_array_append(list, kwargs);
    }
    json_decref(kwargs);
    return list;
}

/* Runs an execution function in the master, with a context of its own; its retcode becomes the runner's. */
static int
salt_cmd(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool with_pillar;
    json_auto_t *list = cmd_arguments(args, &with_pillar), *none = json_object();
    masterctx_env_t env = { .tables = api_host(api_of(ctx)),
                            .opts = ctx_opts(ctx),
                            .jid = ctx_jid(ctx),
                            .pillar = with_pillar ? NULL : none,
                            .peer = api_peer(api_of(ctx)),
                            .fire = fire_on,
                            .cookie = ctx,
                            .request = api_request_of,
                            .private_data = api_of(ctx) };
    AUTO(masterctx) master = masterctx_new(&env);
    call_ctx_t *own = masterctx_ctx(master);
    int rc = call_function(own, value_str(args, "fun", ""), list, NULL, ret_value, err);

    if (rc == 0)
        ctx_set_retcode(ctx, ctx_retcode(own));
    return rc;
}

static const arg_t cmd_args[] = { ARG("fun", ARG_STR, ARG_REQUIRED, "Execution function"),
                                  ARG("args", ARG_LIST, ARG_STAR, "Its positional arguments"),
                                  ARG("kwargs", ARG_DICT, ARG_STARSTAR, "Its keyword arguments; with_pillar"),
                                  ARGS_END };
static const arg_t execute_args[] = {
    ARG("tgt", ARG_ANY, ARG_REQUIRED, "Which minions"),
    ARG("fun", ARG_STR, ARG_REQUIRED, "Execution function"),
    ARG("arg", ARG_ANY, "[]", "Its positional arguments"),
    ARG("timeout", ARG_INT, "null", "Seconds without news after which to stop waiting"),
    ARG("tgt_type", ARG_STR, "\"glob\"", "How tgt is meant"),
    ARG("ret", ARG_STR, "\"\"", "Accepted for Salt's sake"),
    ARG("jid", ARG_STR, "\"\"", "Accepted for Salt's sake: the master picks the jid"),
    ARG("kwarg", ARG_DICT, "null", "Its keyword arguments"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "Accepted for Salt's sake"),
    ARGS_END
};

static const func_t funcs[] = {
    { "cmd", salt_cmd, cmd_args, FN_ACCESS_ADMIN,
      "Run the execution function ``fun`` on the master itself.\n\nwith_pillar : False\n    Compile the "
      "master's own pillar for it." CLI_EXAMPLE(
          "salt-run salt.cmd test.ping\n    salt-run salt.cmd test.arg 1 2 3 key=value a=1") },
    { "execute", salt_execute, execute_args, FN_ACCESS_ADMIN,
      "Run ``fun`` on all minions that ``tgt`` and ``tgt_type`` match, and return what they "
      "return." CLI_EXAMPLE(
          "salt-run salt.execute '*' test.ping\n    salt-run salt.execute web1 cmd.run arg='[\"ls\"]' "
          "kwarg='{\"cwd\": \"/\"}'"),
      ABSENT("fun",
             "No minion of the target has returned '{}'; 'salt-run manage.status' tells which are up") },
};

PLUGIN(runner, salt, .doc = "Run functions on minions, or on the master", FUNCS(funcs));
