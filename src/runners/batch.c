/* batch.c - runner `batch`: batches that the master drives, begun by `salt --batch --async`. */
#include "common/base/str.h"
#include "runners/lib/ask.h"
#include "salt/plugin.h"

/* NEW: the batches of the request's reply, all or that of one jid. */
static json_t *
batches_of(call_ctx_t *ctx, const char *jid, fail_t *err)
{
    json_t *fields = json_pack("{s:s}", "jid", jid);
    json_auto_t *reply = ask_master_with(ctx, "batch", &fields, err);

    return reply != NULL ? json_incref(value_get(reply, "batches")) : NULL;
}

static int
batch_list_active(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = batches_of(ctx, "", err);
    return *ret_value != NULL ? 0 : -EIO;
}

static int
batch_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *jid = value_str(args, "jid", "");
    json_auto_t *all = batches_of(ctx, jid, err);

    if (all == NULL)
        return -EIO;
    if (json_is_null(json_array_get(all, 0)) || str_empty(jid))
        return fail_kind(err, FAIL_COMMAND, -ENOENT,
                         "there is no batch with the jid '%s'; those under way: salt-run batch.list_active",
                         jid);
    *ret_value = json_incref(json_array_get(all, 0));
    return 0;
}

static int
batch_stop(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *jid = value_str(args, "jid", "");
    json_t *fields = json_pack("{s:s}", "jid", jid);
    json_auto_t *reply = ask_master_with(ctx, "batch_stop", &fields, err), *answer = NULL;
    json_t *active = value_get(reply, "active");

    if (reply == NULL)
        return -EIO;
    *ret_value = json_boolean(value_bool(reply, "stopped", false));
    if (!value_bool(args, "kill", false) || json_array_size(active) == 0)
        return 0;
    json_auto_t *arg = json_pack("[s]", jid);
    answer = ask_execute(ctx, active, "list", "saltutil.kill_job", arg, 0, err);
    if (answer == NULL)
        return -EIO;
    /* The batch is stopped in any case; where the job could not be killed, it goes on. */
    json_auto_t *told = ask_returns(answer);
    if (json_object_size(told) < json_array_size(active))
        return fail_kind(
            err, FAIL_COMMAND, -ETIMEDOUT,
            "the batch begins no more minions, but of %zu that have the job only %zu answered to "
            "the request to kill it",
            json_array_size(active), json_object_size(told));
    return 0;
}

static const arg_t status_args[] = { ARG("jid", ARG_STR, ARG_REQUIRED, "Id of the batch's job"), ARGS_END };
static const arg_t stop_args[] = {
    ARG("jid", ARG_STR, ARG_REQUIRED, "Id of the batch's job"),
    ARG("kill", ARG_BOOL, "false", "Kill the job on the minions that have it, too"), ARGS_END
};

static const func_t funcs[] = {
    { "list_active", batch_list_active, NULL, FN_READONLY | FN_HISTORY | FN_ACCESS_READ,
      "List the batches that the master drives and that are under way." CLI_EXAMPLE(
          "salt --batch-size 2 --async '*' test.version\n    salt-run batch.list_active") },
    { "status", batch_status, status_args, FN_READONLY | FN_HISTORY | FN_ACCESS_READ,
      "Print how far a batch is that the master drives: how many minions there are, have it, and have done it." CLI_EXAMPLE(
          "salt-run batch.status 20240610120000000000") },
    { "stop", batch_stop, stop_args, FN_ACCESS_ADMIN,
      "Let a batch begin no more of its minions. Those that have the job finish it." CLI_EXAMPLE(
          "salt-run batch.stop 20240610120000000000\n    salt-run batch.stop 20240610120000000000 kill=True") },
};

PLUGIN(runner, batch, .doc = "Batches that the master drives", FUNCS(funcs));
