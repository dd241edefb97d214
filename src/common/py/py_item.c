/* py_item.c - elements: v[key], slices, assignment and deletion.
 *
 * py_item_find() reports why an element is absent as an enum, so that look-ups which expect absence
 * (py_find_item) cost no message; py_getitem turns it into Python's exception. Texts are indexed by code
 * point. */
#include "common/py/py_as.h"

/* Value of an int argument, or TypeError, or OverflowError beyond 64 bits. */
int
py_index(py_t *v, int64_t *ret_v)
{
    if (py_to_int64(v, ret_v))
        return 0;
    if (py_is_int(v))
        return py_raise_int(&py_OverflowError, "Python int too large to convert to C ssize_t");
    return py_raise_int(&py_TypeError, "'%s' object cannot be interpreted as an integer", py_type_name(v));
}

/* Length of the built-in types; -1 for others. */
static int64_t
length(const py_t *v)
{
    switch (py_type(v)) {
    case PY_STR:
        return (int64_t) py_str_count(v);
    case PY_BYTES:
        return (int64_t) PY_LEN(v);
    case PY_LIST:
    case PY_TUPLE:
        return (int64_t) py_seq_len(v);
    case PY_SET:
    case PY_DICT:
        return (int64_t) py_dict_len(v);
    case PY_RANGE:
        return ((const pyrange_t *) v)->n;
    case PY_VIEW:
        return (int64_t) py_dict_len(((const pyview_t *) v)->dict);
    default:
        return -1;
    }
}

int64_t
py_len(py_t *v)
{
    int64_t n = length(v);

    if (n >= 0)
        return n;
    if (py_is(v, PY_UNDEFINED)) {
        if ((py_undef_class(v)->flags & PY_UNDEF_TRUTH) == 0)
            return 0;
        py_undef_raise(v);
        return -1;
    }
    if (py_is(v, PY_HOST) && py_host_class(v)->len != NULL)
        return py_host_class(v)->len(v);
    return py_raise_int(&py_TypeError, "object of type '%s' has no len()", py_type_name(v));
}

/* ---- slices ----------------------------------------------------------------------------------- */

/* A slice applied to a length: `n` elements, from `start`, `step` apart. */
typedef struct reach {
    int64_t start, stop, step, n;
} reach_t;

/* Reads a bound or the step of a slice, clamped to 64 bits; `dflt` for None. 0, or -1 raised. */
static int
slice_part(py_t *v, int64_t dflt, int64_t *ret_v)
{
    *ret_v = dflt;
    if (v == NULL || py_is(v, PY_NONE) || py_to_int64(v, ret_v))
        return 0;
    if (py_is_int(v)) {
        *ret_v = py_int_sign(v) < 0 ? INT64_MIN : INT64_MAX;
        return 0;
    }
    if (py_is(v, PY_UNDEFINED)) {
        py_undef_raise(v);
        return -1;
    }
    return py_raise_int(&py_TypeError, "slice indices must be integers or None or have an __index__ method");
}

static int64_t
clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* PySlice_Unpack and PySlice_AdjustIndices: start, step and number of elements for a length. */
static int
slice_reach(const pyslice_t *s, int64_t len, reach_t *ret_reach)
{
    int64_t start, stop, step;

    if (slice_part(s->step, 1, &step) < 0)
        return -1;
    if (step == 0)
        return py_raise_int(&py_ValueError, "slice step cannot be zero");
    if (step < -INT64_MAX)
        step = -INT64_MAX;
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? len - 1 : len;
    if (slice_part(s->start, step < 0 ? INT64_MAX : 0, &start) < 0 ||
        slice_part(s->stop, step < 0 ? INT64_MIN : INT64_MAX, &stop) < 0)
        return -1;
    bool from_end = s->stop == NULL || py_is(s->stop, PY_NONE); /* a falling slice without stop goes past the
                                                                 * first element */
    start = clamp(start < 0 ? start + len : start, low, high);
    stop = step < 0 && from_end ? -1 : clamp(stop < 0 ? stop + len : stop, low, high);
    *ret_reach = (reach_t){ start, stop, step, 0 };
    if (step > 0 && start < stop)
        ret_reach->n = (stop - start - 1) / step + 1;
    else if (step < 0 && start > stop)
        ret_reach->n = (start - stop - 1) / -step + 1;
    return 0;
}

