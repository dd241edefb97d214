/* test_py_yaml.c - YAML that refers to itself, and back. What documents mean: tests/cases/py/yaml-*.json. */
#include "common/py/py_yaml.h"

#include <sys/resource.h>

#include "common/py/py_error.h"
#include "common/py/py_json.h"
#include "common/py/py_ops.h"
#include "unit/unit.h"

static const py_limits_t no_limits;

/* A list that contains itself is written with an anchor, and read back as such. */
static void
test_cycle(void **state)
{
    yproblem_t problem = YPROBLEM_INIT;
    py_scope_t scope;

    py_scope_enter(&scope, &no_limits);
    AUTO(py) list = py_list();
    py_append(list, list);
    AUTO(py) text = py_yaml_dump(list, PY_YAML_BLOCK, NULL);
    assert_string_equal(py_cstr(text), "&id001\n- *id001\n");
    AUTO(py) again = py_yaml_load(py_cstr(text), strlen(py_cstr(text)), true, &problem);
    assert_ptr_equal(py_seq_at(again, 0), again);
    py_destroy(&list);
    py_destroy(&again);
    py_destroy(&text);
    py_scope_leave(&scope);
    assert_int_equal(py_state.live, 0);
}

/* Aliases of aliases: small in memory, since each is the same value again. */
static void
test_alias_bomb(void **state)
{
    buf_auto_t text = BUF_INIT;
    yproblem_t problem = YPROBLEM_INIT;

    buf_puts(&text, "- &a0 [x]\n");
    for (int i = 1; i < 60; i++)
        buf_printf(&text, "- &a%d [*a%d, *a%d, *a%d]\n", i, i - 1, i - 1, i - 1);
    AUTO(py) v = py_yaml_load(buf_str(&text), text.len, true, &problem);
    assert_non_null(v);
    assert_true(py_state.live < 100000);
    json_t *expanded = NULL;
    py_limits_t few = { .steps = 100000 };
    py_scope_t scope;
    py_scope_enter(&scope, &few);
    expanded = py_to_json(v);
    assert_null(expanded);
    assert_ptr_equal(py_raised(), &py_LimitError);
    py_clear();
    py_scope_leave(&scope);
}

/* A list, or with `key` a list as a key: one long scalar, and twelve thousand aliases of it. */
static void
put_aliases(buf_t *text, const char *tag, bool key)
{
    buf_puts(text, key ? "? [" : "- ");
    buf_printf(text, "&a %s", tag);
    buf_fill(text, 'x', 100000);
    buf_puts(text, key ? "" : "\n- [x");
    for (int i = 0; i < 12000; i++)
        buf_puts(text, ", *a");
    buf_puts(text, key ? "]\n: 1\n" : "]\n");
}

static long
peak_kib(void)
{
    struct rusage used;

    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    return used.ru_maxrss;
}

/* An alias of a scalar is the same value again too, and a message shows the beginning only. */
static void
test_scalar_aliases(void **state)
{
    static const struct {
        const char *tag;
        bool key;
    } rows[] = { { "", false }, { "!!binary ", false }, { "", true } };
    const py_limits_t little = { .bytes = 64 * 1024 * 1024 };
    py_scope_t scope;
    long before = peak_kib();

    for (size_t i = 0; i < NELEMS(rows); i++) {
        buf_auto_t text = BUF_INIT;
        yproblem_t problem = YPROBLEM_INIT;
        put_aliases(&text, rows[i].tag, rows[i].key);
        py_scope_enter(&scope, &little);
        AUTO(py) v = py_yaml_load(buf_str(&text), text.len, true, &problem);
        assert_int_equal(v == NULL, rows[i].key);
        assert_true(py_state.live < 1024 * 1024);
        py_clear();
        py_destroy(&v);
        py_scope_leave(&scope);
        yproblem_free(&problem);
    }
    assert_true(peak_kib() - before < 100 * 1024);
}

/* What is made counts against the limits of the scope. */
static void
test_limits(void **state)
{
    const py_limits_t few = { .steps = 1000 }, little = { .bytes = 100000 };
    const py_limits_t *const limits[] = { &few, &little };
    yproblem_t problem = YPROBLEM_INIT;
    buf_auto_t text = BUF_INIT;
    py_scope_t scope;

    for (int i = 0; i < 10000; i++)
        buf_printf(&text, "- {a: %d}\n", i);
    for (size_t i = 0; i < NELEMS(limits); i++) {
        py_scope_enter(&scope, limits[i]);
        assert_null(py_yaml_load(buf_str(&text), text.len, true, &problem));
        assert_ptr_equal(py_raised(), &py_LimitError);
        assert_string_equal(problem.text, py_raised_text());
        py_clear();
        py_scope_leave(&scope);
        yproblem_free(&problem);
    }
}

/* What is not text in PyYAML's safe loader stays what it is when it is written again. */
static void
test_safe(void **state)
{
    static const char text[] =
        "- 2024-02-29\n- 2024-02-29 10:11:12.5\n- '2024-02-29'\n- 2001-1-1T1:00:00Z: x\n";
    yproblem_t problem = YPROBLEM_INIT;

    AUTO(py) v = py_yaml_load_safe(text, strlen(text), &problem);
    assert_non_null(v);
    AUTO(py) again = py_yaml_dump(v, PY_YAML_BLOCK, NULL);
    assert_string_equal(py_cstr(again), text);
    AUTO(py) other = py_yaml_load_safe(text, strlen(text), &problem);
    assert_int_equal(py_eq(v, other), 1);
    assert_int_equal(py_eq(py_seq_at(v, 0), py_seq_at(v, 2)), 0);
    assert_int_equal(py_eq(py_seq_at(v, 2), py_seq_at(v, 0)), 0);
    AUTO(py) octal = py_yaml_load_safe("0644", 4, &problem);
    AUTO(py) decimal = py_yaml_load("0644", 4, false, &problem);
    int64_t n = 0;
    assert_true(py_to_int64(octal, &n) && n == 0644);
    assert_true(py_to_int64(decimal, &n) && n == 644);
}

/* What is tagged as a time keeps its tag where its text alone would not say so, and is one, or refused. */
static void
test_tagged_time(void **state)
{
    static const char odd[] = "- !!timestamp 2001-1-1\n- 2001-01-01\n", none[] = "a: !!timestamp foo\n";
    yproblem_t problem = YPROBLEM_INIT;

    AUTO(py) v = py_yaml_load_safe(odd, strlen(odd), &problem);
    assert_non_null(v);
    AUTO(py) again = py_yaml_dump(v, PY_YAML_BLOCK, NULL);
    assert_string_equal(py_cstr(again), odd);
    assert_null(py_yaml_load_safe(none, strlen(none), &problem));
    assert_ptr_equal(py_raised(), &py_ValueError);
    assert_string_equal(problem.text, "'foo' is not a date or a time");
    assert_int_equal(problem.at.column, 3);
    py_clear();
    yproblem_free(&problem);
}

UNIT_MAIN(cmocka_unit_test(test_cycle), cmocka_unit_test(test_alias_bomb), cmocka_unit_test(test_safe),
          cmocka_unit_test(test_tagged_time), cmocka_unit_test(test_scalar_aliases),
          cmocka_unit_test(test_limits))
