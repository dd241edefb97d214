/* methods_seq.c - methods of list, tuple, range and slice. */
#include "common/py/methods/methods.h"
#include "common/py/py_as.h"

METHOD_OF(m_list_append)
{
    py_append(self, slots[0]);
    return PY_None;
}

METHOD_OF(m_list_clear)
{
    py_drop_held(self);
    return PY_None;
}

METHOD_OF(m_list_copy)
{
    return py_tolist(self);
}

METHOD_OF(m_list_extend)
{
    return py_extend(self, slots[0]) < 0 ? NULL : PY_None;
}

/* An index out of bounds means the nearest end. */
METHOD_OF(m_list_insert)
{
    pylist_t *l = py_as_list(self);
    int64_t i;

    if (py_index(slots[0], &i) < 0)
        return NULL;
    int64_t n = (int64_t) l->n;
    i = i < 0 ? i + n : i;
    i = i < 0 ? 0 : i > n ? n : i;
    py_append(self, slots[1]);
    memmove(l->v + i + 1, l->v + i, (size_t) (n - i) * sizeof(*l->v));
    l->v[i] = slots[1];
    return PY_None;
}

/* Moves the reference from the list to the caller. */
METHOD_OF(m_list_pop)
{
    pylist_t *l = py_as_list(self);
    int64_t i = -1, n = (int64_t) l->n;

    if (slots[0] != NULL && py_index(slots[0], &i) < 0)
        return NULL;
    if (n == 0)
        return py_raise(&py_IndexError, "pop from empty list");
    i = i < 0 ? i + n : i;
    if (i < 0 || i >= n)
        return py_raise(&py_IndexError, "pop index out of range");
    py_t *v = l->v[i];
    l->n--;
    memmove(l->v + i, l->v + i + 1, (l->n - (size_t) i) * sizeof(*l->v));
    return v;
}

/* Position of an equal element from `i` on, -1 when there is none; -2 raised. */
static int64_t
methods_seq_position(py_t *seq, py_t *item, int64_t i, int64_t end)
{
    for (; i < end && i < (int64_t) py_seq_len(seq); i++) {
        py_t *x = py_seq_at(seq, (size_t) i);
        int same = py_tick() < 0 ? -1 : x == item ? 1 : py_eq(x, item);
        if (same != 0)
            return same > 0 ? i : -2;
    }
    return -1;
}

/* The item is released last, since that may run code that uses the list. */
METHOD_OF(m_list_remove)
{
    pylist_t *l = py_as_list(self);
    int64_t i = methods_seq_position(self, slots[0], 0, INT64_MAX);

    if (i == -1)
        return py_raise(&py_ValueError, "list.remove(x): x not in list");
    if (i < 0)
        return NULL;
    py_t *old = l->v[i];
    l->n--;
    memmove(l->v + i, l->v + i + 1, (l->n - (size_t) i) * sizeof(*l->v));
    py_unref(old);
    return PY_None;
}

METHOD_OF(m_list_reverse)
{
    pylist_t *l = py_as_list(self);

    for (size_t i = 0; i < l->n / 2; i++) {
        py_t *t = l->v[i];
        l->v[i] = l->v[l->n - 1 - i];
        l->v[l->n - 1 - i] = t;
    }
    return PY_None;
}

/* Keys of all elements by calling `fn`. NEW list. */
static py_t *
methods_seq_sort_keys(const py_t *list, py_t *fn)
{
    AUTO(py) keys = py_list();

    for (size_t i = 0; i < py_seq_len(list); i++) {
        py_t *item = py_seq_at(list, i);
        const py_args_t one = { 1, &item, 0, NULL, NULL };
        py_t *key = py_call(fn, &one);
        if (key == NULL)
            return NULL;
        py_append_new(keys, key);
    }
    return STEAL(keys);
}

/* Exchanges the items of two lists. During a sort the list is empty, as in CPython, so a key function cannot
 * change what is being sorted. */
static void
swap_items(py_t *a, py_t *b)
{
    pylist_t *x = py_as_list(a), *y = py_as_list(b), t = *x;

    x->n = y->n, x->cap = y->cap, x->v = y->v;
    y->n = t.n, y->cap = t.cap, y->v = t.v;
}

