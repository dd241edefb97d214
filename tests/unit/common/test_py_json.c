/* test_py_json.c - each rule for what JSON cannot say. (json.dumps and json.loads: test_py_cases.c) */
#include "common/py/py_json.h"

#include <malloc.h>

#include "common/py/py_host.h"
#include "common/py/py_ops.h"
#include "common/py/py_wire.h"
#include "unit/py_cases.h"

/* `tagged` is a value as the cases write it; TAKES nothing, compares texts. */
static void
check(const char *tagged, const char *want)
{
    json_auto_t *given = json_loads(tagged, JSON_DECODE_ANY, NULL);
    AUTO(py) v = untag(given);
    json_auto_t *got = py_to_json(v);
    AUTO_FREE char *text = got != NULL ? value_dump(got) : xstrdup(py_raised_text());

    if (!str_eq(text, want))
        fail_msg("%s: wanted %s, got %s", tagged, want, text);
}

static void
test_rules(void **state)
{
    check("{\"a\": [1, 2.5, true, null, \"x\"]}", "{\"a\":[1,2.5,true,null,\"x\"]}");
    check("{\"__tuple__\": [1, {\"__set__\": [2]}]}", "[1,[2]]");
    check("{\"__range__\": [0, 3, 1]}", "[0,1,2]");
    check("{\"__view__\": [\"items\", {\"a\": 1}]}", "[[\"a\",1]]");
    check("{\"__odict__\": [[\"b\", 1], [\"a\", 2]]}", "{\"b\":1,\"a\":2}");
    check("{\"__pairs__\": [[1, \"a\"], [null, \"b\"], [true, \"c\"], [2.5, \"d\"], [{\"__tuple__\": [1]}, "
          "\"e\"]]}",
          "{\"1\":\"c\",\"None\":\"b\",\"2.5\":\"d\",\"(1,)\":\"e\"}");
    check("{\"__pairs__\": [[\"1\", \"a\"], [\"x\", 0], [1, \"b\"]]}", "{\"1\":\"b\",\"x\":0}");
    check("{\"__int__\": \"123456789012345678901234567890\"}", "\"123456789012345678901234567890\"");
    check("-9223372036854775808", "-9223372036854775808");
    check("[{\"__float__\": \"inf\"}, {\"__float__\": \"-inf\"}, {\"__float__\": \"nan\"}]",
          "[\".inf\",\"-.inf\",\".nan\"]");
    check("{\"__bytes__\": \"YQD/\"}", "\"a\\u0000\xef\xbf\xbd\"");
    check("{\"__markup__\": \"<b>\"}", "\"<b>\"");
}

static void
test_other_values(void **state)
{
    AUTO(py) ns = py_namespace();
    AUTO(py) name = py_strz("x");
    AUTO(py) surrogate = py_char(0xd800);
    AUTO(py) undefined = py_undefined(&py_Undefined, NULL, name, NULL, NULL);
    AUTO(py) strict = py_undefined(&py_StrictUndefined, NULL, name, NULL, NULL);

    py_setattr(ns, name, surrogate);
    json_auto_t *object = py_to_json(ns);
    AUTO_FREE char *text = value_dump(object);
    assert_string_equal(text, "{\"x\":\"\xef\xbf\xbd\"}");
    assert_true(json_is_null(py_to_json(undefined)));
    assert_null(py_to_json(strict));
    assert_ptr_equal(py_raised(), &py_UndefinedError);
    py_clear();
    AUTO(py) upper = py_getattrs(name, "upper");
    json_auto_t *method = py_to_json(upper);
    assert_true(str_starts(json_string_value(method), "<built-in method upper of str object at 0x"));
}

static void
test_cycle(void **state)
{
    static const py_limits_t none;
    py_scope_t scope;

    py_scope_enter(&scope, &none);
    AUTO(py) list = py_list();
    py_append(list, list);
    assert_null(py_to_json(list));
    assert_ptr_equal(py_raised(), &py_ValueError);
    assert_string_equal(py_raised_text(), "Circular reference detected");
    py_clear();
    AUTO(py) text = py_repr(list);
    assert_string_equal(py_cstr(text), "[[...]]");
    py_destroy(&list);
    py_scope_leave(&scope);
}

