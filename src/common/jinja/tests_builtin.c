/* tests_builtin.c - what may stand after `is`. */
#include "common/jinja/filter.h"
#include "common/py/py_obj.h"

static py_t *
answer(int rc)
{
    return rc < 0 ? NULL : py_bool(rc > 0);
}

/* v % n == want */
static py_t *
modulo(py_t *v, py_t *n, int64_t want)
{
    if (py_small(v) && py_small(n) && py_small_value(n) > 0) {
        int64_t small_rest = py_small_value(v) % py_small_value(n);
        return py_bool((small_rest < 0 ? small_rest + py_small_value(n) : small_rest) == want);
    }
    AUTO(py) rest = py_binary(PY_MOD, v, n);
    AUTO(py) wanted = py_int(want);
    return rest != NULL ? answer(py_eq(rest, wanted)) : NULL;
}

#define TEST(fn) static py_t *fn(UNUSED jcontext_t *ctx, UNUSED py_t *const *a, UNUSED const py_args_t *args)

TEST(test_odd)
{
    AUTO(py) two = py_int(2);
    return modulo(a[0], two, 1);
}

TEST(test_even)
{
    AUTO(py) two = py_int(2);
    return modulo(a[0], two, 0);
}

TEST(test_divisibleby)
{
    return modulo(a[0], a[1], 0);
}

TEST(test_defined)
{
    return py_bool(!py_is(a[0], PY_UNDEFINED));
}

TEST(test_undefined)
{
    return py_bool(py_is(a[0], PY_UNDEFINED));
}

/* Whether there is a filter or test of that name. */
static py_t *
test_known(jcontext_t *ctx, py_t *name, bool test)
{
    uint64_t hash;
    if (py_hash(name, &hash) < 0)
        return NULL;
    const jinja_t *engine = ctx->session->engine;
    const char *text = py_cstr(name);
    return py_bool(py_is(name, PY_STR) &&
                   (test ? jtest_find(engine, text) : jfilter_find(engine, text)) != NULL);
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
    return py_bool(py_is(a[0], PY_NONE));
}

TEST(test_boolean)
{
    return py_bool(py_is(a[0], PY_BOOL));
}

TEST(test_false)
{
    return py_bool(a[0] == PY_False);
}

TEST(test_true)
{
    return py_bool(a[0] == PY_True);
}

TEST(test_integer)
{
    return py_bool(py_is(a[0], PY_INT));
}

TEST(test_float)
{
    return py_bool(py_is(a[0], PY_FLOAT));
}

static py_t *
on_text(py_t *v, const char *method)
{
    AUTO(py) s = py_tostr(v);
    return s != NULL ? jmethod(s, method, 0) : NULL;
}

TEST(test_lower)
{
    return on_text(a[0], "islower");
}

TEST(test_upper)
{
    return on_text(a[0], "isupper");
}

TEST(test_string)
{
    return py_bool(py_is(a[0], PY_STR));
}

TEST(test_mapping)
{
    return py_bool(py_is(a[0], PY_DICT));
}

TEST(test_number)
{
    return py_bool(py_is(a[0], PY_INT) || py_is(a[0], PY_FLOAT) || py_is(a[0], PY_BOOL));
}

/* What has a length and elements: asking an undefined value may raise, which is a "no". */
TEST(test_sequence)
{
    switch (py_type(a[0])) {
    case PY_STR:
    case PY_BYTES:
    case PY_LIST:
    case PY_TUPLE:
    case PY_DICT:
    case PY_RANGE:
        return py_ref(PY_True);
    case PY_UNDEFINED:
        return py_bool((py_undef_class(a[0])->flags & PY_UNDEF_TRUTH) == 0);
    case PY_HOST:
        return py_bool(py_host_class(a[0])->len != NULL && py_host_class(a[0])->find_item != NULL);
    default:
        return py_ref(PY_False);
    }
}

TEST(test_iterable)
{
    if (py_is(a[0], PY_UNDEFINED)) {
        if ((py_undef_class(a[0])->flags & PY_UNDEF_TRUTH) != 0)
            return py_undef_raise(a[0]);
        return py_ref(PY_True);
    }
    return py_bool(py_iterable(a[0]));
}

TEST(test_callable)
{
    return py_bool(py_callable(a[0]));
}

TEST(test_sameas)
{
    return py_bool(py_same(a[0], a[1]));
}

TEST(test_escaped)
{
    return py_bool(py_has_html(a[0]));
}

TEST(test_in)
{
    return answer(py_in(a[0], a[1]));
}

TEST(test_eq)
{
    return answer(py_compare(a[0], a[1], PY_EQ));
}

TEST(test_ne)
{
    return answer(py_compare(a[0], a[1], PY_NE));
}

TEST(test_gt)
{
    return answer(py_compare(a[0], a[1], PY_GT));
}

TEST(test_ge)
{
    return answer(py_compare(a[0], a[1], PY_GE));
}

TEST(test_lt)
{
    return answer(py_compare(a[0], a[1], PY_LT));
}

TEST(test_le)
{
    return answer(py_compare(a[0], a[1], PY_LE));
}

#define ONE(name, fn, doc)                                                                                   \
    {                                                                                                        \
        name, fn, { #fn, JP("value"), 1, 1, 0 }, 0, doc                                                      \
    }
#define TWO(name, fn, py, doc)                                                                               \
    {                                                                                                        \
        name, fn, { py, NULL, 2, 2, PY_SIG_C }, 0, doc                                                       \
    }

static const jfilter_t rows[] = {
    ONE("boolean", test_boolean, "True or False."),
    ONE("callable", test_callable, "Can be called."),
    ONE("defined", test_defined, "There is such a variable."),
    { JROW("divisibleby", test_divisibleby, JP("value", "num"), 2, 2, 0), 0, "Without a rest." },
    TWO("==", test_eq, "eq", "Equal."),
    TWO("eq", test_eq, "eq", "Equal."),
    TWO("equalto", test_eq, "eq", "Equal."),
    ONE("escaped", test_escaped, "Safe in HTML."),
    ONE("even", test_even, "Divisible by two."),
    ONE("false", test_false, "False itself."),
    { JROW("filter", test_filter, JP("env", "value"), 2, 2, 0), JF_CONTEXT, "The name of a filter." },
    ONE("float", test_float, "A number with a fraction."),
    TWO(">=", test_ge, "ge", "Not less."),
    TWO("ge", test_ge, "ge", "Not less."),
    TWO(">", test_gt, "gt", "More."),
    TWO("gt", test_gt, "gt", "More."),
    TWO("greaterthan", test_gt, "gt", "More."),
    { JROW("in", test_in, JP("value", "seq"), 2, 2, 0), 0, "An element of." },
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
    { JROW("sameas", test_sameas, JP("value", "other"), 2, 2, 0), 0, "The same object." },
    ONE("sequence", test_sequence, "Has a length and elements by number."),
    ONE("string", test_string, "A text."),
    { JROW("test", test_test, JP("env", "value"), 2, 2, 0), JF_CONTEXT, "The name of a test." },
    ONE("true", test_true, "True itself."),
    ONE("undefined", test_undefined, "There is no such variable."),
    ONE("upper", test_upper, "In upper case."),
};

const jfilter_table_t jtests_builtin = JTABLE(rows);