/* The list is empty while it is sorted, as in CPython; a key function that changes it is an error. */
METHOD_OF(m_list_sort)
{
    py_t *fn = slots[0] != NULL && !py_is(slots[0], PY_NONE) ? slots[0] : NULL;
    bool reverse = false;

    if (args->n > 0)
        return py_raise(&py_TypeError, "sort() takes no positional arguments");
    if (py_flag_arg(slots[1], &reverse) < 0)
        return NULL;
    AUTO(py) items = py_list();
    swap_items(self, items);
    AUTO(py) keys = fn != NULL ? methods_seq_sort_keys(items, fn) : NULL;
    int rc = fn != NULL && keys == NULL ? -1 : py_sort(items, keys, reverse);
    swap_items(self, items);
    if (rc == 0 && py_seq_len(items) > 0)
        return py_raise(&py_ValueError, "list modified during sort");
    return rc == 0 ? PY_None : NULL;
}

/* ---- also of tuples and ranges --------------------------------------------------------------- */

/* Like Python, identity counts before equality. */
METHOD_OF(m_seq_count)
{
    py_iter_t it;
    int64_t n = 0;
    int same = 0;
    py_t *x;

    if (py_iter_start(&it, self) < 0)
        return NULL;
    while (same >= 0 && (x = py_iter_next(&it)) != NULL) {
        same = x == slots[0] ? 1 : py_eq(x, slots[0]);
        n += same > 0;
        py_unref(x);
        if (py_tick() < 0)
            same = -1;
    }
    py_iter_end(&it);
    return same < 0 ? NULL : py_int(n);
}

/* index() of a range: by arithmetic, as membership is. */
static py_t *
range_index(py_t *self, py_t *item)
{
    const pyrange_t *r = (const pyrange_t *) self;
    int found = py_in(item, self);
    int64_t n;

    if (found < 0)
        return NULL;
    if (found == 0) {
        AUTO(py) shown = py_repr(item);
        return !py_is_int(item) ? py_raise(&py_ValueError, "sequence.index(x): x not in sequence")
               : shown != NULL  ? py_raise(&py_ValueError, "%s is not in range", PY_TEXT(shown))
                                : NULL;
    }
    AUTO(py) whole = py_toint(item, -1);
    py_to_int64(whole, &n);
    return py_int((n - r->start) / r->step);
}

/* A bound of index(), which unlike a slice's may not be None. 0, or -1 raised. */
static int
methods_seq_bound(py_t *v, int64_t dflt, int64_t *ret_v)
{
    if (v != NULL && !py_is_int(v))
        return py_raise_int(&py_TypeError, "slice indices must be integers or have an __index__ method");
    return py_slice_arg(v, dflt, ret_v);
}

/* A range computes the index; other sequences are searched between two optional bounds. */
METHOD_OF(m_seq_index)
{
    int64_t start, end, len = (int64_t) (py_is(self, PY_RANGE) ? 0 : py_seq_len(self));

    if (py_is(self, PY_RANGE))
        return range_index(self, slots[0]);
    if (methods_seq_bound(slots[1], 0, &start) < 0 || methods_seq_bound(slots[2], INT64_MAX, &end) < 0)
        return NULL;
    py_slice_adjust(&start, &end, len);
    int64_t i = methods_seq_position(self, slots[0], start, end);
    if (i >= 0)
        return py_int(i);
    if (i == -2)
        return NULL;
    if (py_is(self, PY_TUPLE))
        return py_raise(&py_ValueError, "tuple.index(x): x not in tuple");
    AUTO(py) shown = py_repr(slots[0]);
    return shown == NULL ? NULL : py_raise(&py_ValueError, "%s is not in list", PY_TEXT(shown));
}

METHOD_OF(m_range_start)
{
    return py_int(((pyrange_t *) self)->start);
}

METHOD_OF(m_range_stop)
{
    return py_int(((pyrange_t *) self)->stop);
}

METHOD_OF(m_range_step)
{
    return py_int(((pyrange_t *) self)->step);
}

static py_t *
part_or_none(py_t *v)
{
    return v != NULL ? py_ref(v) : PY_None;
}

METHOD_OF(m_slice_start)
{
    return part_or_none(((pyslice_t *) self)->start);
}

METHOD_OF(m_slice_stop)
{
    return part_or_none(((pyslice_t *) self)->stop);
}

METHOD_OF(m_slice_step)
{
    return part_or_none(((pyslice_t *) self)->step);
}
