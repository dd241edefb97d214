/* tests_builtin.c - Jinja's tests, the names after `is`. Each is a function of a value and a row; a result is
 * 1, 0, or -1 raised. */
#include "common/jinja/filter/filter.h"
#include "common/py/py_obj.h"

/* v % n == want. Non-negative numbers below 2^31 take a 32-bit division, which is faster. */
static int
modulo(py_t *v, py_t *n, int64_t want)
{
    bool quick = py_small(v) && py_small(n) && (((uintptr_t) v | (uintptr_t) n) >> 32) == 0;
    if (quick && py_small_value(n) > 0)
        return (uint32_t) py_small_value(v) % (uint32_t) py_small_value(n) == want;
    AUTO(py) rest = py_binary(PY_MOD, v, n);
    AUTO(py) wanted = py_int(want);
    return rest != NULL ? py_eq(rest, wanted) : -1;
}

/* Parity by the lowest bit, which also holds for negative numbers in two's complement. */
static int
parity(py_t *v, int64_t want)
{
    if (py_small(v))
        return (py_small_value(v) & 1) == want;
    AUTO(py) two = py_int(2);
    return modulo(v, two, want);
}

#define TEST(fn) static int fn(jcontext_t *ctx, py_t *const *a)

TEST(test_odd)
{
    return parity(a[0], 1);
}

TEST(test_even)
{
    return parity(a[0], 0);
}

TEST(test_divisibleby)
{
    return modulo(a[0], a[1], 0);
}

TEST(test_defined)
{
    return !py_is(a[0], PY_UNDEFINED);
}

TEST(test_undefined)
{
    return py_is(a[0], PY_UNDEFINED);
}

/* 1 when there is a filter or test of that name, -1 raised for an unhashable name, as Python's `in`. */
static int
test_known(jcontext_t *ctx, py_t *name, bool test)
{
    uint64_t hash;
    if (py_hash(name, &hash) < 0)
        return -1;
    const jinja_t *engine = ctx->session->engine;
    const char *text = py_cstr(name);
    return py_is(name, PY_STR) && (test ? jtest_find(engine, text) : jfilter_find(engine, text)) != NULL;
}

TEST(test_filter)
{
    return test_known(ctx, a[0], false);
}

TEST(test_test)
{
    return test_known(ctx, a[0], true);
}

TEST(test_none)
{
    return py_is(a[0], PY_NONE);
}

TEST(test_boolean)
{
    return py_is(a[0], PY_BOOL);
}

TEST(test_false)
{
    return a[0] == PY_False;
}

TEST(test_true)
{
    return a[0] == PY_True;
}

TEST(test_integer)
{
    return py_is(a[0], PY_INT);
}

TEST(test_float)
{
    return py_is(a[0], PY_FLOAT);
}

/* A method of str(v) that answers yes or no. */
static int
tests_builtin_on_text(py_t *v, const char *method)
{
    AUTO(py) s = py_tostr(v);
    AUTO(py) so = s != NULL ? jmethod(s, method, 0) : NULL;
    return so != NULL ? py_truth(so) : -1;
}

TEST(test_lower)
{
    return tests_builtin_on_text(a[0], "islower");
}

TEST(test_upper)
{
    return tests_builtin_on_text(a[0], "isupper");
}

TEST(test_string)
{
    return py_is(a[0], PY_STR);
}

TEST(test_mapping)
{
    return py_is(a[0], PY_DICT);
}

TEST(test_number)
{
    return py_is(a[0], PY_INT) || py_is(a[0], PY_FLOAT) || py_is(a[0], PY_BOOL);
}

/* True for values with a length and elements; an undefined value that raises when asked counts as false. */
TEST(test_sequence)
{
    switch (py_type(a[0])) {
    case PY_STR:
    case PY_BYTES:
    case PY_LIST:
    case PY_TUPLE:
    case PY_DICT:
    case PY_RANGE:
        return 1;
    case PY_UNDEFINED:
        return (py_undef_class(a[0])->flags & PY_UNDEF_TRUTH) == 0;
    case PY_HOST:
        return py_host_class(a[0])->len != NULL && py_host_class(a[0])->find_item != NULL;
    default:
        return 0;
    }
}

