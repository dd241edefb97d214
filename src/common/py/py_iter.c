/* py_iter.c - iteration: over a value from C by py_iter_t, which copies nothing, and iterators as values.
 * Also list(), tuple(), set() and dict() of an iterable, whose sizes are checked step by step. */
#include "common/py/py_as.h"

/* ---- from C ---------------------------------------------------------------------------------- */

bool
py_iterable(const py_t *v)
{
    switch (py_type(v)) {
    case PY_STR:
    case PY_BYTES:
    case PY_LIST:
    case PY_TUPLE:
    case PY_SET:
    case PY_DICT:
    case PY_RANGE:
    case PY_VIEW:
    case PY_GEN:
    case PY_UNDEFINED:
        return true;
    case PY_HOST:
        return py_host_class(v)->iter != NULL;
    default:
        return false;
    }
}

int
py_iter_start(py_iter_t *it, py_t *v)
{
    *it = (py_iter_t){ NULL, 0, 0, (int) py_type(v) };
    if (!py_iterable(v))
        return py_raise_int(&py_TypeError, "'%s' object is not iterable", py_type_name(v));
    switch (py_type(v)) {
    case PY_HOST:
        it->source = py_host_class(v)->iter(v);
        it->kind = PY_GEN;
        return it->source != NULL ? 0 : -1;
    case PY_UNDEFINED:
        if ((py_undef_class(v)->flags & PY_UNDEF_TRUTH) != 0) {
            py_undef_raise(v);
            return -1;
        }
        break;
    case PY_DICT:
    case PY_SET:
        it->size = py_dict_len(v);
        break;
    case PY_VIEW:
        it->size = py_dict_len(((pyview_t *) v)->dict);
        break;
    default:
        break;
    }
    it->source = py_ref(v);
    return 0;
}

/* Next entry of a dict, set or view; raises when the size changed, as Python. */
static py_t *
next_entry(py_iter_t *it, const py_t *dict, pyview_kind_t kind)
{
    py_t *key, *value;

    if (py_dict_len(dict) != it->size)
        return py_raise(&py_RuntimeError, "%s",
                        py_is(dict, PY_SET) ? "Set changed size during iteration"
                        : py_is_odict(dict) ? "OrderedDict mutated during iteration"
                                            : "dictionary changed size during iteration");
    if (!py_dict_next(dict, &it->i, &key, &value))
        return NULL;
    if (kind == PY_ITEMS)
        return py_tuple_of(2, key, value);
    return py_ref(kind == PY_KEYS ? key : value);
}

/* The next code point as a text, with its mark. NEW. */
static py_t *
next_char(py_iter_t *it)
{
    uint32_t cp;

    if (it->i >= PY_LEN(it->source))
        return NULL;
    size_t n = py_decode(PY_TEXT(it->source) + it->i, &cp);
    py_t *v = py_part(it->source, PY_TEXT(it->source) + it->i, n);
    ((pystr_t *) v)->count = 1;
    it->i += n;
    return v;
}

static py_t *
next_of(py_iter_t *it)
{
    py_t *v = it->source;

    switch ((py_type_t) it->kind) {
    case PY_TUPLE:
        return it->i < py_as_tuple(v)->n ? py_ref(py_as_tuple(v)->v[it->i++]) : NULL;
    case PY_DICT:
    case PY_SET:
        return next_entry(it, v, PY_KEYS);
    case PY_VIEW:
        return next_entry(it, ((pyview_t *) v)->dict, ((pyview_t *) v)->kind);
    case PY_STR:
        return next_char(it);
    case PY_BYTES:
        return it->i < PY_LEN(v) ? py_int((unsigned char) PY_TEXT(v)[it->i++]) : NULL;
    case PY_GEN:
        return py_next(v);
    default:
        return NULL;
    }
}

