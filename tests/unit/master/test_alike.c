/* test_alike.c - equal values are one, unequal ones are none, and what nobody has any more goes. */
#include "unit/unit.h"

#include "master/alike.h"

static json_t *
shared(alike_t *alike, const char *text)
{
    json_t *object = json_loads(text, 0, NULL);

    assert_non_null(object);
    alike_share(alike, object);
    return object;
}

static void
test_equal_values_are_one(void **state)
{
    (void) state;
    AUTO(alike) alike = alike_new();
    const char *text = "{\"os\": \"Debian\", \"n\": 12, \"r\": 1.5, \"up\": true, \"no\": null, \"flags\": "
                       "[\"fpu\", [\"sse\", 1]], "
                       "\"dns\": {\"search\": [], \"servers\": [\"10.0.0.1\"]}}";
    json_auto_t *a = shared(alike, text), *b = shared(alike, text), *plain = json_loads(text, 0, NULL);
    const char *key;
    json_t *value;

    json_object_foreach (a, key, value)
        assert_ptr_equal(value, json_object_get(b, key));
    /* And what they were. */
    assert_true(json_equal(a, plain));
    assert_true(json_equal(b, plain));
}

static void
test_unequal_values_stay_apart(void **state)
{
    (void) state;
    AUTO(alike) alike = alike_new();
    /* Alike at a glance: another type, another order, more or fewer members, another name. */
    static const char *const values[] = {
        "1",         "1.0",    "\"1\"",     "\"\"",      "\"1\\u0000\"",      "[1]",   "[\"1\"]",
        "[]",        "{}",     "{\"a\":1}", "{\"b\":1}", "{\"a\":1,\"b\":1}", "[1,1]", "{\"b\":1,\"a\":1}",
        "[[1],[1]]", "[[1,1]]"
    };
    json_auto_t *all = json_object();

    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < NELEMS(values); i++) {
            AUTO_FREE char *name = xasprintf("%d-%zu", round, i);
            json_object_set_new(all, name, json_loads(values[i], JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL));
        }
    alike_share(alike, all);
    for (size_t i = 0; i < NELEMS(values); i++)
        for (size_t k = 0; k < NELEMS(values); k++) {
            AUTO_FREE char *first = xasprintf("0-%zu", i), *second = xasprintf("1-%zu", k);
            json_t *x = json_object_get(all, first), *y = json_object_get(all, second);
            assert_non_null(x);
            if (i == k)
                assert_ptr_equal(x, y);
            else
                assert_ptr_not_equal(x, y);
        }
}

/* A hundred thousand different values one after the other: the table holds hardly more than are in use. */
static void
test_what_nobody_has_goes(void **state)
{
    (void) state;
    AUTO(alike) alike = alike_new();
    json_auto_t *kept = shared(alike, "{\"name\": \"of one that stays\", \"in\": [[\"deep\"]]}");

    for (int i = 0; i < 20000; i++) {
        AUTO_FREE char *text = xasprintf("{\"a\": \"text %d\", \"b\": [%d, {\"c\": \"of %d\"}]}", i, i, i);
        json_decref(shared(alike, text));
        assert_in_range(alike_len(alike), 4, 1024);
    }
    json_auto_t *again = shared(alike, "{\"name\": \"of one that stays\", \"in\": [[\"deep\"]]}");
    assert_ptr_equal(json_object_get(kept, "in"), json_object_get(again, "in"));
}

static void
test_many_in_use(void **state)
{
    (void) state;
    AUTO(alike) alike = alike_new();
    json_auto_t *all = json_array();

    for (int i = 0; i < 5000; i++) {
        AUTO_FREE char *text = xasprintf("{\"id\": \"m%d\", \"rack\": %d}", i, i % 10);
        json_array_append_new(all, shared(alike, text));
    }
    assert_int_equal(alike_len(alike), 5010);
    for (int i = 0; i < 5000; i++)
        assert_ptr_equal(json_object_get(json_array_get(all, (size_t) i), "rack"),
                         json_object_get(json_array_get(all, (size_t) i % 10), "rack"));
}

UNIT_MAIN(cmocka_unit_test(test_equal_values_are_one), cmocka_unit_test(test_unequal_values_stay_apart),
          cmocka_unit_test(test_what_nobody_has_goes), cmocka_unit_test(test_many_in_use))
