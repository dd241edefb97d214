/* test_store_write.c - the writer alone: what is committed is on the disk, whatever failed before. */
#include "unit/unit.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "common/base/fs.h"
#include "common/base/str.h"

#include "master/store_write.c"

enum { SYNCHRONOUS_FULL = 2 }; /* of "PRAGMA synchronous" */

static int
never_full(void *cookie, int action, const char *name, const char *value, const char *db, const char *trigger)
{
    (void) cookie, (void) db, (void) trigger;
    return action == SQLITE_PRAGMA && str_eq(name, "synchronous") && str_eq(value, "FULL") ? SQLITE_DENY
                                                                                           : SQLITE_OK;
}

/* Forgetting need not be on the disk at once; what is committed after it must. */
static void
test_commits_after_forgetting(void **state)
{
    (void) state;
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

UNIT_MAIN(cmocka_unit_test(test_commits_after_forgetting))
