/* test_py_host.c - what an engine brings: functions, iterators, objects, undefined values; and the binding of
 * arguments. */
#include "common/py/py_host.h"

#include "unit/py_cases.h"

static py_t *
call_with(py_t *f, size_t n, py_t **v, const char *name, py_t *value)
{
    AUTO(py) key = name != NULL ? py_strz(name) : NULL;
    const py_args_t args = { n, v, name != NULL ? 1 : 0, &key, &value };

    return py_call(f, &args);
}

static void
assert_raises(const py_exc_t *type, const char *text)
{
    assert_ptr_equal(py_raised(), type);
    assert_string_equal(py_raised_text(), text);
    py_clear();
}

static void
assert_repr(py_t *v, const char *text)
{
    AUTO(py) shown = py_repr(v);

    assert_non_null(shown);
    assert_string_equal(py_cstr(shown), text);
}

/* ---- functions and iterators ----------------------------------------------------------------- */

static const char *const greet_params[] = { "name", "greeting", NULL };
static const py_sig_t greet_sig = { "greet", greet_params, 1, 2, 0 };

static py_t *
greet(void *data, const py_args_t *args)
{
    py_t *slots[2];

    if (py_bind(args, &greet_sig, slots) < 0)
        return NULL;
    return py_strf("%s %s%s", slots[1] != NULL ? py_cstr(slots[1]) : "hello", py_cstr(slots[0]),
                   (const char *) data);
}

static const py_fn_class_t greet_class = { .name = "greet", .fn = greet, .marks = 7 };

static void
test_function(void **state)
{
    char mark[] = "!";
    AUTO(py) f = py_func(&greet_class, mark);
    AUTO(py) name = py_strz("Ada");
    AUTO(py) bye = py_strz("bye");
    py_t *both[] = { name, bye, bye };
    void *data = NULL;

    assert_true(py_callable(f));
    assert_ptr_equal(py_func_class(f, &data), &greet_class);
    assert_ptr_equal(data, mark);
    assert_string_equal(py_type_name(f), "function");
    AUTO(py) a = call_with(f, 1, both, NULL, NULL);
    assert_repr(a, "'hello Ada!'");
    AUTO(py) b = call_with(f, 1, both, "greeting", bye);
    assert_repr(b, "'bye Ada!'");
    assert_null(call_with(f, 0, both, NULL, NULL));
    assert_raises(&py_TypeError, "greet() missing 1 required positional argument: 'name'");
    assert_null(call_with(f, 3, both, NULL, NULL));
    assert_raises(&py_TypeError, "greet() takes from 1 to 2 positional arguments but 3 were given");
    assert_null(call_with(f, 1, both, "nope", bye));
    assert_raises(&py_TypeError, "greet() got an unexpected keyword argument 'nope'");
    assert_null(call_with(f, 1, both, "name", bye));
    assert_raises(&py_TypeError, "greet() got multiple values for argument 'name'");
    assert_null(call_with(name, 0, both, NULL, NULL));
    assert_raises(&py_TypeError, "'str' object is not callable");
}

static py_t *
next_square(void *data)
{
    int64_t *n = data;

    ++*n;
    if (*n == 4)
        return py_raise(&py_ValueError, "no four");
    return *n > 5 ? NULL : py_int(*n * *n);
}

static const py_gen_class_t square_class = { .name = "squares", .next = next_square };

static void
test_iterator(void **state)
{
    int64_t n = 0;
    AUTO(py) squares = py_gen(&square_class, &n);

    assert_ptr_equal(py_gen_data(squares, &square_class), &n);
    assert_null(py_tolist(squares));
    assert_raises(&py_ValueError, "no four");
    AUTO(py) rest = py_tolist(squares); /* it goes on where it was */
    assert_repr(rest, "[25]");
    assert_null(py_next(squares));
    assert_null(py_raised());
    AUTO(py) text = py_strz("aé");
    AUTO(py) it = py_iter(text);
    AUTO(py) first = py_next(it);
    AUTO(py) second = py_next(it);
    assert_repr(first, "'a'");
    assert_repr(second, "'é'");
    assert_null(py_next(it));
    AUTO(py) same = py_iter(it);
    assert_ptr_equal(same, it);
    assert_int_equal(py_len(it), -1);
    assert_raises(&py_TypeError, "object of type 'str_iterator' has no len()");
}

/* What Python finds out about a dict that grows under an iterator. */
static void
test_changed_dict(void **state)
{
    AUTO(py) dict = py_dict();
    py_iter_t it;

    py_dict_sets_new(dict, "a", py_int(1));
    assert_int_equal(py_iter_start(&it, dict), 0);
    AUTO(py) first = py_iter_next(&it);
    assert_non_null(first);
    py_dict_sets_new(dict, "b", py_int(2));
    assert_null(py_iter_next(&it));
    assert_raises(&py_RuntimeError, "dictionary changed size during iteration");
    py_iter_end(&it);
}

/* ---- objects ---------------------------------------------------------------------------------- */

static int
point_attr(py_t *self, py_t *name, py_t **ret_v)
{
    const int *xy = py_host_data(self, py_host_class(self));

    if (!py_str_is(name, "x") && !py_str_is(name, "y"))
        return 0;
    *ret_v = py_int(xy[py_str_is(name, "y")]);
    return 1;
}

