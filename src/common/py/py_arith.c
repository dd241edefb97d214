/* py_arith.c - operators on numbers, sequences, sets and dicts.
 *
 * py_binary dispatches: two integers go to py_int.c, numbers with a float are computed here as CPython does
 * (floor division and modulo take the divisor's sign), other types by operator. TypeErrors name the operands
 * in CPython's words. */
#include <math.h>

#include "common/py/py_as.h"

static const char *const symbols[] = {
    [PY_ADD] = "+",       [PY_SUB] = "-",     [PY_MUL] = "*",     [PY_DIV] = "/",
    [PY_FLOORDIV] = "//", [PY_MOD] = "%",     [PY_OR] = "|",      [PY_AND] = "&",
    [PY_XOR] = "^",       [PY_LSHIFT] = "<<", [PY_RSHIFT] = ">>", [PY_POW] = "** or pow()",
};

static void *
py_arith_unsupported(py_op_t op, const py_t *a, const py_t *b)
{
    return py_raise(&py_TypeError, "unsupported operand type(s) for %s: '%s' and '%s'", symbols[op],
                    py_type_name(a), py_type_name(b));
}

/* ---- floats ----------------------------------------------------------------------------------- */

static bool
py_arith_is_number(const py_t *v)
{
    return py_is_int(v) || v->type == PY_FLOAT;
}

/* An int too large for a double is an OverflowError. */
static int
to_double(py_t *v, double *ret_d)
{
    if (!py_is(v, PY_FLOAT))
        return py_int_to_double(v, ret_d);
    *ret_d = py_float_value(v);
    return 0;
}

/* CPython's algorithm: the quotient of the exact remainder, corrected to be floored. */
static double
float_floordiv(double a, double b)
{
    double m = fmod(a, b), q = (a - m) / b;

    if (m != 0.0 && (b < 0) != (m < 0))
        q -= 1.0;
    if (q == 0.0)
        return copysign(0.0, a / b);
    double f = floor(q);
    return q - f > 0.5 ? f + 1.0 : f;
}

/* Python's exceptions for results that are infinite or complex. */
static py_t *
float_pow(double a, double b)
{
    if (a == 0.0 && b < 0.0)
        return py_raise(&py_ZeroDivisionError, "0.0 cannot be raised to a negative power");
    if (a < 0.0 && isfinite(a) && isfinite(b) && b != floor(b))
        return py_raise(&py_ValueError, "a fractional power of a negative number is complex");
    double r = pow(a, b);
    if (isinf(r) && isfinite(a) && isfinite(b))
        return py_raise(&py_OverflowError, "(34, 'Numerical result out of range')");
    return py_float(r);
}

static py_t *
float_binary(py_op_t op, py_t *a, py_t *b)
{
    double x, y, rest;

    if (op > PY_POW)
        return py_arith_unsupported(op, a, b);
    if (to_double(a, &x) < 0 || to_double(b, &y) < 0)
        return NULL;
    if (y == 0.0 && (op == PY_DIV || op == PY_FLOORDIV || op == PY_MOD))
        return py_raise(&py_ZeroDivisionError, op == PY_DIV   ? "float division by zero"
                                               : op == PY_MOD ? "float modulo"
                                                              : "float floor division by zero");
    switch (op) {
    case PY_ADD:
        return py_float(x + y);
    case PY_SUB:
        return py_float(x - y);
    case PY_MUL:
        return py_float(x * y);
    case PY_DIV:
        return py_float(x / y);
    case PY_FLOORDIV:
        return py_float(float_floordiv(x, y));
    case PY_MOD: /* the result has the sign of the divisor, also when it is 0 */
        rest = fmod(x, y);
        if (rest == 0.0)
            return py_float(copysign(0.0, y));
        return py_float((y < 0) != (rest < 0) ? rest + y : rest);
    default:
        return float_pow(x, y);
    }
}

/* ---- sequences -------------------------------------------------------------------------------- */

