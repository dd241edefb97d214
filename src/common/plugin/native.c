/* native.c - functions that take Python's values (FN_NATIVE): their arguments bound, their calls, and
 * exceptions as failures. */
#include "common/base/str.h"
#include "common/plugin/ctx.h"
#include "common/plugin/place.h"
#include "common/py/py_json.h"

/* The row's value. NEW. */
static py_t *
native_value_of(const places_t *places, const arg_t *row, const py_args_t *args)
{
    size_t at = places->of[row - places->f->args];

    if (row == places->shape.star) {
        /* The values for *args. */
        py_t *list = py_list();
        for (size_t i = places->shape.n_pos; i < places->n; i++)
            py_append_new(list, py_ref(args->v[i]));
        return list;
    }
    if (row == places->shape.starstar) {
        /* The values for **kwargs. */
        py_t *dict = py_dict();
        for (size_t k = 0; k < places->nkw; k++)
            if (places->kw[k].row == NULL)
                py_dict_sets_new(dict, places->kw[k].name, py_ref(args->kwv[k]));
        return dict;
    }
    if (at == NO_PLACE) {
        json_auto_t *dflt = bind_default(row);
        return py_from_json(dflt);
    }
    return py_ref(at < places->n ? args->v[at] : args->kwv[at - places->n]);
}

py_t *
bind_native(const func_t *f, const py_args_t *args, fail_t *err)
{
    PLACES_AUTO places = places_new(f, args->n, args->nkw);

    for (size_t k = 0; k < args->nkw; k++)
        places.kw[k].name = py_cstr(args->names[k]);
    if (places_find(&places, err) < 0)
        return NULL;
    py_t *dict = py_dict();
    for (size_t i = 0; i < places.shape.n; i++)
        py_dict_sets_new(dict, arg_name(&f->args[i]), native_value_of(&places, &f->args[i], args));
    return dict;
}

int
native_failed(fail_t *err)
{
    static const struct {
        const char *type;
        fail_kind_t kind;
    } rows[] = {
        { "CommandExecutionError", FAIL_COMMAND },
        { "SaltInvocationError", FAIL_INVOCATION },
    };
    py_error_t e = PY_ERROR_INIT;
    fail_kind_t kind = FAIL_GENERIC;

    py_take_error(&e);
    for (size_t i = 0; i < NELEMS(rows); i++)
        if (e.type != NULL && str_eq(rows[i].type, e.type->name))
            kind = rows[i].kind;
    int rc = fail_kind(err, kind, -EINVAL, "%s", e.message != NULL ? e.message : "no value");
    py_error_free(&e);
    return rc;
}

py_t *
native_invoke(call_ctx_t *ctx, const func_t *f, py_t *bound, fail_t *err)
{
    const func_t *before;

    if (ctx_enter(ctx, f, &before, err) < 0)
        return NULL;
    py_t *value = ((native_fn *) (void (*)(void)) f->fn)(ctx, bound, err);
    ctx_leave(ctx, before);
    if (value == NULL && py_raised() == NULL)
        (void) fail_set(err, -EINVAL, "%s failed", f->name);
    return value;
}
