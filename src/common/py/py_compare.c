/* py_compare.c - truth, equality, order and membership, by Python's rules: numbers compare by exact value
 * across types, elements of containers are equal when identical, sets are ordered by inclusion. Recursion
 * counts levels and steps. */
#include <math.h>

#include "common/py/py_as.h"

/* ---- truth ----------------------------------------------------------------------------------- */

/* As Python: the class's truth, else its length, else true. */
static int
host_truth(py_t *v)
{
    const py_class_t *cls = py_host_class(v);

    if (cls->truth != NULL)
        return cls->truth(v);
    if (cls->len == NULL)
        return 1;
    int64_t n = cls->len(v);
    return n < 0 ? -1 : n > 0;
}

int
py_truth(py_t *v)
{
    switch (py_type(v)) {
    case PY_NONE:
        return 0;
    case PY_BOOL:
        return v->aux;
    case PY_INT:
        return py_int_sign(v) != 0;
    case PY_FLOAT:
        return py_float_value(v) != 0.0;
    case PY_STR:
    case PY_BYTES:
        return PY_LEN(v) > 0;
    case PY_LIST:
    case PY_TUPLE:
        return py_seq_len(v) > 0;
    case PY_SET:
    case PY_DICT:
        return py_dict_len(v) > 0;
    case PY_RANGE:
        return ((pyrange_t *) v)->n > 0;
    case PY_VIEW:
        return py_dict_len(((pyview_t *) v)->dict) > 0;
    case PY_UNDEFINED: /* false, or an error if the class is strict */
        if ((py_undef_class(v)->flags & PY_UNDEF_TRUTH) == 0)
            return 0;
        py_undef_raise(v);
        return -1;
    case PY_HOST:
        return host_truth(v);
    default:
        return 1;
    }
}

bool
py_same(const py_t *a, const py_t *b)
{
    return a == b;
}

/* ---- equality -------------------------------------------------------------------------------- */

static bool
py_compare_is_number(const py_t *v)
{
    return py_is_int(v) || v->type == PY_FLOAT;
}

/* Exact order of two numbers: <0, 0, >0; 2 when one is nan. */
static int
number_order(const py_t *a, const py_t *b)
{
    bool fa = py_is(a, PY_FLOAT), fb = py_is(b, PY_FLOAT);
    double x, y;

    if (!fa && !fb)
        return py_int_compare(a, b);
    if (fa && fb) {
        x = py_float_value(a);
        y = py_float_value(b);
        return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
    }
    double d = py_float_value(fa ? a : b);
    if (isnan(d))
        return 2;
    int order = py_int_float_compare(fa ? b : a, d);
    order = (order > 0) - (order < 0);
    return fa ? -order : order;
}

/* Equality of elements: identity first, so even a nan equals itself there. */
static int
item_eq(py_t *a, py_t *b)
{
    return a == b ? 1 : py_eq(a, b);
}

/* 1, 0, or -1 raised. Lengths are read anew at each step: a comparison can run code that changes a list. */
static int
seq_eq(const py_t *a, const py_t *b)
{
    int same = py_seq_len(a) == py_seq_len(b);

    for (size_t i = 0; same > 0 && i < py_seq_len(a) && i < py_seq_len(b); i++)
        same = py_tick() < 0 ? -1 : item_eq(py_seq_at(a, i), py_seq_at(b, i));
    return same;
}

/* 1 when every element of `a` is in `b`, for dicts with an equal value. */
static int
dict_within(const py_t *a, const py_t *b)
{
    const pydict_t *d = py_as_dict(a);
    int bad, same = 1;

    for (uint32_t i = 0; same > 0 && i < d->fill; i++) {
        const pyentry_t *e = &d->entries[i];
        if (e->key == NULL)
            continue;
        if (py_tick() < 0)
            return -1;
        const pyentry_t *other = py_dict_find(b, e->key, e->hash, &bad);
        if (bad != 0)
            return -1;
        if (other == NULL)
            return 0;
        same = e->value == NULL || other->value == NULL ? 1 : item_eq(e->value, other->value);
    }
    return same;
}