TEST(test_iterable)
{
    if (py_is(a[0], PY_UNDEFINED)) {
        if ((py_undef_class(a[0])->flags & PY_UNDEF_TRUTH) != 0)
            return py_undef_raise(a[0]) != NULL ? 1 : -1;
        return 1;
    }
    return py_iterable(a[0]);
}

TEST(test_callable)
{
    return py_callable(a[0]);
}

TEST(test_sameas)
{
    return py_same(a[0], a[1]);
}

TEST(test_escaped)
{
    return py_has_html(a[0]);
}

TEST(test_in)
{
    return py_in(a[0], a[1]);
}

TEST(test_eq)
{
    return py_compare(a[0], a[1], PY_EQ);
}

TEST(test_ne)
{
    return py_compare(a[0], a[1], PY_NE);
}

TEST(test_gt)
{
    return py_compare(a[0], a[1], PY_GT);
}

TEST(test_ge)
{
    return py_compare(a[0], a[1], PY_GE);
}

TEST(test_lt)
{
    return py_compare(a[0], a[1], PY_LT);
}

TEST(test_le)
{
    return py_compare(a[0], a[1], PY_LE);
}

#define TEST_ROW(name, fn, params, min, max, flags, doc)                                                     \
    ROW(name, { .test = fn }, { #fn, params, min, max, 0 }, JF_TEST | (flags), doc)
#define ONE(name, fn, doc)     TEST_ROW(name, fn, JP("value"), 1, 1, 0, doc)
#define TWO(name, fn, py, doc) ROW(name, { .test = fn }, { py, NULL, 2, 2, PY_SIG_C }, JF_TEST, doc)

static const jfilter_t rows[] = {
    ONE("boolean", test_boolean, "True or False."),
    ONE("callable", test_callable, "Can be called."),
    ONE("defined", test_defined, "There is such a variable."),
    TEST_ROW("divisibleby", test_divisibleby, JP("value", "num"), 2, 2, 0, "Without a rest."),
    TWO("==", test_eq, "eq", "Equal."),
    TWO("eq", test_eq, "eq", "Equal."),
    TWO("equalto", test_eq, "eq", "Equal."),
    ONE("escaped", test_escaped, "Safe in HTML."),
    ONE("even", test_even, "Divisible by two."),
    ONE("false", test_false, "False itself."),
    TEST_ROW("filter", test_filter, JP("env", "value"), 2, 2, JF_CONTEXT, "The name of a filter."),
    ONE("float", test_float, "A number with a fraction."),
    TWO(">=", test_ge, "ge", "Not less."),
    TWO("ge", test_ge, "ge", "Not less."),
    TWO(">", test_gt, "gt", "More."),
    TWO("gt", test_gt, "gt", "More."),
    TWO("greaterthan", test_gt, "gt", "More."),
    TEST_ROW("in", test_in, JP("value", "seq"), 2, 2, 0, "An element of."),
    ONE("integer", test_integer, "A whole number."),
    ONE("iterable", test_iterable, "Has elements."),
    TWO("<=", test_le, "le", "Not more."),
    TWO("le", test_le, "le", "Not more."),
    TWO("<", test_lt, "lt", "Less."),
    TWO("lt", test_lt, "lt", "Less."),
    TWO("lessthan", test_lt, "lt", "Less."),
    ONE("lower", test_lower, "In lower case."),
    ONE("mapping", test_mapping, "A dict."),
    TWO("!=", test_ne, "ne", "Not equal."),
    TWO("ne", test_ne, "ne", "Not equal."),
    ONE("none", test_none, "None itself."),
    ONE("number", test_number, "A number."),
    ONE("odd", test_odd, "Not divisible by two."),
    TEST_ROW("sameas", test_sameas, JP("value", "other"), 2, 2, 0, "The same object."),
    ONE("sequence", test_sequence, "Has a length and elements by number."),
    ONE("string", test_string, "A text."),
    TEST_ROW("test", test_test, JP("env", "value"), 2, 2, JF_CONTEXT, "The name of a test."),
    ONE("true", test_true, "True itself."),
    ONE("undefined", test_undefined, "There is no such variable."),
    ONE("upper", test_upper, "In upper case."),
};

const jfilter_table_t jtests_builtin = JTABLE(rows);
