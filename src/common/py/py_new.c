/* py_new.c - constructors, and the end of values. Freeing nested containers is recursive up to FREE_DEPTH;
 * deeper ones are queued and freed by the outermost call, so deep nesting cannot exhaust the stack. */
#include "common/py/py_methods.h"
#include "common/py/py_as.h"

/* Reference count of values that are never freed; and the depth from which containers are freed later instead
 * of by recursion. */
enum { NEVER = -1, FREE_DEPTH = 100 };

py_t py_none_ = { NEVER, PY_NONE, 0, 0 };
py_t py_true_ = { NEVER, PY_BOOL, 0, 1 };
py_t py_false_ = { NEVER, PY_BOOL, 0, 0 };

/* ---- scalars --------------------------------------------------------------------------------- */

py_t *
py_bool(bool v)
{
    return v ? PY_True : PY_False;
}

py_t *
py_float(double d)
{
    pyfloat_t *v = py_new(sizeof(*v), PY_FLOAT);

    v->d = d;
    return &v->h;
}

double
py_float_value(const py_t *v)
{
    return ((const pyfloat_t *) v)->d;
}

py_t *
py_range(int64_t start, int64_t stop, int64_t step)
{
    pyrange_t *v = py_new(sizeof(*v), PY_RANGE);

    salt_assert(step != 0);
    *v = (pyrange_t){ v->h, start, step, 0, stop };
    /* The distance may need all 64 bits, hence unsigned arithmetic. */
    if (step > 0 && start < stop)
        v->n = (int64_t) (((uint64_t) stop - (uint64_t) start - 1) / (uint64_t) step) + 1;
    else if (step < 0 && start > stop)
        v->n = (int64_t) (((uint64_t) start - (uint64_t) stop - 1) / (-(uint64_t) step)) + 1;
    return &v->h;
}

py_t *
py_slice(py_t *start, py_t *stop, py_t *step)
{
    pyslice_t *v = py_new_held(sizeof(*v), PY_SLICE);

    v->start = py_ref(start);
    v->stop = py_ref(stop);
    v->step = py_ref(step);
    return &v->held.h;
}

/* ---- lists and tuples ------------------------------------------------------------------------ */

py_t *
py_list(void)
{
    pylist_t *v = py_new_held(sizeof(*v), PY_LIST);

    v->n = v->cap = 0;
    v->v = NULL;
    return &v->held.h;
}

void
py_append_new(py_t *list, py_t *item)
{
    pylist_t *l = py_as_list(list);

    if (l->n == l->cap) {
        size_t cap = py_next_cap(l->cap, sizeof(*l->v));
        l->v = l->v == NULL ? py_alloc(cap * sizeof(*l->v))
                            : py_resize(l->v, l->cap * sizeof(*l->v), cap * sizeof(*l->v));
        l->cap = cap;
    }
    l->v[l->n++] = item;
}

void
py_append(py_t *list, py_t *item)
{
    py_append_new(list, py_ref(item));
}

py_t *
py_tuple(size_t n)
{
    pytuple_t *v = py_new_held(sizeof(*v) + n * sizeof(py_t *), PY_TUPLE);

    v->n = n;
    for (size_t i = 0; i < n; i++)
        v->v[i] = PY_None;
    return &v->held.h;
}

py_t *
py_tuple_of(size_t n, ...)
{
    py_t *v = py_tuple(n);
    va_list ap;

    va_start(ap, n);
    for (size_t i = 0; i < n; i++)
        py_as_tuple(v)->v[i] = py_ref(va_arg(ap, py_t *));
    va_end(ap);
    return v;
}

py_t *
py_group(py_t *grouper, py_t *list)
{
    py_t *v = py_tuple_of(2, grouper, list);

    v->flags |= PY_F_GROUP;
    return v;
}

bool
py_is_group(const py_t *v)
{
    return py_is(v, PY_TUPLE) && (v->flags & PY_F_GROUP) != 0;
}

void
py_tuple_set(py_t *tuple, size_t i, py_t *item)
{
    py_t *old = py_as_tuple(tuple)->v[i];

    py_as_tuple(tuple)->v[i] = py_ref(item);
    py_unref(old);
}

