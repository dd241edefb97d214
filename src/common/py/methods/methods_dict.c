/* methods_dict.c - methods of dict, OrderedDict, set and views. In-place set operations compute the result
 * first, so arguments may be the set itself. */
#include "common/py/methods/methods.h"
#include "common/py/py_as.h"

/* ---- dict ------------------------------------------------------------------------------------- */

METHOD_OF(m_dict_clear)
{
    py_dict_clear(self);
    return PY_None;
}

METHOD_OF(m_dict_copy)
{
    return py_dict_copy(self);
}

/* A class method in Python; here the type is that of the value before the dot. */
METHOD_OF(m_dict_fromkeys)
{
    AUTO(py) dict = py_is_odict(self) ? py_odict() : py_dict();
    py_iter_t it;
    py_t *key;
    int rc = 0;

    if (py_iter_start(&it, slots[0]) < 0)
        return NULL;
    while (rc == 0 && (key = py_iter_next(&it)) != NULL) {
        rc = py_dict_set(dict, key, slots[1] != NULL ? slots[1] : PY_None);
        py_unref(key);
    }
    py_iter_end(&it);
    return rc < 0 || py_raised() != NULL ? NULL : STEAL(dict);
}

/* BORROWED; NULL when absent or raised. */
static py_t *
methods_dict_get(py_t *dict, py_t *key, int *ret_bad)
{
    uint64_t hash;

    *ret_bad = py_hash(key, &hash);
    if (*ret_bad < 0)
        return NULL;
    const pyentry_t *e = py_dict_find(dict, key, hash, ret_bad);
    return e != NULL ? e->value : NULL;
}

METHOD_OF(m_dict_get)
{
    int bad;
    py_t *v = methods_dict_get(self, slots[0], &bad);

    if (bad < 0)
        return NULL;
    return v != NULL ? py_ref(v) : slots[1] != NULL ? py_ref(slots[1]) : PY_None;
}

METHOD_OF(m_dict_setdefault)
{
    py_t *dflt = slots[1] != NULL ? slots[1] : PY_None;
    int bad;
    py_t *v = methods_dict_get(self, slots[0], &bad);

    if (bad < 0 || (v == NULL && py_dict_set(self, slots[0], dflt) < 0))
        return NULL;
    return py_ref(v != NULL ? v : dflt);
}

METHOD_OF(m_dict_pop)
{
    int bad = 0; /* CPython does not hash the key for an empty dict */
    AUTO(py)
    v = py_dict_len(self) > 0 || py_is_odict(self) ? py_ref(methods_dict_get(self, slots[0], &bad)) : NULL;

    if (bad < 0)
        return NULL;
    if (v == NULL)
        return slots[1] != NULL ? py_ref(slots[1]) : py_raise_key(slots[0]);
    py_dict_del(self, slots[0]);
    return STEAL(v);
}

/* Removes the last or first entry. NEW (key, value). */
static py_t *
pop_entry(py_t *dict, bool last)
{
    pydict_t *d = py_as_dict(dict);
    uint32_t i = last ? d->fill : 0;

    while (last && d->entries[--i].key == NULL)
        ;
    while (!last && d->entries[i].key == NULL)
        i++;
    AUTO(py) pair = py_tuple_of(2, d->entries[i].key, d->entries[i].value);
    py_dict_del(dict, py_seq_at(pair, 0));
    return STEAL(pair);
}

static py_t *
key_error(const char *text)
{
    return py_raise(&py_KeyError, "'%s'", text);
}

METHOD_OF(m_dict_popitem)
{
    return py_dict_len(self) == 0 ? key_error("popitem(): dictionary is empty") : pop_entry(self, true);
}

METHOD_OF(m_dict_popitem_ordered)
{
    int last = slots[0] != NULL ? py_truth(slots[0]) : 1;

    if (last < 0)
        return NULL;
    return py_dict_len(self) == 0 ? key_error("dictionary is empty") : pop_entry(self, last > 0);
}

/* To move a key to the front, all others are added again after it. */
METHOD_OF(m_dict_move_to_end)
{
    int last = slots[1] != NULL ? py_truth(slots[1]) : 1, bad;
    py_t *v = methods_dict_get(self, slots[0], &bad);

    if (last < 0 || bad < 0)
        return NULL;
    if (v == NULL)
        return py_raise_key(slots[0]);
    AUTO(py) value = py_ref(v);
    AUTO(py) key = py_ref(slots[0]);
    AUTO(py) rest = last ? NULL : py_dict_copy(self);
    py_dict_del(self, key);
    if (!last)
        py_dict_clear(self);
    py_dict_set(self, key, value);
    if (rest != NULL) {
        py_dict_del(rest, key);
        py_dict_update(self, rest);
    }
    return PY_None;
}

