/* status.c - state module `status`: load and processes of the machine, watched. Nothing is changed; "data" of
 * the return has what was looked at. A bound of 0 counts as none, as in Salt. */
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* A number of the SLS or of the module, which may be a text. */
static double
status_number(const json_t *v)
{
    AUTO_FREE char *text = value_pystr(v);

    return strtod(text, NULL);
}

/* A bound of 0 counts as none, as in Salt. */
static int
state_loadavg(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    json_t *high = value_get(args, "maximum"), *low = value_get(args, "minimum");
    const char *name = value_str(args, "name", "");
    json_auto_t *all = sub_call(ctx, err, "status.loadavg", NULL);
    json_t *now = value_get(all, name);

    if (all == NULL)
        return err->code;
    json_object_set_new(ret, "data", json_object());
    if (now == NULL)
        return state_ret_set(ret, STATE_FALSE, "Requested load average %s not available ", name);
    bool from = value_truthy(low), to = value_truthy(high);
    AUTO_FREE char *least = value_pystr(low), *most = value_pystr(high), *cap = value_pystr(now);
    if (from && to && status_number(low) >= status_number(high))
        return state_ret_set(ret, STATE_FALSE, "Min must be less than max");
    json_object_set(ret, "data", now);
    if (from && status_number(now) < status_number(low))
        return state_ret_set(ret, STATE_FALSE, "Load avg is below minimum of %s at %s", least, cap);
    if (to && status_number(now) > status_number(high))
        return state_ret_set(ret, STATE_FALSE, "Load avg above maximum of %s at %s", most, cap);
    return state_ret_set(ret, STATE_TRUE, "Load avg in acceptable range");
}

/* The data of the state is what pgrep found, or an empty object. */
static int
status_process(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    json_auto_t *pids = sub_call(ctx, err, "status.pid", "{s:s}", "sig", name);

    if (pids == NULL)
        return err->code;
    json_object_set_new(ret, "data", value_truthy(pids) ? json_incref(pids) : json_object());
    return state_ret_set(ret, value_truthy(pids) ? STATE_TRUE : STATE_FALSE,
                         "Process signature \"%s\" %sfound ", name, value_truthy(pids) ? "was " : "not ");
}

static const arg_t loadavg_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Which: 1-min, 5-min, 15-min"),
    ARG("maximum", ARG_ANY, "null", "No more than this"),
    ARG("minimum", ARG_ANY, "null", "No less than this"),
    ARGS_END,
};
static const arg_t process_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "A regular expression of its line in ps"), ARGS_END
};

static const func_t funcs[] = {
    { "loadavg", state_loadavg, loadavg_args, FN_READONLY, "Ensure that a load average is between bounds." },
    { "process", status_process, process_args, FN_READONLY, "Ensure that a process runs." },
};

PLUGIN(state, status, .doc = "Load and processes, watched", FUNCS(funcs));