/* Two OrderedDicts must agree in order as well. */
static int
dict_eq(const py_t *a, const py_t *b)
{
    size_t i = 0, j = 0;
    py_t *ka, *kb, *va, *vb;
    int same = 1;

    if (py_dict_len(a) != py_dict_len(b))
        return 0;
    if (py_is_odict(a) && py_is_odict(b)) { /* then the order counts too */
        while (same > 0 && py_dict_next(a, &i, &ka, &va) && py_dict_next(b, &j, &kb, &vb))
            same = py_tick() < 0 ? -1 : item_eq(ka, kb);
    }
    return same > 0 ? dict_within(a, b) : same;
}

/* An omitted part equals None. */
static int
slice_eq(const pyslice_t *a, const pyslice_t *b)
{
    py_t *const pairs[][2] = { { a->start, b->start }, { a->stop, b->stop }, { a->step, b->step } };
    int same = 1;

    for (size_t i = 0; same > 0 && i < NELEMS(pairs); i++) {
        py_t *x = pairs[i][0] != NULL ? pairs[i][0] : PY_None,
             *y = pairs[i][1] != NULL ? pairs[i][1] : PY_None;
        same = item_eq(x, y);
    }
    return same;
}

/* Counts a level of depth, as containers may nest, or contain themselves. */
static int
container_eq(py_t *a, py_t *b)
{
    int same = 0;

    if (py_enter() < 0)
        return -1;
    switch (py_type(a)) {
    case PY_LIST:
    case PY_TUPLE:
        same = seq_eq(a, b);
        break;
    case PY_DICT:
        same = dict_eq(a, b);
        break;
    case PY_SET:
        same = py_dict_len(a) == py_dict_len(b) ? dict_within(a, b) : 0;
        break;
    case PY_NAMESPACE:
        same = a == b;
        break;
    case PY_SLICE:
        same = slice_eq((pyslice_t *) a, (pyslice_t *) b);
        break;
    default:
        break;
    }
    py_leave();
    return same;
}

/* The value as a set: a set itself, or the content of a view of keys or items. NEW, NULL without raising for
 * other values; *ret_rc is -1 when it raised. */
static py_t *
as_set(py_t *v, int *ret_rc)
{
    *ret_rc = 0;
    if (py_is(v, PY_SET))
        return py_ref(v);
    if (!py_is(v, PY_VIEW) || ((pyview_t *) v)->kind == PY_VALUES)
        return NULL;
    py_t *set = py_toset(v, false);
    *ret_rc = set != NULL ? 0 : -1;
    return set;
}

/* Order of sets is inclusion. -2: not both are sets. */
static int
set_compare(py_t *a, py_t *b, py_cmp_t op)
{
    int rc, rc2;
    AUTO(py) x = as_set(a, &rc);
    AUTO(py) y = x != NULL ? as_set(b, &rc2) : NULL;

    if (x == NULL || y == NULL)
        return rc < 0 || (x != NULL && rc2 < 0) ? -1 : -2;
    size_t n = py_dict_len(x), m = py_dict_len(y);
    switch (op) {
    case PY_LT:
    case PY_LE:
        return n > m || (op == PY_LT && n == m) ? 0 : dict_within(x, y);
    case PY_GT:
    case PY_GE:
        return m > n || (op == PY_GT && n == m) ? 0 : dict_within(y, x);
    default:
        break;
    }
    int same = n == m ? dict_within(x, y) : 0;
    return same < 0 || op == PY_EQ ? same : !same;
}