/* A list of ten times the one before, and so on; at the bottom `leaf`, which is TAKEN. NEW. */
static py_t *
bomb(py_t *leaf, int levels)
{
    for (int i = 0; i < levels; i++) {
        py_t *list = py_list();
        for (int k = 0; k < 10; k++)
            py_append(list, leaf);
        py_unref(leaf);
        leaf = list;
    }
    return leaf;
}

static void
check_refused(py_t *v, const char *why)
{
    assert_null(py_to_json(v));
    assert_true(py_raised_is(&py_LimitError));
    assert_string_equal(py_raised_text(), why);
    py_clear();
    assert_null(py_to_wire(v));
    assert_string_equal(py_raised_text(), why);
    py_clear();
    assert_int_equal(py_json_fits(v), -1);
    assert_string_equal(py_raised_text(), why);
    py_clear();
}

/* What is in memory once, and in JSON as often as it is named. */
static void
test_shared(void **state)
{
    static const char many[] = "it has more than 2000000 values once aliases are followed",
                      much[] = "it has more than 268435456 bytes of text once aliases are followed";
    AUTO_FREE char *text = xcalloc(1, 100001);

    memset(text, 'x', 100000);
    AUTO(py) lists = bomb(py_list(), 10);
    AUTO(py) texts = bomb(py_str(text, 100000), 4);
    AUTO(py) bytes = bomb(py_bytes(text, 100000), 4);
    py_t *dict = py_dict();
    py_dict_sets(dict, text, PY_None);
    AUTO(py) keys = bomb(dict, 4);
    check_refused(lists, many);
    check_refused(texts, much);
    check_refused(bytes, much);
    check_refused(keys, much);
    AUTO(py) few = bomb(py_list(), 6);
    for (int i = 0; i < 3; i++) { /* each is counted from the start */
        json_auto_t *json = py_to_json(few);
        json_auto_t *wire = py_to_wire(few);
        assert_true(json_equal(json, wire));
        assert_int_equal(py_json_fits(few), 0);
    }
}

/* Comparing follows what is shared as well: within the limits. */
static void
test_shared_compared(void **state)
{
    const py_limits_t limits = { .steps = 100000 };
    py_scope_t scope;
    AUTO(py) a = bomb(py_list(), 10);
    AUTO(py) b = bomb(py_list(), 10);

    py_scope_enter(&scope, &limits);
    assert_int_equal(py_eq(a, b), -1);
    assert_true(py_raised_is(&py_LimitError));
    py_clear();
    py_scope_leave(&scope);
}

static void
test_from_json(void **state)
{
    json_auto_t *given = json_loads("{\"a\": [1, 1.5, \"é\", null, false], \"b\": {}}", 0, NULL);
    AUTO(py) v = py_from_json(given);
    AUTO(py) text = py_repr(v);

    assert_string_equal(py_cstr(text), "{'a': [1, 1.5, 'é', None, False], 'b': {}}");
    assert_ptr_equal(py_from_json(NULL), PY_None);
}

/* A process that turns values for ever, as a follower does, has as much memory after the hundredth as after the last. */
static void
test_flat(void **state)
{
    json_auto_t *given = json_loads(
        "{\"list\": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], \"a\": 1, \"b\": 1, \"c\": 1, \"d\": 1, "
        "\"e\": 1, \"f\": 1, \"g\": 1, \"h\": 1, \"i\": 1}",
        0, NULL);
    size_t after_100 = 0;

    for (int i = 0; i < 3000; i++) {
        AUTO(py) v = py_from_json(given);
        AUTO(py) text = py_repr(v);
        assert_non_null(text);
        if (i == 100)
            after_100 = mallinfo2().uordblks;
    }
    assert_int_equal(mallinfo2().uordblks, after_100);
}

UNIT_MAIN(cmocka_unit_test(test_rules), cmocka_unit_test(test_other_values), cmocka_unit_test(test_cycle),
          cmocka_unit_test(test_shared), cmocka_unit_test(test_shared_compared),
          cmocka_unit_test(test_from_json), cmocka_unit_test(test_flat))
