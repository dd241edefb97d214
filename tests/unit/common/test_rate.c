/* test_rate.c - a burst at once, then a steady pace, and never more than the burst after a rest. */
#include "common/base/rate.h"
#include "unit/unit.h"

static int
taken(rate_t *r, int64_t now_ms, int tries)
{
    int n = 0;

    for (int i = 0; i < tries; i++)
        n += rate_spare(r, now_ms);
    return n;
}

static void
test_pace(void **state)
{
    rate_t r = RATE(10, 50);

    assert_int_equal(taken(&r, 1000, 100), 50);
    assert_int_equal(taken(&r, 1050, 100), 0);
    assert_int_equal(taken(&r, 1100, 100), 1);
    assert_int_equal(taken(&r, 2100, 100), 10);
}

static void
test_rest(void **state)
{
    rate_t r = RATE(10, 50);

    assert_int_equal(taken(&r, 1000, 100), 50);
    assert_int_equal(taken(&r, 1000000, 100), 50);
    /* A clock that stands still or goes back gives nothing. */
    assert_int_equal(taken(&r, 1000000, 100), 0);
    assert_int_equal(taken(&r, 5000, 100), 0);
}

/* What something cost beyond its token is paid back before the next. */
static void
test_debt(void **state)
{
    rate_t r = RATE(10, 50);

    assert_int_equal(taken(&r, 1000, 1), 1);
    rate_owe(&r, 60);
    assert_int_equal(taken(&r, 1000, 1), 0);
    assert_int_equal(taken(&r, 2100, 10), 0);
    assert_int_equal(taken(&r, 2200, 10), 1);
}

UNIT_MAIN(cmocka_unit_test(test_pace), cmocka_unit_test(test_rest), cmocka_unit_test(test_debt))