/* Lists first, as they are most frequent. A list may grow or shrink meanwhile, as in Python. */
py_t *
py_iter_next(py_iter_t *it)
{
    const py_t *v = it->source;

    if (it->kind == PY_LIST)
        return it->i < py_as_list(v)->n ? py_ref(py_as_list(v)->v[it->i++]) : NULL;
    if (it->kind != PY_RANGE)
        return next_of(it);

    /* Unsigned arithmetic: step * i can overflow although the sum does not. */
    const pyrange_t *r = (const pyrange_t *) v;
    if ((int64_t) it->i >= r->n)
        return NULL;
    return py_int((int64_t) ((uint64_t) r->start + (uint64_t) r->step * (uint64_t) it->i++));
}

void
py_iter_end(py_iter_t *it)
{
    py_destroy(&it->source);
}

/* ---- iterators as values --------------------------------------------------------------------- */

py_t *
py_gen(const py_gen_class_t *cls, void *data)
{
    pygen_t *g = py_new_held(sizeof(*g), PY_GEN);

    g->cls = cls;
    g->data = data;
    return &g->held.h;
}

void *
py_gen_data(const py_t *v, const py_gen_class_t *cls)
{
    return py_is(v, PY_GEN) && ((const pygen_t *) v)->cls == cls ? ((const pygen_t *) v)->data : NULL;
}

py_t *
py_next(py_t *iter)
{
    pygen_t *g = (pygen_t *) iter;

    if (!py_is(iter, PY_GEN))
        return py_raise(&py_TypeError, "'%s' object is not an iterator", py_type_name(iter));
    if (g->data == NULL)
        return NULL;
    return g->cls->next(g->data);
}

static py_t *
walk_next(void *data)
{
    return py_iter_next(data);
}

static void
walk_free(void *data)
{
    py_iter_end(data);
    py_release(data, sizeof(py_iter_t));
}

static void
walk_visit(void *data, py_visit_fn *visit, void *cookie)
{
    visit(((py_iter_t *) data)->source, cookie);
}

#define WALK(name) ROW(name, walk_next, walk_free, walk_visit, NULL)
static const py_gen_class_t walkers[PY_TYPES] = {
    [PY_STR] = WALK("str_iterator"),
    [PY_BYTES] = WALK("bytes_iterator"),
    [PY_LIST] = WALK("list_iterator"),
    [PY_TUPLE] = WALK("tuple_iterator"),
    [PY_SET] = WALK("set_iterator"),
    [PY_DICT] = WALK("dict_keyiterator"),
    [PY_RANGE] = WALK("range_iterator"),
    [PY_VIEW] = WALK("dict_itemiterator"),
    [PY_UNDEFINED] = { "generator", walk_next, walk_free, walk_visit, "Undefined.__iter__" },
};

py_t *
py_iter(py_t *v)
{
    py_iter_t it;

    if (py_is(v, PY_GEN))
        return py_ref(v);
    if (py_iter_start(&it, v) < 0)
        return NULL;
    if (it.kind == PY_GEN)
        return it.source; /* the iterator of a host's class */
    py_iter_t *data = py_alloc(sizeof(*data));
    *data = it;
    return py_gen(&walkers[it.kind], data);
}

/* ---- collecting ------------------------------------------------------------------------------ */

int
py_extend(py_t *list, py_t *iterable)
{
    py_iter_t it;
    py_t *x;
    int rc = 0;

    if (py_is(iterable, PY_LIST) || py_is(iterable, PY_TUPLE)) {
        size_t n = py_seq_len(iterable); /* the length is taken first: it may be the list itself */
        if (py_room(n * sizeof(x)) < 0)
            return -1;
        for (size_t i = 0; i < n; i++)
            py_append(list, py_seq_at(iterable, i));
        return 0;
    }
    if (py_iter_start(&it, iterable) < 0)
        return -1;
    while (rc == 0 && (x = py_iter_next(&it)) != NULL) {
        py_append_new(list, x);
        rc = py_tick();
    }
    py_iter_end(&it);
    return py_raised() != NULL ? -1 : rc;
}

py_t *
py_tolist(py_t *iterable)
{
    AUTO(py) list = py_list();

    return py_extend(list, iterable) < 0 ? NULL : STEAL(list);
}

