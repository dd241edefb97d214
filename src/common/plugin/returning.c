/* returning.c - see returning.h. */
#include "common/plugin/returning.h"

#include "common/plugin/ctx.h"
#include "common/py/py_json.h"
#include "common/python/userfile.h"

/* The row of a function that is built in, where no user's file has the returner's name. NULL: there is none. */
static const func_t *
returning_find(call_ctx_t *ctx, const char *name, const char *fun, fail_t *err)
{
    AUTO_FREE char *whole = xasprintf("%s.%s", name, fun);
    registry_t *built_in = ctx_registry(ctx, PLUGIN_RETURNER);

    if (built_in == NULL || userfile_is_named(ctx, "returners", name))
        return NULL;
    return registry_find(built_in, ctx, whole, err);
}

bool
returning_is_native(call_ctx_t *ctx, const char *name, const char *fun)
{
    return returning_find(ctx, name, fun, NULL) != NULL;
}

static int
returning_native(call_ctx_t *ctx, const func_t *f, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *bound = bind_python(f, args, NULL, NULL, err);
    json_auto_t *value = NULL;
    const func_t *before;

    if (bound == NULL)
        return -EINVAL;
    int rc = ctx_enter(ctx, f, &before, err);
    if (rc < 0)
        return rc;
    rc = f->fn(ctx, bound, &value, err);
    ctx_leave(ctx, before);
    if (rc < 0)
        return fail_set(err, rc, "%s failed: %s", f->name, strerror(-rc));
    if (ret_value != NULL)
        *ret_value = value != NULL ? STEAL(value) : json_null();
    return 0;
}

static int
returning_python(call_ctx_t *ctx, const char *name, const char *fun, json_t *args, json_t **ret_value,
                 fail_t *err)
{
    const userfile_t what = { .kind = "returners", .module = name, .fun = fun, .log_fails = true };
    AUTO(py) list = py_from_json(args);
    AUTO(py) named = py_dict();
    AUTO(py) said = userfile_call(ctx, &what, list, named, NULL, err);

    if (said == NULL)
        return err->code < 0 ? err->code : fail_set(err, -EINVAL, "%s.%s failed", name, fun);
    json_auto_t *value = py_to_json(said);
    if (value == NULL)
        return native_failed(err);
    if (ret_value != NULL)
        *ret_value = STEAL(value);
    return 0;
}

int
returning_call(call_ctx_t *ctx, const char *name, const char *fun, json_t *args, json_t **ret_value,
               fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    if (value_lists(value_get(ctx_opts(ctx), "disable_returners"), name))
        return fail_kind(err, FAIL_UNAVAILABLE, -EPERM, "disable_returners names it");
    const func_t *f = returning_find(ctx, name, fun, &why);
    return f != NULL ? returning_native(ctx, f, args, ret_value, err)
                     : returning_python(ctx, name, fun, args, ret_value, err);
}

char *
returning_shown(const json_t *write)
{
    const json_t *event = value_get(write, "event"), *ret = value_get(write, "ret");

    if (event != NULL)
        return xasprintf("event %lld '%.200s'", (long long) value_int(write, "seq", 0),
                         value_str(event, "tag", ""));
    if (ret != NULL)
        return xasprintf("the return of '%.200s' in job %.40s", value_str(ret, "id", ""),
                         value_str(ret, "jid", ""));
    return xasprintf("the load of job %.40s", value_str(write, "jid", ""));
}
