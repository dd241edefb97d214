/* test_refusals.c - a flood of one kind is told a few times and hides no other; its newest is told at last. */
#include "master/minions/refusals.h"
#include "salt/limits.h"
#include "unit/unit.h"

static void
flood(refusals_t *r, refusal_t kind, int64_t now_ms)
{
    int told = 0;
    for (int i = 0; i < 1000; i++)
        told += refusals_add(r, kind, "192.0.2.1", i < 999 ? "a flood's" : "a flood's last", now_ms);
    assert_int_equal(told, LIMIT_REFUSED_EVENTS_BURST);
}

static void
test_kinds(void **state)
{
    refusals_t *r = refusals_new();
    for (int kind = 0; kind < REFUSALS; kind++)
        flood(r, (refusal_t) kind, 1000);
    refusals_destroy(&r);
    assert_null(r);
}

static void
test_newest(void **state)
{
    refusals_t *r = refusals_new();
    char *address = NULL, *reason = NULL;
    flood(r, REFUSED_MESSAGE, 1000);
    assert_false(refusals_due(r, 1000, &address, &reason));
    assert_true(refusals_due(r, 2000, &address, &reason));
    assert_string_equal(address, "192.0.2.1");
    assert_string_equal(reason, "a flood's last");
    free(address);
    free(reason);
    assert_false(refusals_due(r, 9000, &address, &reason)); /* nothing else waits */
    assert_int_equal(refusals_unsaid(r), 1000 - LIMIT_REFUSED_EVENTS_BURST - 1);
    assert_int_equal(refusals_unsaid(r), 0);
    refusals_destroy(&r);
}

/* One that comes when there is room again takes the place of what waited. */
static void
test_newer(void **state)
{
    refusals_t *r = refusals_new();
    char *address = NULL, *reason = NULL;
    flood(r, CUT_MINION, 1000);
    assert_true(refusals_add(r, CUT_MINION, "192.0.2.2", "newer", 2000));
    assert_false(refusals_due(r, 9000, &address, &reason));
    assert_int_equal(refusals_unsaid(r), 1000 - LIMIT_REFUSED_EVENTS_BURST);
    refusals_destroy(&r);
}

UNIT_MAIN(cmocka_unit_test(test_kinds), cmocka_unit_test(test_newest), cmocka_unit_test(test_newer))
