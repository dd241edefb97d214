/* run.c - call a custom module's function. */
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "common/plugin/place.h"
#include "common/py/py_as.h"
#include "common/py/py_wire.h"
#include "pyhost/pyhost.h"
#include "salt/state.h"

/* The value of a global that a file mentions. NEW. */
static json_t *
global_of(call_ctx_t *ctx, const char *word)
{
    if (str_eq(word, "low"))
        return json_incref(ctx_chunk(ctx));
    if (str_eq(word, "lowstate"))
        return json_incref(ctx_chunks(ctx));
    if (str_eq(word, "running"))
        return json_incref(ctx_running(ctx));
    if (str_eq(word, "instance_id"))
        return json_string(ctx_run_id(ctx));
    if (str_eq(word, "env"))
        return json_string(ctx_saltenv(ctx));
    if (str_eq(word, "jid"))
        return json_string(ctx_jid(ctx));
    return json_null();
}

/* NEW {word: value} of the globals that a file mentions. */
static json_t *
globals_of(call_ctx_t *ctx, const pyfunction_t *f)
{
    json_t *globals = json_object(), *word;
    size_t i;

    json_array_foreach (f->wants, i, word)
        json_object_set_new(globals, json_string_value(word), global_of(ctx, json_string_value(word)));
    return globals;
}

/* The argument as the SLS file has it, where JSON can't say it, or as it is bound. NEW. */
static py_t *
argument_of(call_ctx_t *ctx, const pyfunction_t *f, const char *name, const py_t *args)
{
    py_t *own = f->kind == PYKIND_states ? ctx_native_arg(ctx, name) : NULL;

    return own != NULL ? own : py_ref(py_dict_gets(args, name));
}

/* The task of a call; arguments by the shape of the row. NEW; NULL: raised. */
static json_t *
invoke_task(call_ctx_t *ctx, const pyfunction_t *f, const py_t *args)
{
    const func_t *row = ctx_row(ctx);
    shape_t shape = shape_of(row);
    AUTO(py) bound = py_dict();

    for (const arg_t *a = row->args; a != NULL && a->name != NULL; a++)
        if (a != shape.star && a != shape.starstar)
            py_dict_sets_new(bound, a->name, argument_of(ctx, f, a->name, args));
    json_auto_t *named = py_to_wire(bound);
    json_auto_t *star = shape.star != NULL ? py_to_wire(py_dict_gets(args, shape.star->name)) : json_array();
    json_auto_t *keywords = shape.starstar != NULL ? py_to_wire(py_dict_gets(args, shape.starstar->name))
                                                   : json_object();
    if (named == NULL || star == NULL || keywords == NULL)
        return NULL;
    return json_pack("{s:{s:s, s:s, s:s, s:O, s:O, s:O, s:b, s:o}}", "invoke", "kind", pykind_name(f->kind),
                     "stem", f->stem, "fun", f->name, "bound", named, "star", star, "keywords", keywords,
                     "test", ctx_test(ctx), "globals", globals_of(ctx, f));
}

py_t *
pyhost_run(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    const pyfunction_t *f = pyfunction_of(ctx_row(ctx));
    json_auto_t *task = invoke_task(ctx, f, args);
    json_auto_t *last = task != NULL ? pyhost_task(pyhost_of(ctx), task, err) : NULL;
    int retcode = (int) value_int(last, "retcode", 0);

    if (last == NULL)
        return NULL;
    if (retcode != 0)
        ctx_set_retcode(ctx, retcode);
    return py_from_wire(value_get(last, "done"));
}
