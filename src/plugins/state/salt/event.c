/* event.c - state module `event`: sends events to the master in the middle of a run, by the function
 * event.send. Test mode sends nothing. The functions fire_master, send and mod_watch are one; wait does
 * nothing itself and is run as mod_watch by a requisite. */
#include "salt/state.h"

/* Each run of the state fires the event, and each is a change. */
static int
state_event_send(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const keys[] = { "data", "preload", "with_env", "with_grains", "with_pillar" };
    json_auto_t *ret = state_ret_args(args), *tag = json_pack("[O]", value_get(args, "name")), *sent = NULL,
                *kwargs = json_copy(value_get(args, "kwargs"));

    /* event.send gets the declared arguments and all others, which are data. */
    for (size_t i = 0; i < NELEMS(keys); i++)
        json_object_set(kwargs, keys[i], value_get(args, keys[i]));
    /* An event counts as a change, so that others can watch it; the arguments hide it where data is
     * secret. */
    if (value_bool(args, "show_changed", true)) {
        state_change(ret, "tag", json_incref(value_get(args, "name")));
        state_change(ret, "data", json_incref(value_get(args, "data")));
    }
    if (ctx_test(ctx)) {
        (void) state_ret_set(ret, STATE_NONE, "Event would have been fired");
    } else {
        if (ctx_call(ctx, "event.send", tag, kwargs, &sent, err) < 0)
            return -EIO;
        (void) state_ret_set(ret, value_truthy(sent) ? STATE_TRUE : STATE_FALSE, "Event fired");
    }
    *ret_value = json_incref(ret);
    return 0;
}

static int
event_wait(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    return 0;
}

static const arg_t send_args[] = {
    ARG("name", ARG_ANY, ARG_REQUIRED, "The tag"),
    ARG("data", ARG_ANY, "null", "What is sent with it"),
    ARG("preload", ARG_ANY, "null", "More fields of the message"),
    ARG("with_env", ARG_ANY, "false", "Add the environment: True, or a list of names"),
    ARG("with_grains", ARG_ANY, "false", "Add grains: True, or a list of names"),
    ARG("with_pillar", ARG_ANY, "false", "Add pillar values: True, or a list of names"),
    ARG("show_changed", ARG_BOOL, "true", "Show tag and data as changes"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "More data"),
    ARGS_END,
};
static const arg_t wait_args[] = {
    ARG("name", ARG_ANY, ARG_REQUIRED, "The tag"),
    ARG("sfun", ARG_ANY, "null", "The function of the state that watches"),
    ARG("data", ARG_ANY, "null", "What is sent with it"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "fire_master", state_event_send, send_args, 0, "The old name of event.send." },
    { "mod_watch", state_event_send, send_args, 0,
      "Send the event because something watched has changed. Not to be called as a state." },
    { "send", state_event_send, send_args, 0, "Send an event to the master." },
    { "wait", event_wait, wait_args, 0, "Send an event when something watched has changed." },
};

PLUGIN(state, event, .doc = "Events to the master", FUNCS(funcs));