METHOD_OF(m_dict_update_method)
{
    if (args->n > 1)
        return py_raise(&py_TypeError,
                        py_is_odict(self) ? "update() takes at most 1 positional argument (%zu given)"
                                          : "update expected at most 1 argument, got %zu",
                        args->n);
    if (args->n == 1 && py_dict_update(self, args->v[0]) < 0)
        return NULL;
    for (size_t i = 0; i < args->nkw; i++) {
        if (py_dict_set(self, args->names[i], args->kwv[i]) < 0)
            return NULL;
    }
    return PY_None;
}

static py_t *
view(py_t *dict, pyview_kind_t kind)
{
    pyview_t *v = py_new_held(sizeof(*v), PY_VIEW);

    v->dict = py_ref(dict);
    v->kind = kind;
    return &v->held.h;
}

METHOD_OF(m_dict_items)
{
    return view(self, PY_ITEMS);
}

METHOD_OF(m_dict_keys)
{
    return view(self, PY_KEYS);
}

METHOD_OF(m_dict_values)
{
    return view(self, PY_VALUES);
}

/* ---- set -------------------------------------------------------------------------------------- */

METHOD_OF(m_set_add)
{
    return py_set_add(self, slots[0]) < 0 ? NULL : PY_None;
}

METHOD_OF(m_set_clear)
{
    py_dict_clear(self);
    return PY_None;
}

METHOD_OF(m_set_copy)
{
    py_t *copy = py_dict_copy(self);

    copy->flags |= self->flags & PY_F_FROZEN;
    return copy;
}

/* Removes an element; a set is looked up as a frozenset, as `in` does. 1, 0 or -1 raised. */
static int
set_del(py_t *set, py_t *item)
{
    if (!py_is(item, PY_SET) || (item->flags & PY_F_FROZEN) != 0)
        return py_dict_del(set, item);
    AUTO(py) frozen = py_toset(item, true);
    return frozen == NULL ? -1 : py_dict_del(set, frozen);
}

METHOD_OF(m_set_discard)
{
    return set_del(self, slots[0]) < 0 ? NULL : PY_None;
}

METHOD_OF(m_set_remove)
{
    int rc = set_del(self, slots[0]);

    if (rc == 0)
        return py_raise_key(slots[0]);
    return rc < 0 ? NULL : PY_None;
}

/* The first element, where CPython takes any. */
METHOD_OF(m_set_pop)
{
    size_t i = 0;
    py_t *item, *unused;

    if (!py_dict_next(self, &i, &item, &unused))
        return key_error("pop from an empty set");
    py_ref(item);
    py_dict_del(self, item);
    return item;
}

/* `self` combined with each argument in turn. NEW. */
static py_t *
combine(py_t *self, py_op_t op, const py_args_t *args)
{
    py_t *v = m_set_copy(self, NULL, NULL);

    for (size_t i = 0; v != NULL && i < args->n; i++) {
        AUTO(py) before = v;
        v = py_set_binary(op, before, args->v[i]);
    }
    return v;
}

/* The same in place: the set is emptied and filled anew, so that other references see the result. */
static py_t *
combine_into(py_t *self, py_op_t op, const py_args_t *args)
{
    AUTO(py) v = combine(self, op, args);
    size_t i = 0;
    py_t *item, *unused;

    if (v == NULL)
        return NULL;
    py_dict_clear(self);
    while (py_dict_next(v, &i, &item, &unused))
        py_set_add(self, item);
    return PY_None;
}

METHOD_OF(m_set_union)
{
    return combine(self, PY_OR, args);
}

METHOD_OF(m_set_intersection)
{
    return combine(self, PY_AND, args);
}

METHOD_OF(m_set_difference)
{
    return combine(self, PY_SUB, args);
}

METHOD_OF(m_set_symmetric_difference)
{
    return combine(self, PY_XOR, args);
}

METHOD_OF(m_set_update)
{
    return combine_into(self, PY_OR, args);
}

METHOD_OF(m_set_intersection_update)
{
    return combine_into(self, PY_AND, args);
}

METHOD_OF(m_set_difference_update)
{
    return combine_into(self, PY_SUB, args);
}

METHOD_OF(m_set_symmetric_difference_update)
{
    return combine_into(self, PY_XOR, args);
}

static py_t *
compare_as_sets(py_t *self, py_t *other, py_cmp_t op)
{
    AUTO(py) set = py_is(other, PY_SET) ? py_ref(other) : py_toset(other, false);
    int rc = set != NULL ? py_compare(self, set, op) : -1;

    return rc < 0 ? NULL : py_bool(rc > 0);
}

METHOD_OF(m_set_issubset)
{
    return compare_as_sets(self, slots[0], PY_LE);
}

METHOD_OF(m_set_issuperset)
{
    return compare_as_sets(self, slots[0], PY_GE);
}

METHOD_OF(m_set_isdisjoint)
{
    AUTO(py) both = py_set_binary(PY_AND, self, slots[0]);

    return both == NULL ? NULL : py_bool(py_dict_len(both) == 0);
}

METHOD_OF(m_view_isdisjoint)
{
    return m_set_isdisjoint(self, slots, args);
}