static int
point_eq(py_t *a, py_t *b)
{
    const int *p = py_host_data(a, py_host_class(a)),
              *q = py_is(b, PY_HOST) ? py_host_data(b, py_host_class(a)) : NULL;

    return q != NULL && p[0] == q[0] && p[1] == q[1];
}

static py_t *
point_iter(py_t *self)
{
    const int *xy = py_host_data(self, py_host_class(self));
    AUTO(py) pair = py_tuple_of(2, py_int(xy[0]), py_int(xy[1]));

    return py_iter(pair);
}

static int
point_str(py_t *self, buf_t *out)
{
    const int *xy = py_host_data(self, py_host_class(self));

    buf_printf(out, "%d|%d", xy[0], xy[1]);
    return 0;
}

static const py_class_t point_class = {
    .name = "Point", .find_attr = point_attr, .eq = point_eq, .iter = point_iter, .str = point_str
};

static void
test_object(void **state)
{
    int a[] = { 1, 2 }, b[] = { 1, 2 };
    AUTO(py) p = py_host(&point_class, a);
    AUTO(py) q = py_host(&point_class, b);
    AUTO(py) x = py_getattrs(p, "x");
    uint64_t hash;

    assert_repr(x, "1");
    assert_null(py_getattrs(p, "z"));
    assert_raises(&py_AttributeError, "'Point' object has no attribute 'z'");
    assert_int_equal(py_eq(p, q), 1);
    assert_int_equal(py_truth(p), 1);
    AUTO(py) list = py_tolist(p);
    assert_repr(list, "[1, 2]");
    assert_int_equal(py_in(py_int(2), p), 1);
    assert_int_equal(py_in(py_int(3), p), 0);
    AUTO(py) text = py_tostr(p);
    assert_repr(text, "'1|2'");
    assert_int_equal(py_hash(p, &hash), -1); /* eq without hash */
    assert_raises(&py_TypeError, "unhashable type: 'Point'");
    assert_int_equal(py_len(p), -1);
    assert_raises(&py_TypeError, "object of type 'Point' has no len()");
    assert_null(py_add(p, q));
    assert_raises(&py_TypeError, "unsupported operand type(s) for +: 'Point' and 'Point'");
    assert_int_equal(py_compare(p, q, PY_LT), -1);
    assert_raises(&py_TypeError, "'<' not supported between instances of 'Point' and 'Point'");
    assert_null(py_getitem(p, x));
    assert_raises(&py_TypeError, "'Point' object is not subscriptable");
}

/* ---- undefined -------------------------------------------------------------------------------- */

static void
test_undefined(void **state)
{
    AUTO(py) name = py_strz("x");
    AUTO(py) u = py_undefined(&py_Undefined, NULL, name, NULL, NULL);
    AUTO(py) text = py_tostr(u);
    AUTO(py) list = py_tolist(u);
    py_t *found = NULL;

    assert_repr(text, "''");
    assert_repr(list, "[]");
    assert_repr(u, "Undefined");
    assert_int_equal(py_truth(u), 0);
    assert_int_equal(py_len(u), 0);
    assert_null(py_add(u, name));
    assert_raises(&py_UndefinedError, "'x' is undefined");
    assert_null(py_add(py_int(1), u));
    assert_raises(&py_UndefinedError, "'x' is undefined");
    assert_int_equal(py_find_attr(u, name, &found), -1);
    assert_raises(&py_UndefinedError, "'x' is undefined");
    assert_null(call_with(u, 0, NULL, NULL, NULL));
    assert_raises(&py_UndefinedError, "'x' is undefined");
}

static void
test_strict(void **state)
{
    AUTO(py) name = py_strz("x");
    AUTO(py) dict = py_dict();
    AUTO(py) strict = py_undefined(&py_StrictUndefined, dict, name, NULL, NULL);
    AUTO(py) chain = py_undefined(&py_ChainableUndefined, NULL, name, NULL, NULL);
    AUTO(py) debug = py_undefined(&py_DebugUndefined, NULL, name, NULL, NULL);
    AUTO(py) list = py_list();
    static const char missing[] = "'dict object' has no attribute 'x'";

    assert_null(py_tostr(strict));
    assert_raises(&py_UndefinedError, missing);
    assert_int_equal(py_truth(strict), -1);
    assert_raises(&py_UndefinedError, missing);
    assert_int_equal(py_eq(strict, name), -1);
    assert_raises(&py_UndefinedError, missing);
    py_append(list, strict);
    assert_repr(list, "[Undefined]");
    AUTO(py) further = py_getattrs(chain, "y");
    assert_ptr_equal(further, chain);
    AUTO(py) shown = py_tostr(debug);
    assert_repr(shown, "'{{ x }}'");
    AUTO(py) hint = py_undefined(&py_StrictUndefined, NULL, NULL, "a hint", &py_ValueError);
    assert_null(py_tostr(hint));
    assert_raises(&py_ValueError, "a hint");
}

UNIT_MAIN(cmocka_unit_test(test_function), cmocka_unit_test(test_iterator),
          cmocka_unit_test(test_changed_dict), cmocka_unit_test(test_object),
          cmocka_unit_test(test_undefined), cmocka_unit_test(test_strict))
