/* test_valuepool.c - equal values are one, unequal ones are none, and what nobody has any more goes. */
#include "unit/unit.h"

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "master/minions/valuepool.h"

static kept_t *
keep(valuepool_t *pool, const char *text)
{
    json_auto_t *object = json_loads(text, 0, NULL);

    assert_non_null(object);
    return valuepool_keep(pool, object);
}

/* A value of it: BORROWED. */
static json_t *
of(const kept_t *kept, const char *name)
{
    return json_object_get(kept_view(kept), name);
}

static void
assert_is(const kept_t *kept, const char *text)
{
    AUTO_FREE char *is = json_dumps(kept_view(kept), JSON_COMPACT);

    assert_string_equal(is, text);
}

static void
test_equal_values_are_one(void **state)
{
    AUTO(valuepool) pool = valuepool_new();
    const char *text = "{\"os\": \"Debian\", \"n\": 12, \"r\": 1.5, \"up\": true, \"no\": null, \"flags\": "
                       "[\"fpu\", [\"sse\", 1]], "
                       "\"dns\": {\"search\": [], \"servers\": [\"10.0.0.1\"]}}";
    AUTO(kept) a = keep(pool, text);
    AUTO(kept) b = keep(pool, text);
    json_auto_t *plain = json_loads(text, 0, NULL), *of_a = json_copy(kept_view(a)),
                *of_b = json_copy(kept_view(b));
    const char *key;
    json_t *value;

    json_object_foreach (of_a, key, value)
        assert_ptr_equal(value, json_object_get(of_b, key));
    /* And what they were. */
    assert_true(json_equal(of_a, plain));
    assert_true(json_equal(of_b, plain));
}

static void
test_unequal_values_stay_apart(void **state)
{
    AUTO(valuepool) pool = valuepool_new();
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
    AUTO(kept) kept = valuepool_keep(pool, all);
    assert_ptr_not_equal(kept_view(kept), all);
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
    AUTO(valuepool) pool = valuepool_new();
    AUTO(kept) kept = keep(pool, "{\"name\": \"of one that stays\", \"in\": [[\"deep\"]]}");

    for (int i = 0; i < 20000; i++) {
        AUTO_FREE char *text = xasprintf("{\"a\": \"text %d\", \"b\": [%d, {\"c\": \"of %d\"}]}", i, i, i);
        AUTO(kept) passing = keep(pool, text);
        assert_in_range(valuepool_len(pool), 4, 1024);
    }
    AUTO(kept) again = keep(pool, "{\"name\": \"of one that stays\", \"in\": [[\"deep\"]]}");
    json_t *in = of(kept, "in");
    assert_ptr_equal(in, of(again, "in"));
}

/* Lists inside each other, all different, `n` of them in all. NEW. */
static json_t *
nested(int n, int depth, int round)
{
    json_t *all = json_object();

    for (int i = 0; i < n / depth; i++) {
        buf_auto_t text = BUF_INIT;
        AUTO_FREE char *name = xasprintf("%d", i);

        for (int k = 0; k < depth; k++)
            buf_putc(&text, '[');
        buf_printf(&text, "\"%d of %d\"", i, round);
        for (int k = 0; k < depth; k++)
            buf_putc(&text, ']');
        json_object_set_new(all, name, json_loads(buf_str(&text), 0, NULL));
    }
    return all;
}

/* What it takes of the processor when one who changes all that it says does so again and again. */
static int64_t
time_of(int depth)
{
    AUTO(valuepool) pool = valuepool_new();
    int64_t took = 0;

    for (int round = 0; round < 8; round++) {
        json_auto_t *all = nested(60000, depth, round);
        int64_t from = clock_thread_us();
        AUTO(kept) passing = valuepool_keep(pool, all);
        took += clock_thread_us() - from;
        assert_in_range(valuepool_len(pool), 60000, 300000);
    }
    return took;
}

/* How deep a minion nests its grains is its own affair: to forget them takes no longer. */
static void
test_what_was_nested_goes_at_once(void **state)
{
    int64_t flat = time_of(5), deep = time_of(500);

    assert_in_range(deep, 0, flat * 2);
}

static void
test_many_in_use(void **state)
{
    AUTO(valuepool) pool = valuepool_new();
    kept_t *all[5000];

    for (int i = 0; i < 5000; i++) {
        AUTO_FREE char *text = xasprintf("{\"id\": \"m%d\", \"rack\": %d}", i, i % 10);
        all[i] = keep(pool, text);
    }
    assert_int_equal(valuepool_len(pool), 5010);
    assert_int_equal(valuepool_shapes(pool), 1);
    for (int i = 0; i < 5000; i++) {
        json_t *rack = of(all[i], "rack");
        assert_ptr_equal(rack, of(all[i % 10], "rack"));
        AUTO_FREE char *id = xasprintf("m%d", i);
        assert_string_equal(json_string_value(of(all[i], "id")), id);
    }
    for (int i = 0; i < 5000; i++)
        kept_destroy(&all[i]);
}

/* A name that holds what stands between names is still one name; another order is another shape. */
static void
test_names_and_their_order_stay(void **state)
{
    AUTO(valuepool) pool = valuepool_new();
    static const char *const texts[] = {
        "{}",           "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}",
        "{\"a1:b\":1}", "{\"a\":3,\"b\":4}", "{\"1:a1:b\":1}",
        "{\"\":1}",
    };
    kept_t *kept[NELEMS(texts)];

    for (size_t i = 0; i < NELEMS(texts); i++)
        kept[i] = keep(pool, texts[i]);
    assert_int_equal(valuepool_shapes(pool), NELEMS(texts) - 1);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < NELEMS(texts); i++)
            assert_is(kept[i], texts[i]);
    for (size_t i = 0; i < NELEMS(texts); i++)
        kept_destroy(&kept[i]);
    assert_null(kept_view(NULL));
}

/* A fleet whose every minion has a grain of a name of its own, one after the other. */
static void
test_shapes_that_nobody_has_go(void **state)
{
    AUTO(valuepool) pool = valuepool_new();
    AUTO(kept) stays = keep(pool, "{\"stays\":true}");

    for (int i = 0; i < 20000; i++) {
        AUTO_FREE char *text = xasprintf("{\"of-%d\":1}", i);
        AUTO(kept) passing = keep(pool, text);
        assert_is(passing, text);
        assert_int_equal(valuepool_shapes(pool), 2);
    }
    assert_int_equal(valuepool_shapes(pool), 1);
    assert_is(stays, "{\"stays\":true}");
}

UNIT_MAIN(cmocka_unit_test(test_equal_values_are_one), cmocka_unit_test(test_unequal_values_stay_apart),
          cmocka_unit_test(test_what_nobody_has_goes), cmocka_unit_test(test_what_was_nested_goes_at_once),
          cmocka_unit_test(test_many_in_use), cmocka_unit_test(test_names_and_their_order_stay),
          cmocka_unit_test(test_shapes_that_nobody_has_go))
