/* calloutput.c - see calloutput.h. */
#include "minion/calloutput.h"

#include "common/plugin/call.h"
#include "common/py/py_wire.h"
#include "common/python/userfile.h"
#include "salt/log.h"

/* Appends what the function makes of the data, with a line's end. */
static int
calloutput_format(call_ctx_t *ctx, const userfile_t *what, const json_t *data, buf_t *text, fail_t *err)
{
    AUTO(py) args = py_list();
    AUTO(py) kwargs = py_dict();
    size_t len;

    py_append_new(args, py_from_wire(data));
    AUTO(py) said = userfile_call(ctx, what, args, kwargs, NULL, err);
    if (said == NULL)
        return -EINVAL;
    if (!py_is(said, PY_STR))
        return fail_set(err, -EINVAL, "it gave no text but %s", py_type_name(said));
    const char *bytes = py_text(said, &len);
    buf_add(text, bytes, len);
    buf_puts(text, "\n");
    return 0;
}

bool
calloutput_has(json_t *opts, const char *out)
{
    const call_env_t env = { .opts = opts };
    AUTO(call_ctx) ctx = call_ctx_new(&env);

    return userfile_is_named(ctx, "output", out);
}

bool
calloutput_print(const json_t *conf, const char *out, const json_t *data, buf_t *text)
{
    const userfile_t what = { .kind = "output", .module = out, .fun = "output" };
    json_auto_t *opts = conf != NULL ? json_copy((json_t *) conf) : json_object();
    const call_env_t env = { .opts = opts, .id = value_str(opts, "id", "") };
    AUTO(call_ctx) ctx = call_ctx_new(&env);
    fail_auto_t err = FAIL_INIT;

    if (calloutput_format(ctx, &what, data, text, &err) == 0)
        return true;
    if (err.kind != FAIL_UNAVAILABLE || *fail_text(&err) != '\0')
        log_error("outputter %s: %s", out, fail_text(&err));
    return false;
}