/* Concatenates two texts of one type, keeping the marks of both. */
static py_t *
text_concat(py_t *a, py_t *b)
{
    if (py_room(PY_LEN(a) + PY_LEN(b)) < 0)
        return NULL;
    py_t *v = py_is(a, PY_STR) ? py_str_raw(PY_LEN(a) + PY_LEN(b)) : NULL;
    if (v == NULL) {
        buf_auto_t both = BUF_INIT;
        py_put(&both, a);
        py_put(&both, b);
        return py_text_buf(a, &both);
    }
    memcpy(PY_CHARS(v), PY_TEXT(a), PY_LEN(a));
    memcpy(PY_CHARS(v) + PY_LEN(a), PY_TEXT(b), PY_LEN(b));
    if (PY_MARKED(a) || PY_MARKED(b)) {
        spans_t spans = { .v = NULL };
        py_copy_spans(a, 0, &spans);
        py_copy_spans(b, PY_LEN(a), &spans);
        py_set_spans(v, &spans);
    }
    return v;
}

/* a + b for two lists or two tuples; NEW. */
static py_t *
seq_concat(py_t *a, py_t *b)
{
    size_t n = py_seq_len(a), m = py_seq_len(b);

    if (py_room((n + m) * sizeof(a)) < 0)
        return NULL;
    if (py_is(a, PY_LIST)) {
        AUTO(py) v = py_list();
        return py_extend(v, a) < 0 || py_extend(v, b) < 0 ? NULL : STEAL(v);
    }
    py_t *v = py_tuple(n + m);
    for (size_t i = 0; i < n + m; i++)
        py_as_tuple(v)->v[i] = py_ref(i < n ? py_seq_at(a, i) : py_seq_at(b, i - n));
    return v;
}

bool
py_has_html(const py_t *v)
{
    return py_is_markup(v) || (py_is(v, PY_HOST) && py_host_class(v)->html != NULL) ||
           (py_is(v, PY_UNDEFINED) && (py_undef_class(v)->flags & PY_UNDEF_CHAIN) != 0);
}

/* Python's `+` for sequences, with the messages of each type. */
static py_t *
concat(py_t *a, py_t *b)
{
    py_type_t t = py_type(a);

    if ((py_is_markup(a) && (py_is(b, PY_STR) || py_has_html(b))) || (py_is_markup(b) && t == PY_STR)) {
        /* Markup's addition: other text is escaped first. */
        AUTO(py) x = py_escape(a);
        AUTO(py) y = py_escape(b);

        if (x == NULL || y == NULL)
            return NULL;
        py_t *v = text_concat(x, y);
        if (v != NULL)
            v->flags |= PY_F_MARKUP;
        return v;
    }
    if (t == py_type(b)) {
        if (t == PY_STR || t == PY_BYTES)
            return text_concat(a, b);
        if (t == PY_LIST || t == PY_TUPLE)
            return seq_concat(a, b);
    }
    if (t == PY_BYTES)
        return py_raise(&py_TypeError, "can't concat %s to bytes", py_type_name(b));
    if (py_is_markup(a) || (t != PY_STR && t != PY_LIST && t != PY_TUPLE))
        return py_arith_unsupported(PY_ADD, a, b);
    return py_raise(&py_TypeError, "can only concatenate %s (not \"%s\") to %s", py_type_name(a),
                    py_type_name(b), py_type_name(a));
}

/* Multiplies a text. Sizes are checked before anything is allocated. */
static py_t *
repeat_text(py_t *v, size_t times)
{
    size_t len = PY_LEN(v);
    buf_auto_t out = BUF_INIT;

    if (len > 0 && times > INT64_MAX / len && py_is(v, PY_STR))
        return py_raise(&py_OverflowError, "repeated string is too long");
    if (len > 0 && times > SIZE_MAX / 4 / len)
        return py_room(SIZE_MAX) < 0 ? NULL : py_ref(v);
    if (py_room(len * times) < 0)
        return NULL;
    if (len == 1)
        buf_fill(&out, PY_TEXT(v)[0], times);
    for (size_t i = 0; len > 1 && i < times; i++)
        py_put(&out, v);
    py_put_like(&out, 0, len == 1 ? v : PY_None);
    py_t *r = py_text_buf(v, &out);
    r->flags |= v->flags & PY_F_MARKUP;
    return r;
}

