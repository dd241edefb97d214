/* native.c - functions that work on Python's values, and both kinds for callers of the other. */
#include "common/base/str.h"
#include "common/plugin/ctx.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"

/* Stands for the n-th Python value while JSON is bound. No default is such a text. */
#define PLACE "\001"

static json_t *
place(size_t n)
{
    return value_fmt(PLACE "%zu", n);
}

/* NEW: what `bound` says, with the Python values back in their places. */
static py_t *
unplace(json_t *bound, const py_args_t *args)
{
    const char *text = json_string_value(bound);

    if (text == NULL || !str_starts(text, PLACE))
        return py_from_json(bound);
    size_t n = strtoul(text + 1, NULL, 10);
    return py_ref(n < args->n ? args->v[n] : args->kwv[n - args->n]);
}

/* *args and **kwargs hold places one level down. */
static py_t *
unplace_row(json_t *bound, const arg_t *row, const py_args_t *args)
{
    const char *key;
    json_t *v;
    size_t i;

    if (row->dflt != NULL && strcmp(row->dflt, ARG_STARSTAR) == 0) {
        py_t *dict = py_dict();
        json_object_foreach (bound, key, v)
            py_dict_sets_new(dict, key, unplace(v, args));
        return dict;
    }
    if (row->dflt != NULL && strcmp(row->dflt, ARG_STAR) == 0) {
        py_t *list = py_list();
        json_array_foreach (bound, i, v)
            py_append_new(list, unplace(v, args));
        return list;
    }
    return unplace(bound, args);
}

static py_t *
native_of_bound(const func_t *f, json_t *bound, const py_args_t *args)
{
    py_t *dict = py_dict();

    for (const arg_t *row = f->args; row != NULL && row->name != NULL; row++)
        py_dict_sets_new(dict, row->name, unplace_row(json_object_get(bound, row->name), row, args));
    return dict;
}

py_t *
bind_native(const func_t *f, const py_args_t *args, fail_t *err)
{
    json_auto_t *pos = json_array(), *kw = json_object();

    for (size_t i = 0; i < args->n; i++)
        json_array_append_new(pos, place(i));
    for (size_t i = 0; i < args->nkw; i++)
        json_object_set_new(kw, py_cstr(args->names[i]), place(args->n + i));
    json_auto_t *bound = bind_python(f, pos, kw, NULL, err);
    return bound != NULL ? native_of_bound(f, bound, args) : NULL;
}

/* Which of Salt's wordings an exception gets. */
static fail_kind_t
kind_of(const char *type)
{
    static const struct {
        const char *type;
        fail_kind_t kind;
    } rows[] = {
        { "CommandExecutionError", FAIL_COMMAND },
        { "SaltInvocationError", FAIL_INVOCATION },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (strcmp(rows[i].type, type) == 0)
            return rows[i].kind;
    }
    return FAIL_GENERIC;
}

int
native_failed(fail_t *err)
{
    py_error_t e = PY_ERROR_INIT;

    py_take_error(&e);
    int rc = fail_kind(err, kind_of(e.type != NULL ? e.type->name : ""), -EINVAL, "%s",
                       e.message != NULL ? e.message : "no value");
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

static json_t *
json_of_args(const py_args_t *args, json_t *kwargs)
{
    json_t *list = json_array();

    for (size_t i = 0; i < args->n && py_raised() == NULL; i++)
        json_array_append_new(list, py_to_json(args->v[i]));
    for (size_t i = 0; i < args->nkw && py_raised() == NULL; i++)
        json_object_set_new(kwargs, py_cstr(args->names[i]), py_to_json(args->kwv[i]));
    return list;
}

static bool
hold_peer(const py_args_t *args)
{
    bool found = false;

    for (size_t i = 0; i < args->n; i++)
        found = found || py_holds_peer(args->v[i]);
    for (size_t i = 0; i < args->nkw; i++)
        found = found || py_holds_peer(args->kwv[i]);
    return found;
}

/* What a function returns is marked where others said it. TAKES, may be NULL; NEW. */
static py_t *
said(call_ctx_t *ctx, const func_t *f, py_t *value)
{
    bool other = (f->flags & FN_PEER) != 0 || ((f->flags & FN_PEER_FILES) != 0 && py_state.peers) ||
                 ((f->flags & FN_PEER_PILLAR) != 0 && py_holds_peer(ctx_native_pillar(ctx)));
    bool own = ctx->env.peer && (f->flags & FN_PEER_GRAINS) != 0;

    return value != NULL && (other || own) ? py_peer(value, other ? 0 : SPAN_OWN) : value;
}

py_t *
ctx_call_native(call_ctx_t *ctx, const char *fun, const py_args_t *args, fail_t *err)
{
    const func_t *f = registry_find(ctx->env.registry, ctx, fun, NULL, err);

    if (f == NULL)
        return NULL;
    if ((f->flags & FN_NATIVE) != 0) {
        call_note(ctx, fun);
        AUTO(py) bound = bind_native(f, args, err);
        return bound != NULL ? said(ctx, f, native_invoke(ctx, f, bound, err)) : NULL;
    }
    json_auto_t *kwargs = json_object();
    json_auto_t *list = json_of_args(args, kwargs);
    json_auto_t *value = NULL;
    if (py_raised() != NULL)
        return NULL;
    bool before = ctx->env.peer_args;
    ctx->env.peer_args = before || hold_peer(args); /* JSON has no marks */
    int rc = ctx_call(ctx, fun, list, kwargs, &value, err);
    ctx->env.peer_args = before;
    if (rc < 0)
        return NULL;
    return said(ctx, f, py_from_json(value));
}
