/* test_store_bind.c - a value that can't be given to a statement is an error: no row without it, no search for
 * nothing. */
#include <dlfcn.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "master/store/store_db.h"
#include "unit/folder.h"

#include "master/store/store_write.c"
#include "unit/master/poor.h"

#define HOUR_US 3600000000LL

static int binds_left = -1; /* until there is no memory for one; negative: there is */
static bool bind_failed;

typedef int bind_fn(sqlite3_stmt *, int, const char *, int, void (*)(void *));

/* For the code under test too: a copy of the text needs memory. */
int
sqlite3_bind_text(sqlite3_stmt *stmt, int at, const char *text, int len, void (*done)(void *))
{
    bind_fn *real = (bind_fn *) dlsym(RTLD_NEXT, "sqlite3_bind_text");

    if (binds_left < 0 || binds_left-- != 0)
        return real(stmt, at, text, len, done);
    bind_failed = poor = true;
    int rc = real(stmt, at, text, len, SQLITE_TRANSIENT);
    poor = false;
    assert_int_equal(rc, SQLITE_NOMEM);
    return rc;
}

static int
set_up(void **state)
{
    binds_left = -1;
    poor_memory();
    return setup(state);
}

/* NEW. */
static store_writer_t *
open_writer(void)
{
    AUTO_FREE char *path = fs_join(dir, "jobs.db");
    fail_auto_t err = FAIL_INIT;
    store_writer_t *writer = store_writer_new(path, &err);

    if (writer == NULL)
        fail_msg("%s", fail_text(&err));
    return writer;
}

static int
count(store_writer_t *writer, const char *sql)
{
    int n = -1;

    assert_int_equal(db_int(writer->db, "jobs.db", sql, &n, NULL), 0);
    return n;
}

/* With no memory for the n-th text from here on. */
static void
let_fail(int n)
{
    bind_failed = false;
    binds_left = n;
}

/* Whether all went well, which it may only when no text was left; else *err says so, and is cleared. */
static bool
went_well(int rc, fail_t *err)
{
    binds_left = -1;
    if ((rc < 0) != bind_failed || (rc < 0 && strstr(fail_text(err), "out of memory") == NULL))
        fail_msg("%d: %s", rc, fail_text(err));
    fail_clear(err);
    return rc >= 0;
}

static void
test_rows(void **state)
{
    char jid[] = "20261120100000000001", id[] = "m1", text[] = "{}";
    row_t rows[] = {
        { .kind = ROW_JOB, .text = { jid, text, text, text, text }, .num = { 1, 1 } },
        { .kind = ROW_RETURN, .text = { jid, id, text }, .num = { 0, 1, 1 } },
        { .kind = ROW_META, .text = { id, text } },
    };
    fail_auto_t err = FAIL_INIT;
    store_writer_t *writer = open_writer();
    uint64_t duplicates = 0;
    int n = 0;

    for (size_t i = 0; i + 1 < NELEMS(rows); i++)
        rows[i].next = &rows[i + 1];
    for (;; n++) {
        let_fail(n);
        if (went_well(store_writer_commit(writer, rows, &duplicates, &err), &err))
            break;
        assert_int_equal(count(writer,
                               "SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM returns) + "
                               "(SELECT count(*) FROM meta WHERE key = 'm1')"),
                         0);
    }
    assert_in_range(n, 11, 20); /* ten texts of rows, and the job that is counted for */
    assert_int_equal(count(writer, "SELECT n_returned FROM jobs WHERE doc = '{}' AND minions = '{}'"), 1);
    assert_int_equal(count(writer, "SELECT count(*) FROM returns WHERE doc = '{}'"), 1);
    store_writer_destroy(&writer);
}

/* Of two jobs that began three hours ago the one that ended just now stays. */
static void
test_forgetting(void **state)
{
    char jid[] = "20261120100000000001", old[] = "20261120100000000002", text[] = "{}", ended[] = NOTE_ENDED;
    const int64_t now = clock_wall_us(), then = now - 3 * HOUR_US;
    AUTO_FREE char *just = xasprintf(NOTE_TIME, now);
    row_t rows[] = {
        { .kind = ROW_JOB, .text = { jid, text, text, text, text }, .num = { then, 0 } },
        { .kind = ROW_JOB, .text = { old, text, text, text, text }, .num = { then, 0 } },
        { .kind = ROW_NOTE, .text = { ended, jid, just, text } },
    };
    const store_keep_t keep = { .jobs_s = 2 * 3600, .now_us = now, .events = 1000 };
    fail_auto_t err = FAIL_INIT;
    store_writer_t *writer = open_writer();
    uint64_t duplicates = 0;
    int n = 0;

    for (size_t i = 0; i + 1 < NELEMS(rows); i++)
        rows[i].next = &rows[i + 1];
    assert_int_equal(store_writer_commit(writer, rows, &duplicates, &err), 0);
    for (;; n++) {
        bool more = true;
        int rc = 0;
        let_fail(n);
        while (rc >= 0 && more)
            rc = store_writer_expire(writer, &keep, 1, &more, &err);
        if (went_well(rc, &err))
            break;
        assert_int_equal(count(writer, "SELECT count(*) FROM jobs WHERE jid = '20261120100000000001'"), 1);
    }
    assert_true(n > 2);
    assert_int_equal(count(writer, "SELECT count(*) FROM jobs"), 1);
    store_writer_destroy(&writer);
}

static void
test_text_of_a_query(void **state)
{
    fail_auto_t err = FAIL_INIT;
    store_writer_t *writer = open_writer();
    char *text = NULL;

    for (int n = 0; n < 2; n++) {
        let_fail(n);
        bool well = went_well(
            db_text(writer->db, "jobs.db", "SELECT 'x' || coalesce(?1, 'none')", "y", &text, &err), &err);
        assert_int_equal(well, n == 1);
    }
    assert_string_equal(text, "xy");
    free(text);
    store_writer_destroy(&writer);
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_rows, set_up, teardown),
          cmocka_unit_test_setup_teardown(test_forgetting, set_up, teardown),
          cmocka_unit_test_setup_teardown(test_text_of_a_query, set_up, teardown))