size_t
py_seq_len(const py_t *v)
{
    return py_is(v, PY_LIST) ? py_as_list(v)->n : py_as_tuple(v)->n;
}

py_t *
py_seq_at(const py_t *v, size_t i)
{
    salt_assert(i < py_seq_len(v));
    return py_is(v, PY_LIST) ? py_as_list(v)->v[i] : py_as_tuple(v)->v[i];
}

py_t *
py_namespace(void)
{
    pyns_t *v = py_new_held(sizeof(*v), PY_NAMESPACE);

    v->dict = py_dict();
    return &v->held.h;
}

py_t *
py_namespace_dict(const py_t *ns)
{
    return ((const pyns_t *) ns)->dict;
}

/* ---- what a value holds ---------------------------------------------------------------------- */

static void
walk_seq(py_t *const *v, size_t n, py_visit_fn *visit, void *cookie)
{
    for (size_t i = 0; i < n; i++)
        visit(v[i], cookie);
}

static void
walk_data(py_walk_fn *walk, void *data, py_visit_fn *visit, void *cookie)
{
    if (walk != NULL && data != NULL)
        walk(data, visit, cookie);
}

void
py_walk_held(py_t *v, py_visit_fn *visit, void *cookie)
{
    pyslice_t *slice = (pyslice_t *) v;
    pyfunc_t *func = (pyfunc_t *) v;
    pyundef_t *undef = (pyundef_t *) v;
    const pydict_t *dict = (const pydict_t *) v;

    switch (py_type(v)) {
    case PY_LIST:
        walk_seq(py_as_list(v)->v, py_as_list(v)->n, visit, cookie);
        break;
    case PY_TUPLE:
        walk_seq(py_as_tuple(v)->v, py_as_tuple(v)->n, visit, cookie);
        break;
    case PY_DICT:
    case PY_SET:
        for (size_t i = 0; i < dict->fill; i++) {
            if (dict->entries[i].key == NULL) /* deleted */
                continue;
            visit(dict->entries[i].key, cookie);
            visit(dict->entries[i].value, cookie);
        }
        break;
    case PY_SLICE:
        visit(slice->start, cookie);
        visit(slice->stop, cookie);
        visit(slice->step, cookie);
        break;
    case PY_VIEW:
        visit(((pyview_t *) v)->dict, cookie);
        break;
    case PY_GEN:
        walk_data(((pygen_t *) v)->cls->walk, ((pygen_t *) v)->data, visit, cookie);
        break;
    case PY_FUNC:
        visit(func->self, cookie);
        walk_data(func->cls != NULL ? func->cls->walk : NULL, func->data, visit, cookie);
        break;
    case PY_NAMESPACE:
        visit(((pyns_t *) v)->dict, cookie);
        break;
    case PY_UNDEFINED:
        visit(undef->obj, cookie);
        visit(undef->name, cookie);
        break;
    case PY_HOST:
        walk_data(((pyhost_t *) v)->cls->walk, ((pyhost_t *) v)->data, visit, cookie);
        break;
    default:
        break;
    }
}

/* The pointer is cleared first, so that free_data may lead back here. */
static void
drop_data(void (*free_data)(void *), void **data)
{
    void *old = *data;

    *data = NULL;
    if (free_data != NULL && old != NULL)
        free_data(old);
}

/* The list is emptied before its items are released, as their release may lead back to it. */
static void
drop_list(pylist_t *l)
{
    py_t **v = l->v;
    size_t n = l->n, cap = l->cap;

    l->v = NULL;
    l->n = l->cap = 0;
    for (size_t i = n; i-- > 0;)
        py_unref(v[i]);
    if (v != NULL)
        py_release(v, cap * sizeof(*v));
}

