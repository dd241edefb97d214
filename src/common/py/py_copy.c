/* py_copy.c - copy.copy and copy.deepcopy. A memo by address preserves sharing and cycles; only containers
 * with more than one reference need an entry. */
#include "common/py/py_merge.h"
#include "common/py/py_obj.h"

static py_t *copy_deep(py_t *v, py_t *memo);

/* False for a container with a single reference: it is met once, so no memo is needed. */
static bool
is_shared(const py_t *v)
{
    return v->refs != 1;
}

static py_t *
py_copy_address_of(const py_t *v)
{
    return py_int((int64_t) (uintptr_t) v);
}

/* Notes the copy of a value that may occur again, by its address. */
static void
py_copy_remember(py_t *memo, const py_t *v, py_t *copy)
{
    if (!is_shared(v))
        return;
    AUTO(py) key = py_copy_address_of(v);
    (void) py_dict_set(memo, key, copy);
}

/* Appends deep copies of the items. `copy` is in the memo already, so that a list may contain itself. */
static int
py_copy_fill_list(py_t *copy, py_t *v, py_t *memo)
{
    for (size_t i = 0; i < py_seq_len(v); i++) {
        py_t *item = copy_deep(py_seq_at(v, i), memo);
        if (item == NULL)
            return -1;
        py_append_new(copy, item);
    }
    return 0;
}

static int
py_copy_fill_dict(py_t *copy, py_t *v, py_t *memo)
{
    py_t *key, *value;

    for (size_t i = 0; py_dict_next(v, &i, &key, &value);) {
        AUTO(py) new_key = copy_deep(key, memo);
        AUTO(py) new_value = new_key != NULL ? copy_deep(value, memo) : NULL;
        if (new_value == NULL || py_dict_set(copy, new_key, new_value) < 0)
            return -1;
    }
    return 0;
}

/* As Python, a tuple whose elements are unchanged is not copied. */
static py_t *
deep_tuple(py_t *v, py_t *memo)
{
    AUTO(py) items = py_list();
    bool changed = false;

    if (py_copy_fill_list(items, v, memo) < 0)
        return NULL;
    for (size_t i = 0; i < py_seq_len(v); i++)
        changed = changed || py_seq_at(items, i) != py_seq_at(v, i);
    return changed ? py_totuple(items) : py_ref(v);
}

static py_t *
deep_container(py_t *v, py_t *memo)
{
    AUTO(py) copy = NULL;

    /* The copy is remembered before it is filled: a container may hold itself. */
    switch (py_type(v)) {
    case PY_LIST:
        copy = py_list();
        py_copy_remember(memo, v, copy);
        return py_copy_fill_list(copy, v, memo) == 0 ? STEAL(copy) : NULL;
    case PY_TUPLE:
        return deep_tuple(v, memo);
    case PY_DICT:
        copy = py_is_odict(v) ? py_odict() : py_dict();
        py_copy_remember(memo, v, copy);
        return py_copy_fill_dict(copy, v, memo) == 0 ? STEAL(copy) : NULL;
    default:
        return py_copy(v);
    }
}

/* `memo` maps addresses of values to their copies, so that shared values stay shared. NEW. */
static py_t *
copy_deep(py_t *v, py_t *memo)
{
    if (py_small(v))
        return v;
    if (is_shared(v) && py_dict_len(memo) > 0) {
        AUTO(py) key = py_copy_address_of(v);
        py_t *known = py_dict_get(memo, key);
        if (known != NULL)
            return py_ref(known);
    }
    if (py_tick() < 0 || py_enter() < 0)
        return NULL;
    py_t *copy = deep_container(v, memo);
    py_leave();
    return copy;
}

py_t *
py_deepcopy(py_t *v)
{
    AUTO(py) memo = py_dict();

    return copy_deep(v, memo);
}

/* A shallow copy; values that cannot change are returned as they are. */
py_t *
py_copy(py_t *v)
{
    switch (py_type(v)) {
    case PY_LIST:
        return py_tolist(v);
    case PY_DICT:
        return py_dict_copy(v);
    case PY_SET:
        return (v->flags & PY_F_FROZEN) != 0 ? py_ref(v) : py_toset(v, false);
    default:
        return py_ref(v);
    }
}
