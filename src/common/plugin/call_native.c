/* call_native.c - calls between functions that take Python's values (FN_NATIVE) and those that take JSON.
 *
 * Values of another machine carry marks (py_peer.h), which JSON can't express. When a template calls a JSON
 * function, its arguments stay reachable with their marks (ctx->said), and the return is marked if the
 * function's flags say that it comes from a peer. */
#include "common/plugin/ctx.h"
#include "common/py/py_json.h"
#include "common/py/py_as.h"
#include "common/py/py_peer.h"
#include "common/py/py_wire.h"
#include "salt/state.h"

/* Mark the return as a peer's if the function's flags say so. TAKES, may be NULL; NEW. */
static py_t *
native_said(call_ctx_t *ctx, const func_t *f, py_t *value)
{
    bool other = (f->flags & FN_PEER) != 0 || ((f->flags & FN_PEER_FILES) != 0 && py_state.peers) ||
                 ((f->flags & FN_PEER_PILLAR) != 0 && py_holds_peer(ctx_native_pillar(ctx)));
    bool own = ctx->env.peer && (f->flags & FN_PEER_GRAINS) != 0;

    return value != NULL && (other || own) ? py_peer(value, other ? 0 : SPAN_OWN) : value;
}

py_t *
ctx_call_native(call_ctx_t *ctx, const char *fun, const py_args_t *args, fail_t *err)
{
    return ctx_call_native_of(ctx, ctx->env.registry, fun, args, err);
}

py_t *
ctx_call_native_of(call_ctx_t *ctx, registry_t *registry, const char *fun, const py_args_t *args, fail_t *err)
{
    const func_t *f = registry_find(registry, ctx, fun, err);

    if (f == NULL)
        return NULL;

    /* A row may answer a call with an undefined value itself. */
    bool undefined = false;
    for (size_t i = 0; i < args->n + args->nkw && !undefined; i++)
        undefined = py_is(i < args->n ? args->v[i] : args->kwv[i - args->n], PY_UNDEFINED);
    const char *said = undefined && f->more != NULL ? f->more->undefined : NULL;
    json_auto_t *answer = said != NULL ? json_loads(said, JSON_DECODE_ANY, NULL) : NULL;
    if (answer != NULL)
        return py_from_json(answer);
    if ((f->flags & FN_NATIVE) != 0) {
        call_note(ctx, fun);
        AUTO(py) bound = bind_native(f, args, err);
        return bound != NULL ? native_said(ctx, f, native_invoke(ctx, f, bound, err)) : NULL;
    }
    json_auto_t *kwargs = json_object();

    /* Makes JSON of the arguments. */
    json_auto_t *list = json_array();
    for (size_t i = 0; i < args->n && py_raised() == NULL; i++)
        json_array_append_new(list, py_to_json(args->v[i]));
    for (size_t i = 0; i < args->nkw && py_raised() == NULL; i++)
        json_object_set_new(kwargs, py_cstr(args->names[i]), py_to_json(args->kwv[i]));

    json_auto_t *value = NULL;
    if (py_raised() != NULL)
        return NULL;
    bool before = ctx->env.peer_args;
    const py_args_t *outer = ctx->said;
    /* JSON loses the marks, so the flag stands for them. */
    for (size_t i = 0; i < args->n + args->nkw && !ctx->env.peer_args; i++)
        ctx->env.peer_args = py_holds_peer(i < args->n ? args->v[i] : args->kwv[i - args->n]);
    ctx->said = args;
    int rc = call_row(ctx, f, fun, list, kwargs, &value, err);
    ctx->env.peer_args = before;
    ctx->said = outer;
    if (rc < 0)
        return NULL;
    return native_said(ctx, f, py_from_json(value));
}

/* ---- marks beside JSON ------------------------------------------------------------------------- */

int
call_said(call_ctx_t *ctx, const char *fun, json_t *args, json_t *kwargs, json_t **ret_value, bool *ret_said,
          fail_t *err)
{
    AUTO(py) list = py_from_json(args);
    AUTO(py) names = py_list();
    AUTO(py) values = py_list();
    const char *key;
    json_t *v;

    json_object_foreach (kwargs, key, v) {
        py_append_new(names, py_strz(key));
        py_append_new(values, py_from_json(v));
    }
    const py_args_t given = { .n = py_seq_len(list),
                              .v = py_as_list(list)->v,
                              .nkw = py_seq_len(names),
                              .names = py_as_list(names)->v,
                              .kwv = py_as_list(values)->v };
    AUTO(py) value = ctx_call_native(ctx, fun, &given, err);
    if (value == NULL && py_raised() != NULL)
        return native_failed(err);
    if (value == NULL)
        return err->code < 0 ? err->code : -EINVAL;
    *ret_value = py_to_json(value);
    *ret_said = py_holds_peer(value);
    return *ret_value != NULL ? 0 : native_failed(err);
}

/* Append the marks of the first text in `v` that equals this one and has marks. True when there is one. */
static bool
add_marks(py_t *v, const char *text, size_t len, spans_t *ret)
{
    py_t *key, *value;
    bool found = false;

    if (py_is(v, PY_STR) && PY_LEN(v) == len && memcmp(PY_TEXT(v), text, len) == 0)
        py_peer_spans(v, ret);
    for (size_t i = 0; (py_is(v, PY_LIST) || py_is(v, PY_TUPLE)) && !found && i < py_seq_len(v); i++)
        found = add_marks(py_seq_at(v, i), text, len, ret);
    for (size_t i = 0; py_is(v, PY_DICT) && !found && py_dict_next(v, &i, &key, &value);)
        found = add_marks(value, text, len, ret);
    return ret->n > 0;
}

void
call_text_spans(call_ctx_t *ctx, const char *text, size_t len, spans_t *ret)
{
    const char *name;
    json_t *wire;

    if (ctx->said != NULL) {
        /* Adds the marks of the first argument that holds the text. */
        const py_args_t *args = ctx->said;
        bool found = false;
        for (size_t i = 0; i < args->n && !found; i++)
            found = add_marks(args->v[i], text, len, ret);
        for (size_t i = 0; i < args->nkw && !found; i++)
            found = add_marks(args->kwv[i], text, len, ret);

        return;
    }
    json_object_foreach (value_get(ctx_chunk(ctx), CHUNK_NATIVES), name, wire) {
        AUTO(py) v = py_from_wire(wire);
        if (add_marks(v, text, len, ret))
            return;
    }
}