/* Values of different types are unequal, except for those whose class decides. */
static int
other_eq(py_t *a, py_t *b, py_type_t ta, py_type_t tb)
{
    if (ta == PY_UNDEFINED || tb == PY_UNDEFINED) {
        /* Two undefined values of the same class are equal; a strict one raises. */
        py_t *strict = py_is(a, PY_UNDEFINED) && (py_undef_class(a)->flags & PY_UNDEF_TRUTH) != 0   ? a
                       : py_is(b, PY_UNDEFINED) && (py_undef_class(b)->flags & PY_UNDEF_TRUTH) != 0 ? b
                                                                                                    : NULL;
        if (strict != NULL) {
            py_undef_raise(strict);
            return -1;
        }
        return py_is(a, PY_UNDEFINED) && py_is(b, PY_UNDEFINED) && py_undef_class(a) == py_undef_class(b);
    }
    if (ta == PY_HOST || tb == PY_HOST) {
        /* Asks the class of either operand; without one, identity. */
        if (py_is(a, PY_HOST) && py_host_class(a)->eq != NULL)
            return py_host_class(a)->eq(a, b);
        if (py_is(b, PY_HOST) && py_host_class(b)->eq != NULL)
            return py_host_class(b)->eq(b, a);
        return a == b;
    }
    if (ta == PY_VIEW || tb == PY_VIEW) {
        int same = set_compare(a, b, PY_EQ);
        return same == -2 ? a == b : same;
    }
    if (ta != tb)
        return 0;
    if (ta == PY_RANGE) {
        /* Ranges are equal as the sequences that they stand for. */
        const pyrange_t *x = (pyrange_t *) a, *y = (pyrange_t *) b;
        return x->n == y->n && (x->n == 0 || (x->start == y->start && (x->n == 1 || x->step == y->step)));
    }
    if (ta == PY_FUNC && (a->flags & b->flags & PY_F_BOUND) != 0)
        return ((pyfunc_t *) a)->self == ((pyfunc_t *) b)->self &&
               ((pyfunc_t *) a)->method == ((pyfunc_t *) b)->method;
    return a == b;
}

int
py_eq(py_t *a, py_t *b)
{
    py_type_t ta = py_type(a), tb = py_type(b);

    if (py_small(a) && py_small(b))
        return a == b;
    if (ta == PY_STR && tb == PY_STR)
        return a == b || (PY_LEN(a) == PY_LEN(b) && memcmp(PY_TEXT(a), PY_TEXT(b), PY_LEN(a)) == 0);
    if (py_compare_is_number(a) && py_compare_is_number(b))
        return number_order(a, b) == 0;
    if (ta == PY_BYTES && tb == PY_BYTES)
        return PY_LEN(a) == PY_LEN(b) && memcmp(PY_TEXT(a), PY_TEXT(b), PY_LEN(a)) == 0;
    if (ta == tb && (ta == PY_LIST || ta == PY_TUPLE || ta == PY_DICT || ta == PY_SET || ta == PY_SLICE))
        return container_eq(a, b);
    return other_eq(a, b, ta, tb);
}

/* ---- order ------------------------------------------------------------------------------------ */

/* Truth of a comparison, given the order of its operands. */
static int
py_compare_decide(int order, py_cmp_t op)
{
    switch (op) {
    case PY_LT:
        return order < 0;
    case PY_LE:
        return order <= 0;
    case PY_GT:
        return order > 0;
    case PY_GE:
        return order >= 0;
    case PY_EQ:
        return order == 0;
    case PY_NE:
        return order != 0;
    }
    return -1;
}

/* UTF-8 sorts as its code points do. */
static int
bytes_order(const py_t *a, const py_t *b)
{
    size_t n = PY_LEN(a) < PY_LEN(b) ? PY_LEN(a) : PY_LEN(b);
    int order = memcmp(PY_TEXT(a), PY_TEXT(b), n);

    return order != 0 ? order : (PY_LEN(a) > PY_LEN(b)) - (PY_LEN(a) < PY_LEN(b));
}

