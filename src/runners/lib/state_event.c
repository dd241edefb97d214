/* state_event.c - see state_event.h. */
#include "runners/lib/state_event.h"

#include "salt/value.h"

int
state_wait_event(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (value_int(args, "count", -1) < 0 && json_is_null(value_get(args, "timeout")))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "inside the master state.event needs a count or a timeout");
    *ret_value = json_null();
    return watch_run(args, ctx_opts(ctx), NULL, err);
}
