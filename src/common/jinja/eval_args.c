/* eval_args.c - evaluates the arguments of a call, with * and **.
 *
 * The first arguments live in the jcallargs_t itself, more in memory that counts against the limit of values.
 * Error texts name jinja2's sandbox call, since its compiled templates show that. */
#include "common/jinja/args.h"
#include "common/jinja/eval.h"
#include "common/py/py_mem.h"

static const char caller_of[] = "jinja2.sandbox.SandboxedEnvironment.call()";

/* Array memory that counts against the limit of values. */
static py_t **
larger(py_t **v, size_t cap, size_t wanted)
{
    return v == NULL ? py_alloc(wanted * sizeof(*v)) : py_resize(v, cap * sizeof(*v), wanted * sizeof(*v));
}

static void
drop_array(py_t **v, size_t cap)
{
    if (v != NULL)
        py_release(v, cap * sizeof(*v));
}

/* Appends a positional argument. TAKES `v`. */
static void
add_pos(jcallargs_t *a, py_t *v)
{
    if (a->n == a->cap) {
        size_t cap = py_next_cap(a->cap, sizeof(py_t *));
        py_t **more = larger(a->v != a->room ? a->v : NULL, a->cap, cap);
        if (a->v == a->room)
            memcpy(more, a->v, a->n * sizeof(py_t *));
        a->v = more;
        a->cap = cap;
    }
    a->v[a->n++] = v;
}

/* Appends a keyword argument. TAKES both. The two arrays always have the same capacity. */
void
jargs_add_kw(jcallargs_t *a, py_t *name, py_t *v)
{
    if (a->nkw == a->capkw) {
        size_t cap = py_next_cap(a->capkw, sizeof(py_t *));
        a->names = larger(a->names, a->capkw, cap);
        a->kwv = larger(a->kwv, a->capkw, cap);
        a->capkw = cap;
    }
    a->names[a->nkw] = name;
    a->kwv[a->nkw++] = v;
}

/* `*v`: any iterable, read with a step per element. 0, or -1 raised. */
static int
add_star(jrun_t *r, const jnode_t *node, jcallargs_t *a)
{
    AUTO(py) v = jeval(r, node);
    if (v == NULL)
        return -1;
    py_iter_t it;
    if (!py_iterable(v) && !py_is(v, PY_UNDEFINED))
        return py_raise_int(&py_TypeError, "%s argument after * must be an iterable, not %s", caller_of,
                            py_type_name(v));
    if (py_iter_start(&it, v) < 0)
        return -1;
    for (py_t *item; py_tick() == 0 && (item = py_iter_next(&it)) != NULL;)
        add_pos(a, item);
    py_iter_end(&it);
    return py_raised() != NULL ? -1 : 0;
}

/* `**v`: a dict with text keys; a keyword that was given already is an error. 0, or -1 raised. */
static int
add_starkw(jrun_t *r, const jnode_t *node, jcallargs_t *a)
{
    AUTO(py) v = jeval(r, node);
    if (v == NULL)
        return -1;
    if (!py_is(v, PY_DICT))
        return py_raise_int(&py_TypeError, "%s argument after ** must be a mapping, not %s", caller_of,
                            py_type_name(v));
    py_t *key, *value;
    for (size_t i = 0; py_dict_next(v, &i, &key, &value);) {
        if (!py_is(key, PY_STR))
            return py_raise_int(&py_TypeError, "keywords must be strings");
        for (size_t k = 0; k < a->nkw; k++)
            if (py_eq(a->names[k], key) > 0)
                return py_raise_int(&py_TypeError, "%s got multiple values for keyword argument '%s'",
                                    caller_of, py_cstr(key));
        jargs_add_kw(a, py_ref(key), py_ref(value));
        if (py_tick() < 0)
            return -1;
    }
    return 0;
}

/* Order of evaluation as in Python: positional, keywords, *, **. */
int
jargs_eval(jrun_t *r, const jargs_t *args, py_t *first, jcallargs_t *a)
{
    a->v = a->room;
    a->n = a->nkw = a->capkw = 0;
    a->cap = NELEMS(a->room);
    a->names = a->kwv = NULL;
    if (first != NULL)
        add_pos(a, first);
    for (size_t i = 0; i < args->pos.n; i++) {
        py_t *v = jeval(r, args->pos.v[i]);
        if (v == NULL)
            return -1;
        add_pos(a, v);
    }
    for (size_t i = 0; i < args->nkw; i++) {
        py_t *v = jeval(r, args->values[i]);
        if (v == NULL)
            return -1;
        jargs_add_kw(a, py_ref(args->names[i]->str), v);
    }
    if (args->star != NULL && add_star(r, args->star, a) < 0)
        return -1;
    return args->starkw != NULL ? add_starkw(r, args->starkw, a) : 0;
}

void
jargs_free(jcallargs_t *a)
{
    for (size_t i = 0; i < a->n; i++)
        py_unref(a->v[i]);
    for (size_t i = 0; i < a->nkw; i++) {
        py_unref(a->names[i]);
        py_unref(a->kwv[i]);
    }
    if (a->v != a->room)
        drop_array(a->v, a->cap);
    drop_array(a->names, a->capkw);
    drop_array(a->kwv, a->capkw);
}
