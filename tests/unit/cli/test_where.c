/* test_where.c - where minions are in their state runs: lines, bounds, and what others say. */
#include "cli/where.h"
#include "salt/limits.h"
#include "salt/value.h"
#include "unit/unit.h"

static void
take(where_t *where, const char *tag, int step, int of, const char *what, int64_t now_ms)
{
    json_auto_t *push = json_pack("{s:s, s:s, s:{s:{s:i, s:i, s:s}, s:s}}", "push", "event", "tag", tag,
                                  "data", "data", "step", step, "of", of, "what", what, "id", "x");

    assert_non_null(push);
    where_take(where, push, now_ms);
}

static void
expect(const where_t *where, int64_t now_ms, size_t columns, size_t rows, const char *want)
{
    buf_auto_t out = BUF_INIT;

    where_text(where, now_ms, columns, rows, &out);
    assert_string_equal(buf_str(&out), want);
}

static void
test_lines(void **state)
{
    AUTO(where) where = where_new("7");
    AUTO_FREE char *tag = where_tag(where);

    assert_string_equal(tag, "salt/job/7/at/*");
    take(where, "salt/job/7/at/web01", 1, 3, "pkg.installed", 1000);
    take(where, "salt/job/7/at/db1", 2, 3, "cmd.run\033[2J", 2000);
    take(where, "salt/job/8/at/web02", 2, 3, "cmd.run", 2000);
    take(where, "salt/job/7/ret/web02", 2, 3, "cmd.run", 2000);
    expect(where, 4500, 80, 9, "web01  1/3 pkg.installed, 3 s\ndb1    2/3 cmd.run^[[2J, 2 s\n");
    take(where, "salt/job/7/at/web01", 2, 3, "cmd.run", 5000);
    take(where, "salt/job/7/at/web01", 2, 3, "cmd.run", 6000);
    expect(where, 6500, 80, 1, "web01  2/3 cmd.run, 1 s\nand 1 more at work\n");
    expect(where, 6500, 12, 9, "web01  2/3 \ndb1    2/3 \n");
    where_over(where, "web01");
    where_over(where, "web01");
    expect(where, 6500, 80, 9, "db1  2/3 cmd.run^[[2J, 4 s\n");
    where_over(where, "db1");
    expect(where, 6500, 80, 9, "");
}

static void
test_bounds(void **state)
{
    AUTO(where) where = where_new("7");

    for (int i = 0; i < LIMIT_WATCHED + 10; i++) {
        AUTO_FREE char *tag = xasprintf("salt/job/7/at/m%d", i);
        take(where, tag, 1, 2, "x.y", 0);
    }
    AUTO_FREE char *more = xasprintf("m0  1/2 x.y, 0 s\nand %d more at work\n", LIMIT_WATCHED - 1);
    expect(where, 0, 80, 1, more);
}

static void
test_batch(void **state)
{
    AUTO(where) where = where_new(NULL);
    AUTO_FREE char *tag = where_tag(where);

    assert_string_equal(tag, "salt/job/*/at/*");
    where_begin(where, "7", "web01", 1000);
    take(where, "salt/job/8/at/web01", 1, 3, "cmd.run", 1000); /* another's job */
    take(where, "salt/job/7/at/web02", 1, 3, "cmd.run", 1000);
    expect(where, 3000, 80, 9, "web01  at work, 2 s\n");
    where_begin(where, "8", "web02", 3000);
    take(where, "salt/job/8/at/web02", 1, 3, "cmd.run", 4000);
    expect(where, 5000, 80, 9, "web01  at work, 4 s\nweb02  1/3 cmd.run, 1 s\n");
    where_over(where, "web01");
    for (int i = 0; i < LIMIT_WATCHED + 10; i++) {
        AUTO_FREE char *id = xasprintf("m%d", i);
        where_begin(where, "9", id, 5000);
    }
    AUTO_FREE char *more = xasprintf("web02  1/3 cmd.run, 1 s\nand %d more at work\n", LIMIT_WATCHED + 10);
    expect(where, 5000, 80, 1, more);
    for (int i = LIMIT_WATCHED + 9; i >= 0; i--) {
        AUTO_FREE char *id = xasprintf("m%d", i);
        where_over(where, id);
    }
    expect(where, 5000, 80, 9, "web02  1/3 cmd.run, 1 s\n");
}

UNIT_MAIN(cmocka_unit_test(test_lines), cmocka_unit_test(test_batch), cmocka_unit_test(test_bounds))
