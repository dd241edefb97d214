/* eventwatch.c - see eventwatch.h. On a terminal events may be watched without end; a job needs a count or a
 * timeout. A reader who has gone ends the watch without an error. */
#include "plugins/lib/salt/eventwatch.h"

#include "salt/value.h"

int
event_watch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool terminal = value_get(ctx_opts(ctx), "__cli") != NULL;

    if (!terminal && value_int(args, "count", -1) < 0 && json_is_null(value_get(args, "timeout")))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "in a job state.event needs a count or a timeout");
    int rc = watch_run(args, ctx_opts(ctx), terminal ? stdout : NULL, err);
    *ret_value = json_null();
    return rc == -EPIPE ? 0 : rc;
}
