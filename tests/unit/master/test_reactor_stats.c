/* test_reactor_stats.c - figures of the reactor's files: the newest thousand are kept. */
#include "unit/unit.h"

#include "common/base/clock.h"
#include "master/reactor/reactor_stats.h"
#include "salt/value.h"

static void
fire(rstats_t *stats, int i)
{
    AUTO_FREE char *file = xasprintf("/srv/reactor/%d.sls", i);
    json_auto_t *firing = json_pack("{s:s, s:s, s:i}", "file", file, "tag", "some/tag", "seq", i);
    rstats_fired(stats, firing);
}

static void
test_bound(void **state)
{
    rstats_t *stats = rstats_new();
    for (int i = 0; i < 1000; i++)
        fire(stats, i);
    clock_pause(0.001); /* times of events are by the microsecond */
    fire(stats, 0);
    for (int i = 1000; i < 1500; i++)
        fire(stats, i);
    json_auto_t *told = rstats_told(stats);
    assert_int_equal(json_object_size(told), 1000);
    assert_int_equal(value_int(value_get(told, "/srv/reactor/0.sls"), "events", 0), 2);
    assert_non_null(value_get(told, "/srv/reactor/1499.sls"));
    assert_null(value_get(told, "/srv/reactor/1.sls"));
    rstats_destroy(&stats);
}

UNIT_MAIN(cmocka_unit_test(test_bound))
