/* metrics.c - runner `metrics`: the figures that salt-api shows to Prometheus. */
#include "runners/lib/ask.h"
#include "salt/plugin.h"
#include "salt/value.h"

static int
metrics_show(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *fields = json_pack("{s:b}", "minions", value_bool(args, "minions", false));
    json_auto_t *reply = ask_master_with(ctx, "metrics", &fields, err);

    if (reply == NULL)
        return err->code;
    *ret_value = json_incref(value_get(reply, "text"));
    return 0;
}

static const arg_t show_args[] = { ARG("minions", ARG_BOOL, "false", "Rows of each minion, too"), ARGS_END };

static const func_t funcs[] = {
    { "show", metrics_show, show_args, FN_READONLY | FN_ACCESS_READ,
      "Return what the master counts, as text for Prometheus.\n\nsalt-api shows it at ``/metrics``." CLI_EXAMPLE(
          "salt-run metrics.show --out=newline_values_only") },
};

PLUGIN(runner, metrics, .doc = "Figures of the master for Prometheus", FUNCS(funcs));
