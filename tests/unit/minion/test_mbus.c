/* test_mbus.c - who knocks at a minion's bus while it has no descriptors. */
#include "unit/folder.h"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/str.h"
#include "common/local/client.h"
#include "minion/jobs/jobserver.h"
#include "minion/parts/parts.h"
#include "salt/value.h"

static const minion_part_t *
bus_part(void)
{
    for (const minion_part_t *const *row = minion_parts; *row; row++)
        if (str_eq((*row)->name, "bus"))
            return *row;
    fail();
    return NULL;
}

static bool
turns(const minion_part_t *part, const void *bus)
{
    short ask = POLLIN;
    struct pollfd fd = { part->fd(bus, &ask), ask, 0 };

    return poll(&fd, 1, 0) > 0;
}

static void
test_no_descriptors(void **state)
{
    if (unit_below_memcheck())
        skip(); /* it accepts a connection that the limit forbids, and closes it */
    jobserver_t owner = { .opts = json_pack("{s:s}", "sock_dir", dir) };
    const minion_part_t *part = bus_part();
    fail_auto_t err = FAIL_INIT;
    void *bus = part->start(&owner, &err);
    struct rlimit old, none;

    assert_false(turns(part, bus));
    AUTO(local_client) line = local_connect_minion(dir, &err);
    assert_non_null(line);
    assert_int_equal(part->next_ms(bus), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = old;
    none.rlim_cur = 1; /* poll has one */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_true(turns(part, bus));
    part->ready(bus, POLLIN);
    bool again = turns(part, bus);
    int64_t when = part->next_ms(bus);
    part->tick(bus, when - 1);
    bool early = turns(part, bus);
    part->tick(bus, when);
    bool knocks = turns(part, bus);
    part->ready(bus, POLLIN);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_false(again || early || turns(part, bus));
    assert_true(knocks && when > 0);
    part->tick(bus, part->next_ms(bus));
    part->ready(bus, POLLIN);
    assert_int_equal(part->next_ms(bus), 0);
    part->destroy(bus);
    json_decref(owner.opts);
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_no_descriptors, setup, teardown))