/* Byte offset `by` code points after `at`, or before it. */
static size_t
py_item_moved(const char *text, size_t at, int64_t by)
{
    for (; by > 0; by--)
        while (((unsigned char) text[++at] & 0xc0) == 0x80)
            ;
    for (; by < 0; by++)
        while (((unsigned char) text[--at] & 0xc0) == 0x80)
            ;
    return at;
}

/* A step of 1 makes a substring; other steps collect code point by code point. */
static py_t *
slice_str(py_t *v, const reach_t *s)
{
    if (s->step == 1) {
        py_t *part = py_substr(v, (size_t) s->start, (size_t) (s->start + s->n));
        if (py_is_markup(v))
            part->flags |= PY_F_MARKUP;
        return part;
    }
    if (py_room(PY_LEN(v)) < 0)
        return NULL;
    buf_auto_t out = BUF_INIT;
    size_t at = s->n > 0 ? py_str_offset(v, (size_t) s->start) : 0;
    for (int64_t i = 0; i < s->n; i++) {
        uint32_t cp;
        if (i > 0)
            at = py_item_moved(PY_TEXT(v), at, s->step);
        py_put_part(&out, v, PY_TEXT(v) + at, py_decode(PY_TEXT(v) + at, &cp));
    }
    py_t *part = py_str_buf(&out);
    part->flags |= v->flags & PY_F_MARKUP;
    return part;
}

/* A list's slice is a list, a tuple's a tuple; both are within the budget. */
static py_t *
slice_seq(const py_t *v, const reach_t *s)
{
    if (py_room((size_t) s->n * sizeof(v)) < 0)
        return NULL;
    py_t *part = py_is(v, PY_LIST) ? py_list() : py_tuple((size_t) s->n);
    for (int64_t i = 0; i < s->n; i++) {
        int64_t at = s->start + i * s->step;
        if (py_is(v, PY_LIST))
            py_append(part, py_seq_at(v, (size_t) at));
        else
            py_as_tuple(part)->v[i] = py_ref(py_seq_at(v, (size_t) at));
    }
    return part;
}

/* A slice of a range is a range. */
static py_t *
slice_range(const pyrange_t *r, const reach_t *s)
{
    int64_t start, stop, step;

    if (__builtin_mul_overflow(r->step, s->step, &step) ||
        __builtin_mul_overflow(r->step, s->start, &start) ||
        __builtin_add_overflow(r->start, start, &start) || __builtin_mul_overflow(r->step, s->stop, &stop) ||
        __builtin_add_overflow(r->start, stop, &stop))
        return py_raise(&py_OverflowError, "Python int too large to convert to C ssize_t");
    return py_range(start, stop, step);
}

/* seq[start:stop:step]; NEW. */
static py_t *
get_slice(py_t *v, py_t *key)
{
    buf_auto_t bytes = BUF_INIT;
    reach_t s;

    if (slice_reach((pyslice_t *) key, length(v), &s) < 0)
        return NULL;
    switch (py_type(v)) {
    case PY_STR:
        return slice_str(v, &s);
    case PY_BYTES:
        for (int64_t i = 0; i < s.n; i++)
            py_put_part(&bytes, v, PY_TEXT(v) + s.start + i * s.step, 1);
        return py_text_buf(v, &bytes);
    case PY_RANGE:
        return slice_range((pyrange_t *) v, &s);
    default:
        return slice_seq(v, &s);
    }
}

/* ---- reading ---------------------------------------------------------------------------------- */

