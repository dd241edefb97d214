/* rabbitmq_plugin.c - state module `rabbitmq_plugin`: plugins of a RabbitMQ broker. */
#include "common/base/fs.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* The row's direction: the number is whether the plugin is to be enabled. */
static int
plugin_state(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool on = ctx_row(ctx)->data.number != 0;
    json_t *ret = *ret_value = state_ret_args(args), *runas = value_get(args, "runas");
    const char *name = value_str(args, "name", ""), *word = on ? "enabled" : "disabled";
    int is = sub_call_bool(ctx, err, "rabbitmq.plugin_is_enabled", "{s:s, s:O}", "name", name, "runas",
                           runas);

    if (is >= 0 && (is > 0) == on)
        return state_ret_set(ret, STATE_TRUE, "Plugin '%s' is already %s.", name, word);
    if (is >= 0 && ctx_test(ctx)) {
        state_change_set(ret, json_pack("{s:s, s:s}", "old", on ? "" : name, "new", on ? name : ""));
        return state_ret_set(ret, STATE_NONE, "Plugin '%s' is set to be %s.", name, word);
    }
    json_auto_t *done = is >= 0
                            ? sub_call(ctx, err, on ? "rabbitmq.enable_plugin" : "rabbitmq.disable_plugin",
                                       "{s:s, s:O}", "name", name, "runas", runas)
                            : NULL;
    if (done != NULL) {
        state_change_set(ret, json_pack("{s:s, s:s}", "old", on ? "" : name, "new", on ? name : ""));
        return state_ret_set(ret, STATE_TRUE, "Plugin '%s' was %s.", name, word);
    }
    if (err->kind != FAIL_COMMAND)
        return err->code;
    AUTO_FREE char *why = xstrdup(fail_text(err));
    fail_clear(err);
    return state_ret_set(ret, STATE_FALSE, "Error: %s", why);
}

static const char *
state_rabbitmq_plugin_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("rabbitmqctl");

    return path != NULL ? NULL : "Command not found: rabbitmqctl";
}

static const arg_t plugin_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The plugin"),
                                     ARG("runas", ARG_STR, "null", "User to run rabbitmq-plugins as"),
                                     ARGS_END };

static const func_t funcs[] = {
    { "disabled", plugin_state, plugin_args, 0, "Ensure that a plugin is disabled." },
    { "enabled", plugin_state, plugin_args, 0, "Ensure that a plugin is enabled.", .data.number = 1 },
};

PLUGIN(state, rabbitmq_plugin, .doc = "Plugins of RabbitMQ", FUNCS(funcs),
       .unavailable = state_rabbitmq_plugin_unavailable);
