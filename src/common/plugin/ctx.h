/* ctx.h - internals of the call context; private to common/plugin.
 *
 * Layer      common/plugin
 * Threads    a context belongs to one thread
 * Tests      tests/unit/common/test_plugin.c
 */
#ifndef COMMON_PLUGIN_CTX_H
#define COMMON_PLUGIN_CTX_H

#include "common/plugin/call.h"

struct call_ctx {
    call_env_t env;
    json_t *opts; /* owned references; NULL until first asked for */
    json_t *grains;
    json_t *pillar;
    py_t *native_grains, *native_pillar;
    json_t *context;
    struct kept *kept; /* attach.c */
    bool test;
    int retcode;
    char *absent;              /* owned: ctx_absent()'s text; NULL: none */
    const call_relay_t *relay; /* NULL: the environment's own callbacks */
    const call_frame_t *frame; /* NULL outside of a state run */
    json_t *nothing;           /* empty values that frame.c returns outside of one */
    const py_args_t *said;     /* the template's arguments of the running function, with their marks */
    int depth;                 /* functions that run inside each other right now */
    const func_t *row;         /* the innermost of them; NULL: none */
};

/* Enter a row's function, of either kind: count the depth and make `f` ctx_row(). -ELOOP when functions nest
 * too deep. *ret_before goes to ctx_leave, which must follow a successful ctx_enter. */
int ctx_enter(call_ctx_t *ctx, const func_t *f, const func_t **ret_before, fail_t *err);
void ctx_leave(call_ctx_t *ctx, const func_t *before);

void ctx_drop_attached(call_ctx_t *ctx);

/* Bind as Python binds: every failure is a TypeError (FAIL_ARGUMENTS). NEW, or NULL. */
json_t *bind_python(const func_t *f, json_t *args, json_t *kwargs, json_t *pub, fail_t *err);
/* The same for a function with FN_NATIVE, from Python's values. NEW dict, or NULL. */
py_t *bind_native(const func_t *f, const py_args_t *args, fail_t *err);
/* Run a native function whose arguments are bound. NEW, or NULL with *err or an exception raised. */
py_t *native_invoke(call_ctx_t *ctx, const func_t *f, py_t *bound, fail_t *err);
/* ctx_call of a function that was found as `fun`. */
int call_row(call_ctx_t *ctx, const func_t *f, const char *fun, json_t *args, json_t *kwargs,
             json_t **ret_value, fail_t *err);
/* Convert the raised exception to *err, in Salt's words. The negative errno. */
int native_failed(fail_t *err);
/* The default of a row that has one, from its JSON. NEW. */
json_t *bind_default(const arg_t *row);

#endif
