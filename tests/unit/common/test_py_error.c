/* test_py_error.c - exceptions, budgets, and what becomes of values that hold each other. */
#include <pthread.h>

#include "common/base/clock.h"
#include "common/py/py_host.h"
#include "unit/py_cases.h"

static void
test_exceptions(void **state)
{
    py_error_t e = PY_ERROR_INIT;

    assert_null(py_raised());
    assert_string_equal(py_raised_text(), "");
    assert_null(py_raise(&py_KeyError, "%d", 5));
    assert_ptr_equal(py_raised(), &py_KeyError);
    assert_true(py_raised_is(&py_LookupError));
    assert_false(py_raised_is(&py_TypeError));
    assert_string_equal(py_raised_text(), "5");
    assert_int_equal(py_raise_int(&py_ValueError, "later"), -1);
    py_take_error(&e);
    assert_null(py_raised());
    assert_string_equal(e.message, "later");
    py_restore_error(&e);
    assert_ptr_equal(py_raised(), &py_ValueError);
    assert_null(e.message);
    py_clear();
    AUTO(py) key = py_strz("it's");
    py_raise_key(key);
    assert_string_equal(py_raised_text(), "\"it's\"");
    /* What ends a render is not replaced by what it causes. */
    py_raise(&py_LimitError, "too much");
    py_raise(&py_TypeError, "a consequence");
    assert_ptr_equal(py_raised(), &py_LimitError);
    py_clear();
}

/* A long text is cut at a character's boundary. */
static void
test_long_message(void **state)
{
    buf_auto_t text = BUF_INIT;

    for (int i = 0; i < 10000; i++)
        buf_puts(&text, "é");
    py_raise(&py_ValueError, "x%s", buf_str(&text));
    size_t len = strlen(py_raised_text());
    assert_true(len > 1000 && len < 10000 && len % 2 == 1);
    py_clear();
}

/* ---- budgets ---------------------------------------------------------------------------------- */

static void
assert_limit(const char *text)
{
    assert_ptr_equal(py_raised(), &py_LimitError);
    assert_non_null(strstr(py_raised_text(), text));
    py_clear();
}

static void
test_bytes(void **state)
{
    const py_limits_t limits = { .bytes = 4 * 1024 * 1024 };
    py_scope_t scope;
    int rc = 0;

    py_scope_enter(&scope, &limits);
    AUTO(py) x = py_strz("x");
    AUTO(py) many = py_int(100000000);
    assert_null(py_binary(PY_MUL, x, many)); /* refused before it is made */
    assert_limit("4 MiB");
    AUTO(py) list = py_list();
    for (int i = 0; rc == 0; i++) {
        py_append_new(list, py_strf("number %d", i));
        rc = py_tick(); /* noticed while it grows */
    }
    assert_limit("4 MiB");
    assert_true(py_seq_len(list) > 10000 && py_seq_len(list) < 100000);
    py_destroy(&list);
    assert_int_equal(py_tick(), 0); /* what was freed can be used again */
    py_destroy(&x);
    py_scope_leave(&scope);
    assert_int_equal(py_state.live, 0);
}

static void
test_steps(void **state)
{
    const py_limits_t outer = { .steps = 100000 }, inner = { .steps = 1000 },
                      generous = { .steps = 10000000 };
    py_scope_t a, b;
    int n = 0;

    py_scope_enter(&a, &outer);
    py_scope_enter(&b, &inner);
    while (py_tick() == 0)
        n++;
    assert_int_equal(n, 1000);
    assert_limit("1000 steps");
    py_scope_leave(&b);
    for (n = 0; n < 50000; n++)
        assert_int_equal(py_tick(), 0);
    py_scope_enter(&b, &generous); /* does not outlive the scope around it */
    for (n = 0; py_tick() == 0; n++)
        ;
    py_clear();
    assert_true(n > 48000 && n <= 50000);
    py_scope_leave(&b);
    py_scope_leave(&a);
    assert_int_equal(py_tick(), 0);
}

static void
test_deadline(void **state)
{
    const py_limits_t limits = { .deadline_ms = clock_mono_ms() - 1 };
    py_scope_t scope;
    int n = 0;

    py_scope_enter(&scope, &limits);
    while (py_tick() == 0)
        n++;
    assert_true(n < 10000);
    assert_limit("too long");
    py_scope_leave(&scope);
}