static py_t *
repeat_seq(py_t *v, size_t times)
{
    size_t n = py_seq_len(v);

    if (n > 0 && (times > SIZE_MAX / 64 / n || py_room(n * times * sizeof(v)) < 0))
        return py_room(SIZE_MAX) < 0 ? NULL : py_ref(v);
    AUTO(py) list = py_list();
    for (size_t i = 0; n > 0 && i < times; i++) {
        for (size_t j = 0; j < n; j++)
            py_append(list, py_seq_at(v, j));
    }
    return py_is(v, PY_LIST) ? STEAL(list) : py_totuple(list);
}

static bool
is_repeatable(const py_t *v)
{
    py_type_t t = py_type(v);

    return t == PY_STR || t == PY_BYTES || t == PY_LIST || t == PY_TUPLE;
}

/* Markup's multiplication accepts numbers only. */
static bool
repeats_anything(const py_t *v)
{
    return is_repeatable(v) && !py_is_markup(v);
}

/* A sequence times an int, in either order; a negative number of times gives an empty sequence. */
static py_t *
repeat(py_t *a, py_t *b)
{
    py_t *seq = is_repeatable(a) && !py_is_int(a) ? a : b, *count = seq == a ? b : a;
    int64_t times;

    if (!is_repeatable(seq) || (!py_is_int(count) && !repeats_anything(a) && !repeats_anything(b)))
        return py_arith_unsupported(PY_MUL, a, b);
    if (!py_is_int(count))
        return py_raise(&py_TypeError, "can't multiply sequence by non-int of type '%s'",
                        py_type_name(repeats_anything(a) ? b : a));
    if (!py_to_int64(count, &times))
        return py_raise(&py_OverflowError, "cannot fit 'int' into an index-sized integer");
    if (times < 0)
        times = 0;
    return py_is(seq, PY_LIST) || py_is(seq, PY_TUPLE) ? repeat_seq(seq, (size_t) times)
                                                       : repeat_text(seq, (size_t) times);
}

/* ---- sets and dicts --------------------------------------------------------------------------- */

static bool
is_view(const py_t *v)
{
    return py_is(v, PY_VIEW) && ((const pyview_t *) v)->kind != PY_VALUES;
}

static bool
set_like(const py_t *v)
{
    return py_is(v, PY_SET) || is_view(v);
}

/* Adds those elements of `a` to `out` that are in `b`, or are not, by `wanted`. */
static int
py_arith_pick(py_t *out, const py_t *a, const py_t *b, bool wanted)
{
    const pydict_t *d = py_as_dict(a);
    int bad, rc = 0;

    for (uint32_t i = 0; rc == 0 && i < d->fill; i++) {
        const pyentry_t *e = &d->entries[i];
        if (e->key == NULL)
            continue;
        bool there = py_dict_find(b, e->key, e->hash, &bad) != NULL;
        rc = bad;
        if (rc == 0 && there == wanted)
            rc = py_dict_put(out, e->key, e->hash, NULL);
    }
    return rc;
}

/* Set operation; a frozenset on the left gives a frozenset. */
py_t *
py_set_binary(py_op_t op, py_t *a, py_t *b)
{
    AUTO(py) x = py_is(a, PY_SET) ? py_ref(a) : py_toset(a, false);
    AUTO(py) y = x == NULL ? NULL : py_is(b, PY_SET) ? py_ref(b) : py_toset(b, false);
    bool frozen = x != NULL && (x->flags & PY_F_FROZEN) != 0 && !py_is(b, PY_VIEW);
    AUTO(py) out = py_set(frozen);

    if (x == NULL || y == NULL)
        return NULL;
    int rc = 0;
    if (op == PY_OR) {
        py_unref(out);
        out = py_dict_copy(x);
        out->flags &= (uint8_t) ~PY_F_FROZEN;
        out->flags |= frozen ? PY_F_FROZEN : 0;
        rc = py_arith_pick(out, y, x, false);
    } else {
        rc = py_arith_pick(out, x, y, op == PY_AND);
        if (rc == 0 && op == PY_XOR)
            rc = py_arith_pick(out, y, x, false);
    }
    return rc < 0 ? NULL : STEAL(out);
}

