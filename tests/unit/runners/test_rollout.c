/* test_rollout.c - canaries, batches and budgets. */
#include "common/base/str.h"
#include "runners/lib/rollout.h"
#include "salt/value.h"
#include "unit/unit.h"

static void
test_numbers(void **state)
{
    /* Parts of minions are those of Salt's batch: cut off, but at least one. */
    static const struct row {
        const char *given; /* JSON */
        size_t of, min, want;
    } rows[] = {
        { "3", 10, 1, 3 },      { "\"3\"", 10, 1, 3 },    { "\" 3 \"", 10, 1, 3 }, { "\"25%\"", 10, 1, 2 },
        { "\"5%\"", 10, 1, 1 }, { "\"0%\"", 10, 0, 0 },   { "\"0%\"", 10, 1, 1 },  { "\"100%\"", 7, 1, 7 },
        { "0", 10, 0, 0 },      { "\"12.5%\"", 8, 1, 1 }, { "null", 10, 1, 42 },   { "1000", 10, 1, 1000 },
    };
    static const char *const bad[] = { "-1",       "\"x\"", "\"-5%\"",  "\"101%\"", "\"%\"", "1.5",
                                       "\"3 %%\"", "[]",    "\"nan%\"", "true",     "{}",    "99999999999" };
    size_t n;

    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *v = json_loads(rows[i].given, JSON_DECODE_ANY, NULL);
        assert_int_equal(rollout_number(v, "batch", rows[i].of, rows[i].min, 42, &n, &err), 0);
        assert_int_equal(n, rows[i].want);
    }
    for (size_t i = 0; i < NELEMS(bad); i++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *v = json_loads(bad[i], JSON_DECODE_ANY, NULL);
        assert_int_equal(rollout_number(v, "batch", 10, 0, 42, &n, &err), -EINVAL);
        assert_non_null(strstr(fail_text(&err), "'batch' is a number"));
    }
}

static void
test_waves(void **state)
{
    static const struct row {
        rollout_t plan;
        size_t all, done, failed, want;
        const char *why;
    } rows[] = {
        { { ROLLOUT_ALL, 0, ROLLOUT_ALL }, 10, 0, 0, 10, NULL },
        { { ROLLOUT_ALL, 0, ROLLOUT_ALL }, 10, 10, 10, 0, NULL },
        { { 3, 0, ROLLOUT_ALL }, 10, 0, 0, 3, NULL },
        { { 3, 0, ROLLOUT_ALL }, 10, 9, 9, 1, NULL },
        { { 3, 0, 1 }, 10, 3, 1, 3, NULL },
        { { 3, 0, 1 },
          10,
          3,
          2,
          0,
          "Stopped: 2 minions failed, max_fail is 1. 7 minions were left as they are." },
        { { 3, 2, ROLLOUT_ALL }, 10, 0, 0, 2, NULL },
        { { 3, 2, ROLLOUT_ALL }, 10, 2, 0, 3, NULL },
        { { 3, 2, ROLLOUT_ALL },
          10,
          2,
          1,
          0,
          "Stopped: 1 of 2 canaries failed. 8 minions were left as they are." },
        { { 3, 2, 1 }, 10, 2, 1, 3, NULL },
        { { 3, 2, ROLLOUT_ALL }, 10, 5, 3, 3, NULL },
        { { 3, 20, ROLLOUT_ALL }, 10, 0, 0, 10, NULL },
        { { 3, 0, 0 }, 0, 0, 0, 0, NULL },
        /* More than there are now: a wave of before the crash had others. */
        { { 3, 0, 0 }, 2, 3, 1, 0, NULL },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *why = NULL;
        assert_int_equal(rollout_next(&rows[i].plan, rows[i].all, rows[i].done, rows[i].failed, &why),
                         rows[i].want);
        assert_true(str_eq(why, rows[i].why));
    }
}

static void
test_subset_is_the_same_again(void **state)
{
    json_auto_t *ids = json_pack("[s,s,s,s,s,s]", "a", "b", "c", "d", "e", "f");
    json_auto_t *some = rollout_subset(ids, 3, "run1"), *same = rollout_subset(ids, 3, "run1"),
                *all = rollout_subset(ids, 9, "run1");
    bool other = false;

    assert_int_equal(json_array_size(some), 3);
    assert_true(json_equal(some, same));
    assert_true(json_equal(all, ids));
    for (int i = 0; i < 20; i++) {
        AUTO_FREE char *seed = xasprintf("run%d", i);
        json_auto_t *set = rollout_subset(ids, 3, seed);
        other = other || !json_equal(set, some);
    }
    assert_true(other);
}

UNIT_MAIN(cmocka_unit_test(test_numbers), cmocka_unit_test(test_waves),
          cmocka_unit_test(test_subset_is_the_same_again))