static void
test_depth(void **state)
{
    const py_limits_t limits = { .depth = 10 };
    py_scope_t scope;
    AUTO(py) nested = py_list();

    for (int i = 0; i < 20; i++) {
        py_t *outer = py_list();
        py_append_new(outer, nested);
        nested = outer;
    }
    py_scope_enter(&scope, &limits);
    assert_null(py_repr(nested));
    assert_ptr_equal(py_raised(), &py_RecursionError);
    py_clear();
    assert_null(py_to_json(nested));
    assert_ptr_equal(py_raised(), &py_RecursionError);
    py_clear();
    assert_int_equal(py_state.depth, 0);
    py_scope_leave(&scope);
    AUTO(py) text = py_repr(nested);
    assert_int_equal(strlen(py_cstr(text)), 42);
}

/* ---- what holds itself ----------------------------------------------------------------------- */

typedef struct closure {
    py_t *held;
} closure_t;

static void
closure_free(void *data)
{
    closure_t *c = data;

    py_unref(c->held);
    free(c);
}

static void
closure_walk(void *data, py_visit_fn *visit, void *cookie)
{
    visit(((closure_t *) data)->held, cookie);
}

static py_t *
closure_call(void *data, const py_args_t *args)
{
    return py_ref(((closure_t *) data)->held);
}

static const py_fn_class_t closure_class = {
    .name = "closure", .fn = closure_call, .free = closure_free, .walk = closure_walk
};

/* Each container holds the next, the last one the first. */
static void
make_ring(void)
{
    AUTO(py) list = py_list();
    AUTO(py) dict = py_dict();
    AUTO(py) tuple = py_tuple(1);
    AUTO(py) ns = py_namespace();
    AUTO(py) name = py_strz("append");
    AUTO(py) bound = py_getattr(list, name);
    closure_t *c = xcalloc(1, sizeof(*c));
    AUTO(py) func = py_func(&closure_class, c);

    py_append(list, dict);
    py_dict_sets(dict, "tuple", tuple);
    py_tuple_set(tuple, 0, ns);
    py_setattr(ns, name, func);
    c->held = py_ref(bound); /* which holds the list */
}

static void
test_cycles(void **state)
{
    const py_limits_t none = { 0 };
    py_scope_t scope, inner;
    AUTO(py) kept = py_list();

    int64_t before = py_state.live;
    py_scope_enter(&scope, &none);
    make_ring();
    py_scope_enter(&inner, &none);
    make_ring();
    AUTO(py) survivor = py_list(); /* in a cycle, but held from outside */
    py_append(survivor, survivor);
    py_append(survivor, kept);
    int64_t with_rings = py_state.live;
    py_scope_leave(&inner);
    assert_true(py_state.live < with_rings);
    assert_int_equal(py_seq_len(survivor), 2);
    py_destroy(&survivor);
    py_scope_leave(&scope);
    assert_int_equal(py_state.live, before);
    AUTO(py) text = py_repr(kept);
    assert_string_equal(py_cstr(text), "[]");
}

/* A chain of a hundred thousand lists ends without as many calls within each other. */
static void
test_deep_end(void **state)
{
    AUTO(py) nested = py_list();
    for (int i = 0; i < 100000; i++) {
        py_t *outer = py_list();
        py_append_new(outer, nested);
        nested = outer;
    }
    py_destroy(&nested);
    assert_int_equal(py_state.live, 0);
}

static void *
in_thread(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        AUTO(py) list = py_list();
        for (int k = 0; k < 20; k++)
            py_append_new(list, py_strf("%d", k));
    }
    return py_state.live == 0 ? NULL : (void *) "something is left";
}

/* Each thread has its own values, and leaves nothing behind. */
static void
test_threads(void **state)
{
    pthread_t threads[4];
    void *result;

    for (size_t i = 0; i < NELEMS(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, in_thread, NULL), 0);
    for (size_t i = 0; i < NELEMS(threads); i++) {
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_null(result);
    }
}

UNIT_MAIN(cmocka_unit_test(test_exceptions), cmocka_unit_test(test_long_message),
          cmocka_unit_test(test_bytes), cmocka_unit_test(test_steps), cmocka_unit_test(test_deadline),
          cmocka_unit_test(test_depth), cmocka_unit_test(test_cycles), cmocka_unit_test(test_deep_end),
          cmocka_unit_test(test_threads))
