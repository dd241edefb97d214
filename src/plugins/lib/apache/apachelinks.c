/* apachelinks.c - see apachelinks.h. */
#include "plugins/lib/apache/apachelinks.h"

#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

int
apachelinks_state(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const apachelinks_t *w = ctx_row(ctx)->data.ptr;
    json_t *ret = *ret_value = state_ret_args(args), *name = value_get(args, "name");
    const char *text = value_str(args, "name", ""), *verb = w->enables ? "enable" : "disable";
    int enabled = sub_call_bool(ctx, err, w->check, "{s:O}", w->argument, name);

    if (enabled < 0)
        return enabled;
    if ((enabled > 0) == w->enables)
        return state_ret_set(ret, STATE_TRUE, "%s already %sd.", text, verb);
    if (!ctx_test(ctx)) {
        json_auto_t *did = sub_call(ctx, err, w->change, "{s:O}", w->argument, name);
        const char *status = value_str(did, "Status", NULL);
        if (did == NULL)
            return err->code;
        if (status == NULL)
            return state_ret_set(ret, STATE_FALSE, "Failed to %s %s Apache %s", verb, text, w->what);
        if (strstr(status, w->enables ? "enabled" : "disabled") == NULL)
            return state_ret_set(ret, STATE_FALSE, "Failed to %s %s Apache %s (%s)", verb, text, w->what,
                                 status);
    }
    state_change(ret, "old", w->enables ? json_null() : json_incref(name));
    state_change(ret, "new", w->enables ? json_incref(name) : json_null());
    if (ctx_test(ctx))
        state_ret_set(ret, STATE_NONE, "Apache %s %s is set to be %sd.", w->what, text, verb);
    return 0;
}
