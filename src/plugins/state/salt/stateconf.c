/* stateconf.c - state module `stateconf`: states that do nothing, for the renderer of that name. They hold an
 * SLS file's settings and are its start and its goal, which others require. */
#include "salt/state.h"

static int
stateconf_set(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    return state_ret_set(*ret_value, STATE_TRUE, "%s", "");
}

static const arg_t stateconf_args[] = { ARG("name", ARG_ANY, ARG_REQUIRED, "What to call it"),
                                        ARG("kwargs", ARG_ANY, ARG_STARSTAR, "The settings"), ARGS_END };

static const func_t funcs[] = {
    { "context", stateconf_set, stateconf_args, 0, "The same as stateconf.set." },
    { "set", stateconf_set, stateconf_args, 0, "Do nothing: the renderer stateconf reads the settings." },
};

PLUGIN(state, stateconf, .doc = "States of the renderer stateconf", FUNCS(funcs));