/* Lexicographic order: the first differing elements decide. */
static int
seq_compare(const py_t *a, const py_t *b, py_cmp_t op)
{
    for (size_t i = 0; i < py_seq_len(a) && i < py_seq_len(b); i++) {
        py_t *x = py_seq_at(a, i), *y = py_seq_at(b, i);
        int same = py_tick() < 0 ? -1 : item_eq(x, y);
        if (same <= 0)
            return same < 0 ? -1 : py_compare(x, y, op);
    }
    size_t n = py_seq_len(a), m = py_seq_len(b);
    return py_compare_decide((n > m) - (n < m), op);
}

static const char *const symbols[] = { "<", "<=", "==", "!=", ">", ">=" };

int
py_compare(py_t *a, py_t *b, py_cmp_t op)
{
    py_type_t ta = py_type(a), tb = py_type(b);

    if (op == PY_EQ)
        return py_eq(a, b);
    if (op == PY_NE) {
        int same = py_eq(a, b);
        return same < 0 ? -1 : !same;
    }
    if (py_small(a) && py_small(b))
        return py_compare_decide(
            (py_small_value(a) > py_small_value(b)) - (py_small_value(a) < py_small_value(b)), op);
    if (py_compare_is_number(a) && py_compare_is_number(b)) {
        int order = number_order(a, b);
        return order == 2 ? 0 : py_compare_decide(order, op);
    }
    if (ta == tb && (ta == PY_STR || ta == PY_BYTES))
        return py_compare_decide(bytes_order(a, b), op);
    if (ta == tb && (ta == PY_LIST || ta == PY_TUPLE)) {
        if (py_enter() < 0)
            return -1;
        int rc = seq_compare(a, b, op);
        py_leave();
        return rc;
    }

    /* Order of values that are not numbers or text. Without one, a TypeError in CPython's words. */
    int rc = -2;
    if (py_is(a, PY_UNDEFINED) || py_is(b, PY_UNDEFINED)) {
        /* A subclass on the right is asked first. */
        bool right = !py_is(a, PY_UNDEFINED) ||
                     (py_is(b, PY_UNDEFINED) && py_undef_class(a) == &py_Undefined &&
                      py_undef_class(b) != &py_Undefined);
        py_undef_raise(right ? b : a);
        return -1;
    }
    if (py_is(a, PY_HOST) || py_is(b, PY_HOST)) {
        /* Asks the left operand's class, then, with the comparison mirrored, the right one's. */
        static const py_cmp_t mirrored[] = { PY_GT, PY_GE, PY_EQ, PY_NE, PY_LT, PY_LE };
        rc = -2;
        if (py_is(a, PY_HOST) && py_host_class(a)->compare != NULL)
            rc = py_host_class(a)->compare(a, b, op);
        if (rc == -2 && py_is(b, PY_HOST) && py_host_class(b)->compare != NULL)
            rc = py_host_class(b)->compare(b, a, mirrored[op]);
    } else {
        rc = set_compare(a, b, op);
    }
    if (rc == -2)
        return py_raise_int(&py_TypeError, "'%s' not supported between instances of '%s' and '%s'",
                            symbols[op], py_type_name(a), py_type_name(b));
    return rc;
}

/* ---- membership ------------------------------------------------------------------------------ */

static bool
bytes_within(const py_t *item, const py_t *container)
{
    return memmem(PY_TEXT(container), PY_LEN(container), PY_TEXT(item), PY_LEN(item)) != NULL;
}

/* A bytes part, or an int that stands for a byte. */
static int
in_bytes(py_t *item, py_t *container)
{
    int64_t n;

    if (py_is(item, PY_BYTES))
        return bytes_within(item, container);
    if (!py_is_int(item))
        return py_raise_int(&py_TypeError, "a bytes-like object is required, not '%s'", py_type_name(item));
    if (!py_to_int64(item, &n) || n < 0 || n > 255)
        return py_raise_int(&py_ValueError, "byte must be in range(0, 256)");
    return memchr(PY_TEXT(container), (int) n, PY_LEN(container)) != NULL;
}

