/* event.c - runner `event`: puts an event on the master's bus. Data that is false becomes {}. */
#include "runners/lib/ask.h"
#include "salt/plugin.h"

static int
runners_event_send(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *data = value_get(args, "data");
    json_t *fields = json_pack("{s:O, s:o, s:b}", "tag", value_get(args, "tag"), "data",
                               value_truthy(data) ? json_incref(data) : json_object(), "kept", true);
    json_auto_t *reply = ask_master_with(ctx, "fire", &fields, err);

    *ret_value = json_boolean(reply != NULL);
    return reply != NULL ? 0 : -EIO;
}

static const arg_t send_args[] = { ARG("tag", ARG_STR, ARG_REQUIRED, "The event's tag, used as it is"),
                                   ARG("data", ARG_DICT, "null", "The event's data"), ARGS_END };

static const func_t funcs[] = {
    { "send", runners_event_send, send_args, FN_ACCESS_ADMIN,
      "Send an event with this tag and this data. The tag gets no prefix.\n\ntag\n    The tag to "
      "send.\n\ndata\n  "
      "  A dictionary that goes with it." CLI_EXAMPLE(
          "salt-run event.send my/custom/event '{\"foo\": \"bar\"}'") },
};

PLUGIN(runner, event, .doc = "Send events to the master's bus", FUNCS(funcs));
