/* store_place.h - a store in a folder of its own, and what tests put into it and ask of it. */
#ifndef TESTS_UNIT_MASTER_STORE_PLACE_H
#define TESTS_UNIT_MASTER_STORE_PLACE_H

#include "unit/unit.h"

#include <fcntl.h>
#include <poll.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "master/events/eframe.h"
#include "master/store/store.h"
#include "master/store/store_read.h"
#include "salt/value.h"

#define PATIENCE_MS 240000 /* a full queue, below memcheck, on a machine at work */
#define PAGE        8192   /* of the database */

typedef struct place {
    char dir[64];
    char *path;
    store_t *store;
    store_reader_t *reader;
} place_t;

static inline void
open_place(place_t *p)
{
    fail_auto_t err = FAIL_INIT;

    p->store = store_new(p->path, &err);
    if (p->store == NULL)
        fail_msg("%s", fail_text(&err));
    p->reader = store_reader_new(p->path, &err);
    if (p->reader == NULL)
        fail_msg("%s", fail_text(&err));
}

static inline void
close_place(place_t *p)
{
    store_reader_destroy(&p->reader);
    store_destroy(&p->store);
}

static inline int
setup(void **state)
{
    place_t *p = xcalloc(1, sizeof(*p));

    strcpy(p->dir, "/tmp/halite-store-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    p->path = fs_join(p->dir, "store.db");
    open_place(p);
    *state = p;
    return 0;
}

static inline int
teardown(void **state)
{
    place_t *p = *state;

    close_place(p);
    fs_remove_tree(p->dir, NULL);
    free(p->path);
    free(p);
    return 0;
}

static inline uint64_t
add_job(store_t *store, const char *json)
{
    json_t *job = value_parse(json, strlen(json), 1 << 20, "test", NULL);

    assert_non_null(job);
    uint64_t ticket = store_add_job(store, &job);
    assert_null(job);
    return ticket;
}

static inline uint64_t
add_return(store_t *store, const char *jid, const char *id, const char *value, int retcode)
{
    char *raw = xasprintf("{\"jid\": \"%s\", \"fun\": \"test.echo\", \"fun_args\": [1], \"return\": %s, "
                          "\"retcode\": %d, \"success\": %s}",
                          jid, value, retcode, retcode == 0 ? "true" : "false");
    uint64_t ticket = store_add_return(store, jid, id, &raw, retcode, retcode == 0);

    assert_null(raw);
    return ticket;
}

static inline uint64_t
add_event(store_t *store, uint64_t seq, const char *tag)
{
    char frame[256];
    size_t len = eframe_write(frame, seq, tag, strlen(tag), "{}", 2, "2026-11-20T10:00:00.000000");

    return store_add_events(store, seq, seq, 1000 + (int64_t) seq, frame, len);
}

static inline void
settle(store_t *store, uint64_t ticket)
{
    assert_true(ticket > 0);
    assert_true(store_wait(store, ticket, PATIENCE_MS));
}

/* NEW text of a result, "NULL: why" for a failure. TAKES v. */
static inline char *
shown(json_t *v, fail_t *err)
{
    char *text = v != NULL ? value_dump(v) : xasprintf("NULL: %s", fail_text(err));

    json_decref(v);
    return text;
}

#define assert_shown(expr, expected)                                                                         \
    do {                                                                                                     \
        fail_auto_t shown_err_ = FAIL_INIT;                                                                  \
        fail_t *err = &shown_err_;                                                                           \
        AUTO_FREE char *shown_text_ = shown(expr, err);                                                      \
        assert_string_equal(shown_text_, expected);                                                          \
    } while (0)

static inline uint64_t
count_rows(place_t *p, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;

    assert_int_equal(sqlite3_open_v2(p->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    uint64_t n = (uint64_t) sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return n;
}

/* As another process does. */
static inline void
change_rows(place_t *p, const char *sql)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open_v2(p->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static inline void
set_file_limit(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Waits for the eventfd until trouble is (or is not) there. NEW text or NULL. */
static inline char *
await_trouble(store_t *store, bool wanted)
{
    struct pollfd pfd = { .fd = store_fd(store), .events = POLLIN };
    uint64_t count;

    for (;;) {
        char *text = store_trouble(store);
        if ((text != NULL) == wanted)
            return text;
        free(text);
        assert_int_equal(poll(&pfd, 1, PATIENCE_MS), 1);
        assert_int_equal(read(pfd.fd, &count, sizeof(count)), sizeof(count));
    }
}

static inline void
overwrite(const char *path, off_t from, size_t len)
{
    AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC);
    AUTO_FREE char *junk = xcalloc(1, len);

    memset(junk, 0x5a, len);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, junk, len, from), len);
}

static inline off_t
size_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

#endif