py_t *
py_totuple(py_t *iterable)
{
    if (py_is(iterable, PY_TUPLE))
        return py_ref(iterable);
    AUTO(py) list = py_is(iterable, PY_LIST) ? py_ref(iterable) : py_tolist(iterable);
    if (list == NULL)
        return NULL;
    if (py_room(py_seq_len(list) * sizeof(list)) < 0)
        return NULL;
    py_t *tuple = py_tuple(py_seq_len(list));
    for (size_t i = 0; i < py_seq_len(list); i++)
        py_as_tuple(tuple)->v[i] = py_ref(py_seq_at(list, i));
    return tuple;
}

/* Adds all items; a hash or comparison may raise. */
static int
set_extend(py_t *set, py_t *iterable)
{
    py_iter_t it;
    py_t *x;
    int rc = 0;

    if (py_iter_start(&it, iterable) < 0)
        return -1;
    while (rc == 0 && (x = py_iter_next(&it)) != NULL) {
        rc = py_set_add(set, x);
        py_unref(x);
        if (rc == 0)
            rc = py_tick();
    }
    py_iter_end(&it);
    return py_raised() != NULL ? -1 : rc;
}

py_t *
py_toset(py_t *iterable, bool frozen)
{
    if (frozen && py_is(iterable, PY_SET) && (iterable->flags & PY_F_FROZEN) != 0)
        return py_ref(iterable);
    AUTO(py) set = py_set(frozen);
    return set_extend(set, iterable) < 0 ? NULL : STEAL(set);
}

/* ---- dict() ----------------------------------------------------------------------------------- */

/* Adds element `i` of an update sequence, itself a sequence of two. */
static int
py_iter_add_pair(py_t *dict, py_t *pair, size_t i)
{
    if (!py_iterable(pair))
        return py_raise_int(&py_TypeError,
                            "cannot convert dictionary update sequence element #%zu to a sequence", i);
    AUTO(py) two = py_totuple(pair);
    if (two == NULL)
        return -1;
    if (py_seq_len(two) != 2)
        return py_raise_int(&py_ValueError,
                            "dictionary update sequence element #%zu has length %zu; 2 is required", i,
                            py_seq_len(two));
    return py_dict_set(dict, py_seq_at(two, 0), py_seq_at(two, 1));
}

/* OrderedDict unpacks `key, value = pair`, with other messages. */
static int
add_unpacked(py_t *dict, py_t *pair)
{
    AUTO(py) two = py_totuple(pair);

    if (two == NULL)
        return -1;
    if (py_seq_len(two) > 2)
        return py_raise_int(&py_ValueError, "too many values to unpack (expected 2)");
    if (py_seq_len(two) < 2)
        return py_raise_int(&py_ValueError, "need more than %zu value%s to unpack", py_seq_len(two),
                            py_seq_len(two) == 1 ? "" : "s");
    return py_dict_set(dict, py_seq_at(two, 0), py_seq_at(two, 1));
}

int
py_dict_update(py_t *dict, py_t *v)
{
    py_iter_t it;
    py_t *x;
    int rc = 0;

    if (py_is(v, PY_DICT)) {
        /* A dict updated with itself stays as it is. */
        const pydict_t *d = py_as_dict(v);
        int code = 0;
        for (uint32_t i = 0; code == 0 && dict != v && i < d->fill; i++) {
            const pyentry_t *e = &d->entries[i];
            if (e->key != NULL)
                code = py_dict_put(dict, e->key, e->hash, e->value);
        }
        return code;
    }
    /* An undefined value has no keys. */
    if (py_is(v, PY_UNDEFINED)) {
        py_undef_raise(v);
        return -1;
    }
    if (py_iter_start(&it, v) < 0)
        return -1;
    for (size_t i = 0; rc == 0 && (x = py_iter_next(&it)) != NULL; i++) {
        rc = py_is_odict(dict) ? add_unpacked(dict, x) : py_iter_add_pair(dict, x, i);
        py_unref(x);
    }
    py_iter_end(&it);
    return py_raised() != NULL ? -1 : rc;
}

py_t *
py_todict(py_t *v)
{
    if (py_is(v, PY_DICT) && !py_is_odict(v))
        return py_dict_copy(v);
    AUTO(py) dict = py_dict();

    return py_dict_update(dict, v) < 0 ? NULL : STEAL(dict);
}