/* Unlike the methods, an operator between sets accepts nothing but sets. */
static py_t *
set_operator(py_op_t op, py_t *a, py_t *b)
{
    bool view = is_view(a) || is_view(b);

    if (op != PY_OR && op != PY_AND && op != PY_XOR && op != PY_SUB)
        return py_arith_unsupported(op, a, b);
    if (py_is(a, PY_SET) && py_is(b, PY_SET))
        return py_set_binary(op, a, b);
    /* A view combines with any iterable. */
    if (view) {
        if (!py_iterable(a) || !py_iterable(b))
            return py_raise(&py_TypeError, "'%s' object is not iterable",
                            py_type_name(py_iterable(a) ? b : a));
        return py_set_binary(op, a, b);
    }
    return py_arith_unsupported(op, a, b);
}

/* ---- dispatch --------------------------------------------------------------------------------- */

/* Asks the left host's class, then the right one's. */
static py_t *
host_binary(py_op_t op, py_t *a, py_t *b)
{
    py_t *const sides[] = { a, b };

    for (size_t i = 0; i < NELEMS(sides); i++) {
        bool not_mine = false;
        if (!py_is(sides[i], PY_HOST) || py_host_class(sides[i])->binary == NULL)
            continue;
        py_t *v = py_host_class(sides[i])->binary(op, a, b, &not_mine);
        if (v != NULL || !not_mine)
            return v;
    }
    if (op == PY_ADD && (py_is_markup(a) || py_is_markup(b)))
        return concat(a, b);
    return py_arith_unsupported(op, a, b);
}

py_t *
py_binary(py_op_t op, py_t *a, py_t *b)
{
    if (py_is_int(a) && py_is_int(b))
        return py_int_binary(op, a, b);
    if (py_arith_is_number(a) && py_arith_is_number(b))
        return float_binary(op, a, b);

    /* Operators whose operands are not both numbers. */
    if (op == PY_MOD && (py_is(a, PY_STR) || py_is(a, PY_BYTES)))
        return py_percent(a, b);
    if (op == PY_ADD && py_is_markup(a) && py_has_html(b))
        return concat(a, b);
    if (py_is(a, PY_UNDEFINED) || py_is(b, PY_UNDEFINED))
        return py_undef_raise(py_is(a, PY_UNDEFINED) ? a : b);
    if (py_is(a, PY_HOST) || py_is(b, PY_HOST))
        return host_binary(op, a, b);
    if (op == PY_ADD)
        return concat(a, b);
    if (op == PY_MUL)
        return repeat(a, b);
    if (op == PY_OR && py_is(a, PY_DICT) && py_is(b, PY_DICT)) {
        /* A | b; an OrderedDict if either is. */
        AUTO(py) v = py_dict_copy(a);
        if (py_is_odict(b))
            v->flags |= PY_F_ORDERED;
        return py_dict_update(v, b) < 0 ? NULL : STEAL(v);
    }
    if (set_like(a) || set_like(b))
        return set_operator(op, a, b);
    return py_arith_unsupported(op, a, b);
}

py_t *
py_add(py_t *a, py_t *b)
{
    return py_binary(PY_ADD, a, b);
}

/* ---- one operand ------------------------------------------------------------------------------ */

/* ~v is computed as -v - 1. */
static py_t *
int_unary(py_unary_t op, py_t *v)
{
    if (op == PY_POS)
        return py_is(v, PY_BOOL) ? py_int(v->aux) : py_ref(v);
    AUTO(py) negative = py_int_binary(PY_SUB, py_small_new(0), v);
    if (op == PY_NEG)
        return STEAL(negative);
    return py_int_binary(PY_SUB, negative, py_small_new(1));
}

py_t *
py_unary(py_unary_t op, py_t *v)
{
    static const char *const names[] = { "-", "+", "~" };

    if (py_is_int(v))
        return int_unary(op, v);
    if (py_is(v, PY_FLOAT) && op != PY_INVERT)
        return op == PY_NEG ? py_float(-py_float_value(v)) : py_ref(v);
    if (py_is(v, PY_UNDEFINED) && op != PY_INVERT)
        return py_undef_raise(v);
    return py_raise(&py_TypeError, "bad operand type for unary %s: '%s'", names[op], py_type_name(v));
}

py_t *
py_abs(py_t *v)
{
    if (py_is_int(v))
        return int_unary(py_int_sign(v) < 0 ? PY_NEG : PY_POS, v);
    if (py_is(v, PY_FLOAT))
        return py_float(fabs(py_float_value(v)));
    return py_raise(&py_TypeError, "bad operand type for abs(): '%s'", py_type_name(v));
}