static bool
is_sequence(const py_t *v)
{
    py_type_t t = py_type(v);

    return t == PY_LIST || t == PY_TUPLE || t == PY_STR || t == PY_BYTES || t == PY_RANGE;
}

/* `i` is within bounds. NEW. */
static py_t *
element_at(py_t *v, int64_t i)
{
    switch (py_type(v)) {
    case PY_LIST:
    case PY_TUPLE:
        return py_ref(py_seq_at(v, (size_t) i));
    case PY_BYTES:
        return py_int((unsigned char) PY_TEXT(v)[i]);
    case PY_RANGE:
        return py_int(((pyrange_t *) v)->start + i * ((pyrange_t *) v)->step);
    default: {
        const char *p = PY_TEXT(v) + py_str_offset(v, (size_t) i);
        uint32_t cp;
        py_t *c = py_part(v, p, py_decode(p, &cp));
        ((pystr_t *) c)->count = 1;
        c->flags |= v->flags & PY_F_MARKUP;
        return c;
    }
    }
}

/* Reason why an element was not found, without the cost of a message. */
typedef enum why { FOUND, ABSENT_INDEX, ABSENT_KEY, BAD_INDEX, HUGE_INDEX, NO_ELEMENTS, RAISED } why_t;

/* The look-up behind [] and the template language's subscripts: a value, or the reason without a message,
 * since most callers need none. */
static why_t
py_item_find(py_t *v, py_t *key, py_t **ret_v)
{
    if (py_is(v, PY_DICT)) {
        /* Finds the value of a key. */
        uint64_t hash;
        int bad;
        if (py_hash(key, &hash) < 0)
            return RAISED;
        const pyentry_t *e = py_dict_find(v, key, hash, &bad);
        if (e == NULL)
            return bad < 0 ? RAISED : ABSENT_KEY;
        *ret_v = py_ref(e->value);
        return FOUND;
    }
    if (is_sequence(v)) {
        /* Finds the item of a sequence. */
        int64_t i, n = length(v);
        if (py_is(key, PY_SLICE)) {
            *ret_v = get_slice(v, key);
            return *ret_v != NULL ? FOUND : RAISED;
        }
        if (!py_to_int64(key, &i))
            return py_is_int(key) ? HUGE_INDEX : BAD_INDEX;
        if (i < 0)
            i += n;
        if (i < 0 || i >= n)
            return ABSENT_INDEX;
        *ret_v = element_at(v, i);
        return FOUND;
    }
    if (py_is(v, PY_UNDEFINED)) {
        if ((py_undef_class(v)->flags & PY_UNDEF_CHAIN) != 0) {
            *ret_v = py_ref(v);
            return FOUND;
        }
        py_undef_raise(v);
        return RAISED;
    }
    if (py_is(v, PY_HOST) && py_host_class(v)->find_item != NULL) {
        int rc = py_host_class(v)->find_item(v, key, ret_v);
        return rc > 0 ? FOUND : rc < 0 ? RAISED : ABSENT_KEY;
    }
    return NO_ELEMENTS;
}

/* CPython's message for an index that is neither an integer nor a slice. */
static void *
bad_index(py_t *v, py_t *key)
{
    /* Markup escapes a text key before the look-up, so the error names Markup. */
    const char *type = py_is_markup(v) && py_is(key, PY_STR) ? "Markup" : py_type_name(key);

    switch (py_type(v)) {
    case PY_STR:
        return py_raise(&py_TypeError, "string indices must be integers, not '%s'", type);
    case PY_BYTES:
        return py_raise(&py_TypeError, "byte indices must be integers or slices, not %s", type);
    default:
        return py_raise(&py_TypeError, "%s indices must be integers or slices, not %s", py_type_name(v),
                        type);
    }
}