/* Membership in a range by arithmetic; a float counts when it is whole. */
static int
py_compare_in_range(py_t *item, const pyrange_t *r)
{
    int64_t n;

    if (py_is(item, PY_UNDEFINED)) {
        AUTO(py) first = py_int(r->start);
        return r->n > 0 ? py_eq(item, first) : 0;
    }
    if (!py_is_int(item)) {
        double d = py_is(item, PY_FLOAT) ? py_float_value(item) : 0.5;
        if (fabs(d) >= 0x1p62 || d != (double) (int64_t) d)
            return 0;
        n = (int64_t) d;
    } else if (!py_to_int64(item, &n)) {
        return 0;
    }
    if (r->step > 0 ? n < r->start || n >= r->stop : n > r->start || n <= r->stop)
        return 0;
    uint64_t distance = r->step > 0 ? (uint64_t) n - (uint64_t) r->start : (uint64_t) r->start - (uint64_t) n;
    return distance % (r->step > 0 ? (uint64_t) r->step : -(uint64_t) r->step) == 0;
}

/* Walks `container` up to the first equal item. */
static int
in_iterable(py_t *item, py_t *container)
{
    py_iter_t it;
    int found = 0;
    py_t *x;

    if (!py_iterable(container))
        return py_raise_int(&py_TypeError, "argument of type '%s' is not iterable", py_type_name(container));
    if (py_iter_start(&it, container) < 0)
        return -1;
    while (found == 0 && (x = py_iter_next(&it)) != NULL) {
        found = py_tick() < 0 ? -1 : item_eq(x, item);
        py_unref(x);
    }
    py_iter_end(&it);
    return py_raised() != NULL ? -1 : found;
}

/* Looks up by hash; the item must be hashable. */
static int
in_dict(py_t *item, py_t *dict)
{
    uint64_t hash;
    int bad;

    if (py_is(item, PY_SET) && py_is(dict, PY_SET) && (item->flags & PY_F_FROZEN) == 0) {
        AUTO(py) frozen = py_toset(item, true); /* Python looks a set up as if it were frozen */
        return frozen == NULL ? -1 : in_dict(frozen, dict);
    }
    if (py_hash(item, &hash) < 0)
        return -1;
    if (py_dict_find(dict, item, hash, &bad) != NULL)
        return 1;
    return bad;
}

/* Like Python, an item is found by identity before equality. */
static int
in_seq(py_t *item, py_t *seq)
{
    bool list = py_is(seq, PY_LIST);
    py_t *const *v = list ? py_as_list(seq)->v : py_as_tuple(seq)->v;
    size_t n = list ? py_as_list(seq)->n : py_as_tuple(seq)->n;
    int found = 0;

    for (size_t i = 0; found == 0 && i < n; i++) {
        if (py_tick() < 0)
            return -1;
        found = v[i] == item ? 1 : py_small(v[i]) && py_small(item) ? 0 : item_eq(v[i], item);
    }
    return found;
}

int
py_in(py_t *item, py_t *container)
{
    switch (py_type(container)) {
    case PY_STR:
        if (!py_is(item, PY_STR))
            return py_raise_int(&py_TypeError, "'in <string>' requires string as left operand, not %s",
                                py_type_name(item));
        return bytes_within(item, container);
    case PY_BYTES:
        return in_bytes(item, container);
    case PY_LIST:
    case PY_TUPLE:
        return in_seq(item, container);
    case PY_DICT:
    case PY_SET:
        return in_dict(item, container);
    case PY_RANGE:
        return py_compare_in_range(item, (pyrange_t *) container);
    case PY_VIEW:
        if (((pyview_t *) container)->kind == PY_KEYS)
            return in_dict(item, ((pyview_t *) container)->dict);
        return in_iterable(item, container);
    case PY_HOST:
        if (py_host_class(container)->contains != NULL)
            return py_host_class(container)->contains(container, item);
        return in_iterable(item, container);
    default:
        return in_iterable(item, container);
    }
}
