/* follower.c - runner `follower`: how the followers of the journal fare, which store events and returns
 * elsewhere (event_return, master_job_cache). */
#include "runners/lib/ask.h"
#include "salt/plugin.h"

static int
follower_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *reply = ask_master(ctx, "status", err);

    if (reply == NULL)
        return -EIO;
    *ret_value = json_incref(value_get(reply, "followers"));
    return 0;
}

static const func_t funcs[] = {
    { "status", follower_status, NULL, FN_ACCESS_READ | FN_READONLY | FN_HISTORY,
      "Show the processes that store events and returns elsewhere, by name: the event up to which all that it wants is stored (``seq``), "
      "how many events have come since, which it has to look at or to store (``behind``; 0 when it wants none of them), its process (``pid``), how often it was started, why it fails, if it "
      "does, and what an event has said of it (``told``) until another says that it is over." CLI_EXAMPLE(
          "salt-run follower.status") },
};

PLUGIN(runner, follower, .doc = "Processes that store events and returns elsewhere", FUNCS(funcs));
