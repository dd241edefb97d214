/* test_failover.c - which master a minion with master_type failover talks to. */
#include "unit/unit.h"

#include "uplink/failover.h"

static const failover_conf_t three = { .n = 3, .answer_ms = 100, .gone_ms = 1000 };

static void
test_first_that_answers(void **state)
{
    failover_t f;
    failover_init(&f, &three, 1);
    assert_int_equal(failover_now(&f), 0);
    assert_int_equal(failover_step(&f, 50, false, false), FAILOVER_STAY);
    assert_int_equal(failover_wait(&f, 51), 50);
    assert_int_equal(failover_step(&f, 101, false, false), FAILOVER_MOVE);
    assert_int_equal(failover_now(&f), 1);
    assert_int_equal(failover_step(&f, 150, true, false), FAILOVER_STAY);
    assert_int_equal(failover_step(&f, 100000, true, false), FAILOVER_STAY);
    assert_int_equal(failover_now(&f), 1);
}

static void
test_gone(void **state)
{
    failover_t f;
    failover_init(&f, &three, 1);
    (void) failover_step(&f, 10, true, false);
    assert_int_equal(failover_step(&f, 500, false, false), FAILOVER_STAY);
    /* Back in time: nothing is held against it. */
    assert_int_equal(failover_step(&f, 1400, true, false), FAILOVER_STAY);
    assert_int_equal(failover_step(&f, 1600, false, false), FAILOVER_STAY);
    assert_int_equal(failover_step(&f, 2599, false, false), FAILOVER_STAY);
    assert_int_equal(failover_step(&f, 2600, false, false), FAILOVER_MOVE);
    /* Round the list, and to the first one again. */
    assert_int_equal(failover_step(&f, 2700, false, false), FAILOVER_MOVE);
    assert_int_equal(failover_now(&f), 2);
    assert_int_equal(failover_step(&f, 2800, false, false), FAILOVER_MOVE);
    assert_int_equal(failover_now(&f), 0);
}

static void
test_alone(void **state)
{
    const failover_conf_t one = { .n = 1, .answer_ms = 100, .gone_ms = 100, .back_ms = 10 };
    failover_t f;
    failover_init(&f, &one, 1);
    assert_int_equal(failover_step(&f, 5000, false, false), FAILOVER_STAY);
    assert_int_equal(failover_now(&f), 0);
}

static void
test_failback(void **state)
{
    failover_conf_t conf = three;
    conf.back_ms = 500;
    failover_t f;
    failover_init(&f, &conf, 1);
    assert_int_equal(failover_step(&f, 200, false, false), FAILOVER_MOVE);
    (void) failover_step(&f, 210, true, false);
    assert_int_equal(failover_step(&f, 710, true, false), FAILOVER_PROBE);
    assert_int_equal(failover_step(&f, 750, true, false), FAILOVER_STAY);
    assert_int_equal(failover_step(&f, 810, true, false), FAILOVER_PROBE_END);
    assert_int_equal(failover_step(&f, 1309, true, false), FAILOVER_STAY);
    assert_int_equal(failover_step(&f, 1310, true, false), FAILOVER_PROBE);
    assert_int_equal(failover_step(&f, 1320, true, true), FAILOVER_BACK);
    assert_int_equal(failover_now(&f), 0);
    assert_int_equal(failover_step(&f, 99999, true, false), FAILOVER_STAY);
}

/* The one that serves is lost while the first one is looked for: the search goes on with whoever is next. */
static void
test_lost_while_probing(void **state)
{
    failover_conf_t conf = three;
    conf.back_ms = 500;
    conf.gone_ms = 20;
    failover_t f;
    failover_init(&f, &conf, 1);
    (void) failover_step(&f, 200, false, false);
    (void) failover_step(&f, 210, true, false);
    assert_int_equal(failover_step(&f, 710, false, false), FAILOVER_PROBE);
    assert_int_equal(failover_step(&f, 740, false, false), FAILOVER_MOVE);
    assert_int_equal(failover_now(&f), 2);
    assert_false(f.probing);
}

static void
test_shuffle(void **state)
{
    failover_conf_t conf = { .n = 8, .answer_ms = 1, .gone_ms = 1, .shuffle = true };
    bool other_first = false, other_rest = false;
    for (int round = 0; round < 50; round++) {
        failover_t f;
        unsigned seen = 0;
        conf.back_ms = round % 2 == 0 ? 5 : 0;
        failover_init(&f, &conf, 1);
        for (int i = 0; i < conf.n; i++)
            seen |= 1u << f.order[i];
        assert_int_equal(seen, 0xff);
        assert_true(conf.back_ms == 0 || failover_first(&f) == 0);
        other_first = other_first || failover_first(&f) != 0;
        other_rest = other_rest || f.order[1] != 1;
    }
    assert_true(other_first && other_rest);
}

UNIT_MAIN(cmocka_unit_test(test_first_that_answers), cmocka_unit_test(test_gone),
          cmocka_unit_test(test_alone), cmocka_unit_test(test_failback),
          cmocka_unit_test(test_lost_while_probing), cmocka_unit_test(test_shuffle))
