/* process.c - state module `process`: processes that must not be there, by pgrep(1) and pkill(1) over whole
 * command lines. The change is the list of numbers; a test tells those that would be killed. */
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* The change of a run is what pkill has killed, which may be less than was found. */
static int
process_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *signal = value_get(args, "signal");
    json_auto_t *found = sub_call(ctx, err, "ps.pgrep", "{s:O, s:O, s:b}", "pattern", value_get(args, "name"),
                                  "user", value_get(args, "user"), "full", 1);

    if (found == NULL)
        return err->code;
    if (!value_truthy(found))
        return state_ret_set(ret, STATE_TRUE, "No matching processes running");
    state_change(ret, "killed", json_incref(found));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "%zu processes will be killed", json_array_size(found));
    json_auto_t *done = sub_call(ctx, err, "ps.pkill", "{s:O, s:O, s:O*, s:b}", "pattern",
                                 value_get(args, "name"), "user", value_get(args, "user"), "signal",
                                 value_truthy(signal) ? signal : NULL, "full", 1);
    if (done == NULL)
        return err->code;
    state_change_set(ret, value_truthy(done) ? json_incref(done) : json_object());
    if (!value_truthy(done)) /* it has ended meanwhile */
        return state_ret_set(ret, STATE_TRUE, "No matching processes running");
    return state_ret_set(ret, STATE_TRUE, "Killed %zu processes", json_array_size(value_get(done, "killed")));
}

static const arg_t absent_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Part of the command line"),
    ARG("user", ARG_STR, "null", "Only this user's"),
    ARG("signal", ARG_ANY, "null", "Number of the signal, by default 15"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "absent", process_absent, absent_args, 0, "Ensure that no process with such a command line runs." },
};

PLUGIN(state, process, .doc = "Processes that must not run", FUNCS(funcs));