static void *
out_of_range(const py_t *v)
{
    if (py_is(v, PY_RANGE))
        return py_raise(&py_IndexError, "range object index out of range");
    if (py_is(v, PY_BYTES))
        return py_raise(&py_IndexError, "index out of range");
    return py_raise(&py_IndexError, "%s index out of range",
                    py_is(v, PY_STR)    ? "string"
                    : py_is(v, PY_LIST) ? "list"
                                        : "tuple");
}

py_t *
py_getitem(py_t *v, py_t *key)
{
    py_t *found = NULL;

    switch (py_item_find(v, key, &found)) {
    case FOUND:
        return found;
    case ABSENT_INDEX:
        return out_of_range(v);
    case ABSENT_KEY:
        return py_raise_key(key);
    case BAD_INDEX:
        return bad_index(v, key);
    case HUGE_INDEX:
        return py_is(v, PY_RANGE) ? out_of_range(v)
                                  : py_raise(&py_IndexError, "cannot fit 'int' into an index-sized integer");
    case NO_ELEMENTS:
        return py_raise(&py_TypeError, "'%s' object is not subscriptable", py_type_name(v));
    case RAISED:
        break;
    }
    return NULL;
}

/* 1 and NEW *ret_v, 0 if it is not there, -1 raised. Errors of a look-up count as "not there". */
int
py_find_item(py_t *v, py_t *key, py_t **ret_v)
{
    why_t why = py_item_find(v, key, ret_v);

    if (why == FOUND)
        return 1;
    if (why != RAISED)
        return 0;
    if (!py_raised_is(&py_LookupError) && !py_raised_is(&py_TypeError) && !py_raised_is(&py_AttributeError))
        return -1;
    py_clear();
    return 0;
}

/* ---- writing ---------------------------------------------------------------------------------- */

/* The index of an element for assignment or deletion, from the start. 0, or -1 raised. */
static int
list_index(py_t *list, py_t *key, const char *doing, int64_t *ret_i)
{
    int64_t n = (int64_t) py_seq_len(list);

    if (!py_to_int64(key, ret_i)) {
        if (py_is_int(key))
            return py_raise_int(&py_IndexError, "cannot fit 'int' into an index-sized integer");
        bad_index(list, key);
        return -1;
    }
    if (*ret_i < 0)
        *ret_i += n;
    if (*ret_i < 0 || *ret_i >= n)
        return py_raise_int(&py_IndexError, "list %s index out of range", doing);
    return 0;
}

/* The old item is released last, as that may run code that uses the list. */
int
py_setitem(py_t *v, py_t *key, py_t *value)
{
    int64_t i;

    if (py_is(v, PY_DICT))
        return py_dict_set(v, key, value);
    if (py_is(v, PY_LIST)) {
        if (list_index(v, key, "assignment", &i) < 0)
            return -1;
        py_t *old = py_as_list(v)->v[i];
        py_as_list(v)->v[i] = py_ref(value);
        py_unref(old);
        return 0;
    }
    if (py_is(v, PY_HOST) && py_host_class(v)->set_item != NULL)
        return py_host_class(v)->set_item(v, key, value);
    return py_raise_int(&py_TypeError, "'%s' object does not support item assignment", py_type_name(v));
}

int
py_delitem(py_t *v, py_t *key)
{
    int64_t i;

    if (py_is(v, PY_DICT)) {
        int rc = py_dict_del(v, key);
        if (rc == 0)
            py_raise_key(key);
        return rc > 0 ? 0 : -1;
    }
    if (!py_is(v, PY_LIST))
        return py_raise_int(&py_TypeError,
                            is_sequence(v) && py_is_int(key) ? "'%s' object doesn't support item deletion"
                                                             : "'%s' object does not support item deletion",
                            py_type_name(v));
    if (list_index(v, key, "assignment", &i) < 0)
        return -1;
    pylist_t *l = py_as_list(v);
    py_t *old = l->v[i];
    l->n--;
    memmove(l->v + i, l->v + i + 1, (l->n - (size_t) i) * sizeof(*l->v));
    py_unref(old);
    return 0;
}
