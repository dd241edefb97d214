/* test_store_write.c - the writer alone: what is committed is on the disk, whatever failed before. */
#include "unit/unit.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "common/base/fs.h"
#include "common/base/str.h"

#include "master/store/store_write.c"
#include "salt/log.h"

enum { SYNCHRONOUS_FULL = 2 }; /* of "PRAGMA synchronous" */

static int
never_full(void *cookie, int action, const char *name, const char *value, const char *db, const char *trigger)
{
    return action == SQLITE_PRAGMA && str_eq(name, "synchronous") && str_eq(value, "FULL") ? SQLITE_DENY
                                                                                           : SQLITE_OK;
}

/* Forgetting need not be on the disk at once; what is committed after it must. */
static void
test_commits_after_forgetting(void **state)
{
    fail_auto_t err = FAIL_INIT;
    char dir[] = "/tmp/halite-store-XXXXXX", key[] = "key", value[] = "value";
    const store_keep_t keep = { .events = 1 };
    uint64_t duplicates;
    bool more = true;
    int mode = 0;

    assert_non_null(mkdtemp(dir));
    AUTO_FREE char *path = fs_join(dir, "store.db");
    store_writer_t *writer = store_writer_new(path, &err);
    assert_non_null(writer);
    assert_int_equal(sqlite3_set_authorizer(writer->db, never_full, NULL), SQLITE_OK);
    assert_int_equal(store_writer_expire(writer, &keep, 1, &more, &err), 0);
    row_t row = { .kind = ROW_META, .text = { key, value } };
    assert_int_equal(store_writer_commit(writer, &row, &duplicates, &err), 0);
    assert_int_equal(db_int(writer->db, path, "PRAGMA synchronous", &mode, &err), 0);
    assert_int_equal(mode, SYNCHRONOUS_FULL);
    store_writer_destroy(&writer);
    assert_int_equal(fs_remove_tree(dir, NULL), 0);
}

static int
count(store_writer_t *writer, const char *sql)
{
    int n = -1;

    assert_int_equal(db_int(writer->db, "store.db", sql, &n, NULL), 0);
    return n;
}

/* What SQLite will never take is left out, alone, and the log says what it was. */
static void
test_rows_that_can_never_be_stored(void **state)
{
    enum { MOST = 20000 };
    fail_auto_t err = FAIL_INIT;
    buf_auto_t said = BUF_INIT;
    char dir[] = "/tmp/halite-store-XXXXXX", small[] = "{}";
    uint64_t duplicates = 9;

    assert_non_null(mkdtemp(dir));
    AUTO_FREE char *path = fs_join(dir, "store.db"), *log = fs_join(dir, "log");
    AUTO_FREE char *large = xasprintf("%0*d", MOST + 1, 0), *nearly = xasprintf("%0*d", MOST - 1, 0);
    store_writer_t *writer = store_writer_new(path, &err);
    assert_non_null(writer);
    assert_int_equal(log_open_file(log, LEVEL_ERROR, &err), 0);
    (void) sqlite3_limit(writer->db, SQLITE_LIMIT_LENGTH, MOST);
    row_t rows[] = {
        { .kind = ROW_META, .text = { (char[]){ "first" }, small } },
        { .kind = ROW_RETURN, .text = { (char[]){ "j1" }, (char[]){ "m1" }, large } },
        { .kind = ROW_RETURN, .text = { (char[]){ "j1" }, (char[]){ "m2" }, nearly } },
        { .kind = ROW_RETURN, .text = { (char[]){ "j1" }, (char[]){ "m3" }, small }, .num = { 0, 1 } },
        { .kind = ROW_GRAINS, .text = { (char[]){ "m4" }, NULL } },
        { .kind = ROW_EVENTS, .text = { large }, .len = MOST + 1, .num = { 1, 1, 5, 5 } },
        { .kind = ROW_META, .text = { (char[]){ "last" }, small } },
    };
    for (size_t i = 0; i + 1 < NELEMS(rows); i++)
        rows[i].next = &rows[i + 1];
    assert_int_equal(store_writer_commit(writer, rows, &duplicates, &err), 0);
    assert_int_equal(duplicates, 0);
    assert_int_equal(count(writer, "SELECT count(*) FROM meta WHERE key IN ('first', 'last')"), 2);
    assert_int_equal(count(writer, "SELECT count(*) FROM returns WHERE id = 'm3'"), 1);
    assert_int_equal(count(writer, "SELECT count(*) FROM returns"), 1);
    assert_int_equal(count(writer, "SELECT n_returned FROM jobs WHERE jid = 'j1'"), 1);
    assert_int_equal(count(writer, "SELECT count(*) FROM grains"), 0);
    assert_int_equal(count(writer, "SELECT count(*) FROM event_blocks"), 0);
    assert_int_equal(fs_read(log, 100000, &said, &err), 0);
    static const char *const lines[] = { "the return j1 m1:", "the return j1 m2:", "the grains m4:",
                                         "events " };
    for (size_t i = 0; i < NELEMS(lines); i++)
        if (strstr(buf_str(&said), lines[i]) == NULL)
            fail_msg("no \"%s\" in %s", lines[i], buf_str(&said));
    store_writer_destroy(&writer);
    assert_int_equal(fs_remove_tree(dir, NULL), 0);
}

UNIT_MAIN(cmocka_unit_test(test_commits_after_forgetting),
          cmocka_unit_test(test_rows_that_can_never_be_stored))