/* Each case detaches before it releases: releasing may run code that looks at `v`. */
void
py_drop_held(py_t *v)
{
    pyslice_t *slice = (pyslice_t *) v;
    pyfunc_t *func = (pyfunc_t *) v;
    pygen_t *gen = (pygen_t *) v;
    pyhost_t *host = (pyhost_t *) v;
    pyundef_t *undef = (pyundef_t *) v;

    switch (py_type(v)) {
    case PY_LIST:
        drop_list(py_as_list(v));
        break;
    case PY_TUPLE:
        for (size_t i = 0; i < py_as_tuple(v)->n; i++)
            py_tuple_set(v, i, PY_None);
        break;
    case PY_DICT:
    case PY_SET:
        py_dict_clear(v);
        break;
    case PY_SLICE:
        py_destroy(&slice->start);
        py_destroy(&slice->stop);
        py_destroy(&slice->step);
        break;
    case PY_VIEW:
        py_destroy(&((pyview_t *) v)->dict);
        break;
    case PY_GEN:
        drop_data(gen->cls->free, &gen->data);
        break;
    case PY_FUNC:
        py_destroy(&func->self);
        drop_data(func->cls != NULL ? func->cls->free : NULL, &func->data);
        break;
    case PY_NAMESPACE:
        py_destroy(&((pyns_t *) v)->dict);
        break;
    case PY_UNDEFINED:
        py_destroy(&undef->obj);
        py_destroy(&undef->name);
        free(STEAL(undef->hint));
        break;
    case PY_HOST:
        drop_data(host->cls->free, &host->data);
        break;
    default:
        break;
    }
}

/* ---- the end of a value ---------------------------------------------------------------------- */

static size_t
py_new_size_of(const py_t *v)
{
    static const size_t fixed[PY_TYPES] = {
        [PY_NONE] = sizeof(py_t),           [PY_BOOL] = sizeof(py_t),       [PY_FLOAT] = sizeof(pyfloat_t),
        [PY_LIST] = sizeof(pylist_t),       [PY_SET] = sizeof(pydict_t),    [PY_DICT] = sizeof(pydict_t),
        [PY_RANGE] = sizeof(pyrange_t),     [PY_SLICE] = sizeof(pyslice_t), [PY_VIEW] = sizeof(pyview_t),
        [PY_GEN] = sizeof(pygen_t),         [PY_FUNC] = sizeof(pyfunc_t),   [PY_NAMESPACE] = sizeof(pyns_t),
        [PY_UNDEFINED] = sizeof(pyundef_t), [PY_HOST] = sizeof(pyhost_t),
    };

    switch (py_type(v)) {
    case PY_INT:
        return sizeof(pybig_t) + (size_t) abs(((const pybig_t *) v)->n) * sizeof(mp_limb_t);
    case PY_STR:
    case PY_BYTES:
        return sizeof(pystr_t) + PY_LEN(v) + 1;
    case PY_TUPLE:
        return sizeof(pytuple_t) + ((const pytuple_t *) v)->n * sizeof(py_t *);
    default:
        return fixed[py_type(v)];
    }
}

static _Thread_local struct {
    int depth;
    pyheld_t *later; /* containers nested too deeply to free within each other */
} freeing;

static void
free_held(pyheld_t *v)
{
    freeing.depth++;
    py_drop_held(&v->h);
    freeing.depth--;
    py_release(v, py_new_size_of(&v->h));
}

/* Beyond a certain depth values are put on a list and freed later, so that a deeply nested value does not
 * overflow the stack. */
void
py_free_(py_t *v)
{
    if (v->type < PY_LIST || v->type == PY_RANGE) {
        if ((v->type == PY_STR || v->type == PY_BYTES) && ((pystr_t *) v)->peer != NULL)
            py_peer_free(((pystr_t *) v)->peer);
        py_release(v, py_new_size_of(v));
        return;
    }

    py_unlink((pyheld_t *) v);
    if (freeing.depth >= FREE_DEPTH) {
        ((pyheld_t *) v)->next = freeing.later;
        freeing.later = (pyheld_t *) v;
        return;
    }
    free_held((pyheld_t *) v);
    while (freeing.depth == 0 && freeing.later != NULL) {
        pyheld_t *next = freeing.later;
        freeing.later = next->next;
        free_held(next);
    }
}
