/* test_seen.c - a job is new once; what was had longest ago makes room; whose return another master has is
 * known apart. */
#include "uplink/seen.h"

#include <malloc.h>

#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"
#include "unit/unit.h"

static int
set_up(void **state)
{
    log_init("test", LEVEL_QUIET, false);
    *state = seen_new();
    return 0;
}

static int
tear_down(void **state)
{
    seen_t *seen = *state;

    seen_destroy(&seen);
    seen_destroy(&seen);
    return 0;
}

static char *
jid_of(int i)
{
    return xasprintf("202611201000000%05d", i);
}

static bool
add(seen_t *seen, int i)
{
    AUTO_FREE char *jid = jid_of(i);

    return seen_add(seen, jid);
}

static void
test_once(void **state)
{
    seen_t *seen = *state;

    assert_true(add(seen, 1));
    assert_true(add(seen, 2));
    assert_false(add(seen, 1));
    assert_false(add(seen, 2));
}

static void
test_newest(void **state)
{
    seen_t *seen = *state;

    for (int i = 0; i < LIMIT_JIDS_SEEN; i++)
        assert_true(add(seen, i));
    assert_false(add(seen, 0));
    assert_true(add(seen, LIMIT_JIDS_SEEN));
    assert_false(add(seen, 1));
    assert_true(add(seen, 0));
    assert_true(add(seen, 1));
    assert_false(add(seen, LIMIT_JIDS_SEEN));
}

static void
assert_elsewhere(const seen_t *seen, const char *asker, size_t max, const char *expected)
{
    json_auto_t *jids = seen_elsewhere(seen, asker, max);
    AUTO_FREE char *text = value_dump(jids);

    assert_string_equal(text, expected);
}

/* Each asker's own, the newest of them; they are not new to anybody, also after a restart. */
static void
test_elsewhere(void **state)
{
    seen_t *seen = *state;

    for (int i = 1; i <= 5; i++) {
        AUTO_FREE char *jid = jid_of(i);
        seen_elsewhere_add(seen, jid, i == 3 ? "b:2" : "a:1");
        seen_elsewhere_add(seen, jid, "c:3");
    }
    assert_elsewhere(seen, "a:1", 2, "[\"20261120100000000004\",\"20261120100000000005\"]");
    assert_elsewhere(seen, "b:2", 9, "[\"20261120100000000003\"]");
    assert_elsewhere(seen, "c:3", 9, "[]");
    assert_false(add(seen, 3));
    assert_true(add(seen, 6));
    json_auto_t *dump = seen_dump(seen);
    AUTO(seen) next = seen_new();
    json_array_append_new(dump, json_pack("[s, s]", "../x", "a:1"));
    json_array_append_new(dump, json_pack("[i]", 1));
    json_array_append_new(dump, json_integer(7));
    seen_restore(next, dump);
    seen_restore(next, NULL);
    assert_elsewhere(next, "a:1", 2, "[\"20261120100000000004\",\"20261120100000000005\"]");
    assert_false(add(next, 1));
    assert_true(add(next, 6));
}

/* As many as are kept, however many others came in between. */
static void
test_newest_elsewhere(void **state)
{
    seen_t *seen = *state;

    for (int i = 0; i <= LIMIT_JIDS_SEEN; i++) {
        AUTO_FREE char *jid = jid_of(i);
        seen_elsewhere_add(seen, jid, "a:1");
    }
    for (int i = 0; i <= LIMIT_JIDS_SEEN; i++)
        assert_true(add(seen, 20000 + i));
    assert_false(add(seen, 1));
    assert_true(add(seen, 0));
    json_auto_t *dump = seen_dump(seen);
    assert_int_equal(json_array_size(dump), LIMIT_JIDS_SEEN);
}

/* A minion that has jobs for ever does not grow by them. */
static void
test_flat(void **state)
{
    seen_t *seen = *state;
    size_t after_1000 = 0;

    for (int i = 0; i < 3000; i++) {
        assert_true(add(seen, i));
        if (i == 1000)
            after_1000 = mallinfo2().uordblks;
    }
    assert_int_equal(mallinfo2().uordblks, after_1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_once), TEST(test_newest), TEST(test_elsewhere), TEST(test_newest_elsewhere),
          TEST(test_flat))
