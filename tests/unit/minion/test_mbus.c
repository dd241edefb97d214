/* test_mbus.c - who knocks at a minion's bus while it has no descriptors. */
#include "unit/folder.h"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/local/client.h"
#include "minion/mbus.h"
#include "salt/value.h"

static bool
turns(const mbus_t *bus)
{
    struct pollfd fd = { mbus_fd(bus), POLLIN, 0 };

    return poll(&fd, 1, 0) > 0;
}

static void
test_no_descriptors(void **state)
{
    if (unit_below_memcheck())
        skip(); /* it accepts a connection that the limit forbids, and closes it */
    jobserver_t owner = { .opts = json_pack("{s:s}", "sock_dir", dir) };
    mbus_t *bus = mbus_new(&owner);
    struct rlimit old, none;
    fail_auto_t err = FAIL_INIT;

    mbus_open(bus);
    assert_false(turns(bus));
    AUTO(local_client) line = local_connect_minion(dir, &err);
    assert_non_null(line);
    assert_int_equal(mbus_next_ms(bus), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = old;
    none.rlim_cur = 1; /* poll has one */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    assert_true(turns(bus));
    mbus_read(bus);
    bool again = turns(bus);
    int64_t when = mbus_next_ms(bus);
    mbus_tick(bus, when - 1);
    bool early = turns(bus);
    mbus_tick(bus, when);
    bool knocks = turns(bus);
    mbus_read(bus);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_false(again || early || turns(bus));
    assert_true(knocks && when > 0);
    mbus_tick(bus, mbus_next_ms(bus));
    mbus_read(bus);
    assert_int_equal(mbus_next_ms(bus), 0);
    mbus_destroy(&bus);
    json_decref(owner.opts);
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_no_descriptors, setup, teardown))
