/* store_db.c - open the store's SQLite database: create or upgrade its tables, probe it for damage, and move
 * a damaged one aside.
 *
 * Moving aside takes several renames, so it is made repeatable: a mark file PATH.replacing is written first,
 * holding the stamp of the new name, and removed last; whoever opens the store next finishes what the mark
 * says. */
#include "master/store/store_db.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "master/events/eframe.h"
#include "master/store/store.h"
#include "salt/limits.h"
#include "salt/value.h"

#define STORE_APP_ID  1214344297 /* "Hali": marks the file as ours */
#define STORE_VERSION 2

#define REPLACING ".replacing" /* suffix of the mark file, see above */

/* Tables younger than the first format; created in older databases when they are opened. */
#define PILLAR_TABLE                                                                                         \
    "CREATE TABLE IF NOT EXISTS pillar(id TEXT PRIMARY KEY, stamp_us INTEGER NOT NULL, doc TEXT NOT NULL);"
#define RUN_TABLES                                                                                           \
    "CREATE TABLE IF NOT EXISTS runs(run TEXT PRIMARY KEY, start_us INTEGER NOT NULL, end_us INTEGER NOT "   \
    "NULL,"                                                                                                  \
    " doc TEXT NOT NULL, plan TEXT NOT NULL, result TEXT NOT NULL);"                                         \
    "CREATE INDEX IF NOT EXISTS runs_start ON runs(start_us);"                                               \
    "CREATE TABLE IF NOT EXISTS steps(run TEXT NOT NULL, tag TEXT NOT NULL, go INTEGER NOT NULL,"            \
    " begin_us INTEGER NOT NULL, end_us INTEGER NOT NULL, doc TEXT NOT NULL, PRIMARY KEY(run, tag, go))"     \
    " WITHOUT ROWID;"
#define NOTES_TABLE                                                                                          \
    "CREATE TABLE IF NOT EXISTS notes(kind TEXT NOT NULL, ref TEXT NOT NULL, part TEXT NOT NULL,"            \
    " jid TEXT NOT NULL, PRIMARY KEY(kind, ref, part)) WITHOUT ROWID;"                                       \
    "CREATE INDEX IF NOT EXISTS notes_jid ON notes(jid);"

/* Indexes for finding jobs by function or target. The column holds a name, or the JSON of a list of names,
 * which may be long: lists are indexed by time only. */
#define FIND_INDEXES                                                                                         \
    "CREATE INDEX IF NOT EXISTS jobs_fun ON jobs(fun, start_us);"                                            \
    "CREATE INDEX IF NOT EXISTS jobs_several ON jobs(start_us) WHERE substr(fun, 1, 1) = '[';"               \
    "CREATE INDEX IF NOT EXISTS jobs_tgt ON jobs(tgt, start_us) WHERE substr(tgt, 1, 1) <> '[';"             \
    "CREATE INDEX IF NOT EXISTS jobs_listed ON jobs(start_us) WHERE substr(tgt, 1, 1) = '[';"
/* Names whose row is gone, so readers no longer see them, but which still have returns (kind 0) or steps (1)
 * to be deleted. */
#define EXPIRED_TABLE                                                                                        \
    "CREATE TABLE IF NOT EXISTS expired(name TEXT NOT NULL, kind INTEGER NOT NULL, PRIMARY KEY(name, kind))" \
    " WITHOUT ROWID;"
/* Notes of reactions that outlive their jobs, by the event's number. */
#define SPARED_TABLE                                                                                         \
    "CREATE TABLE IF NOT EXISTS spared(seq INTEGER NOT NULL, jid TEXT NOT NULL, PRIMARY KEY(seq, jid))"      \
    " WITHOUT ROWID;"
#define MINE_TABLE                                                                                           \
    "CREATE TABLE IF NOT EXISTS mine(id TEXT PRIMARY KEY, stamp_us INTEGER NOT NULL, doc TEXT NOT NULL);"
/* The journal: blocks of events numbered first..last, between two times. `at` is the number of bytes ever
 * journalled before the block, so that the journal's size is a subtraction. */
#define EVENT_TABLE                                                                                          \
    "CREATE TABLE event_blocks(first INTEGER PRIMARY KEY, last INTEGER NOT NULL, first_us INTEGER NOT NULL," \
    " last_us INTEGER NOT NULL, at INTEGER NOT NULL, frames BLOB NOT NULL);"                                 \
    "CREATE INDEX event_blocks_time ON event_blocks(last_us);"

/* Large columns come last in a row: SQLite reads those before them without fetching overflow pages. */
static const char schema[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE jobs(num INTEGER PRIMARY KEY, jid TEXT NOT NULL UNIQUE, start_us INTEGER NOT NULL,"
    " n_minions INTEGER NOT NULL, n_returned INTEGER NOT NULL DEFAULT 0, n_failed INTEGER NOT NULL DEFAULT 0,"
    " fun TEXT NOT NULL, tgt TEXT NOT NULL, doc TEXT NOT NULL, minions TEXT NOT NULL);"
    "CREATE INDEX jobs_start ON jobs(start_us);"
    "CREATE INDEX jobs_open ON jobs(start_us) WHERE n_returned < n_minions;"
    "CREATE TABLE returns(jid TEXT NOT NULL, id TEXT NOT NULL, retcode INTEGER NOT NULL, success INTEGER NOT "
    "NULL,"
    " stamp_us INTEGER NOT NULL, doc TEXT NOT NULL, PRIMARY KEY(jid, id)) WITHOUT ROWID;" EVENT_TABLE
    "CREATE TABLE grains(id TEXT PRIMARY KEY, stamp_us INTEGER NOT NULL, doc TEXT NOT NULL);" PILLAR_TABLE
        NOTES_TABLE RUN_TABLES MINE_TABLE EXPIRED_TABLE SPARED_TABLE FIND_INDEXES
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "PRAGMA application_id = " STRINGIFY(STORE_APP_ID) ";"
                                                       "PRAGMA user_version = " STRINGIFY(
                                                           STORE_VERSION) ";"
                                                                          "COMMIT;";

/* Touch a page of every table and index, so that a truncated or overwritten file shows at the start rather
 * than in the middle of a job. */
static const char probe[] =
    "SELECT max(start_us) FROM jobs; SELECT max(jid) FROM jobs; SELECT max(num) FROM jobs;"
    "SELECT max(jid) FROM returns; SELECT max(first) FROM event_blocks; SELECT max(id) FROM grains;"
    "SELECT max(key) FROM meta; SELECT max(id) FROM pillar; SELECT max(ref) FROM notes;"
    "SELECT max(run) FROM runs; SELECT max(run) FROM steps; SELECT max(id) FROM mine; SELECT max(name) FROM "
    "expired;";

/* SQLite's primary result code, its errno and the advice for the operator. The last row serves codes not
 * listed. */
static const struct advice {
    int rc;
    int code;
    const char *text;
} advices[] = {
    { SQLITE_FULL, -ENOSPC, "free some space on this file system" },
    { SQLITE_READONLY, -EROFS, "make the file and its folder writable for the master's user" },
    { SQLITE_PERM, -EACCES, "make the file and its folder writable for the master's user" },
    { SQLITE_CANTOPEN, -EACCES, "check that the folder exists and that the master's user may write there" },
    { SQLITE_BUSY, -EBUSY, "another process holds it locked: is a second master running?" },
    { SQLITE_NOMEM, -ENOMEM, "memory is short" },
    { SQLITE_CORRUPT, -EUCLEAN, "the file is damaged" },
    { SQLITE_NOTADB, -EUCLEAN, "the file is damaged" },
    { SQLITE_TOOBIG, -EBADMSG, "it can't be stored" },
    { SQLITE_CONSTRAINT, -EBADMSG, "it can't be stored" },
    { SQLITE_IOERR, -EIO, "check the disk and its free space" },
};

int
db_fail(sqlite3 *db, const char *path, fail_t *err)
{
    int rc = db != NULL ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
    const struct advice *found = &advices[NELEMS(advices) - 1];

    for (size_t i = 0; i < NELEMS(advices); i++) {
        if (advices[i].rc == (rc & 0xff)) {
            found = &advices[i];
            break;
        }
    }
    return fail_set(err, found->code, "%s: %s (SQLite %d): %s", path,
                    db != NULL ? sqlite3_errmsg(db) : "out of memory", rc, found->text);
}

int
db_exec(sqlite3 *db, const char *path, const char *sql, fail_t *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : db_fail(db, path, err);
}

int
db_prepare(sqlite3 *db, const char *path, const char *sql, sqlite3_stmt **ret_stmt, fail_t *err)
{
    int rc = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_stmt, NULL);

    return rc == SQLITE_OK ? 0 : db_fail(db, path, err);
}

int
db_run(sqlite3 *db, const char *path, sqlite3_stmt *stmt, fail_t *err)
{
    int rc = sqlite3_step(stmt);

    /* sqlite3_reset repeats a failed step's code, which has been reported already. */
    if (rc != SQLITE_DONE && rc != SQLITE_ROW)
        rc = db_fail(db, path, err);
    else
        rc = sqlite3_changes(db);
    sqlite3_reset(stmt);
    return rc;
}

int
db_bind_text(sqlite3 *db, const char *path, sqlite3_stmt *stmt, int at, const char *text, fail_t *err)
{
    return sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC) == SQLITE_OK ? 0 : db_fail(db, path, err);
}

int
db_text(sqlite3 *db, const char *path, const char *sql, const char *arg, char **ret_text, fail_t *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = db_prepare(db, path, sql, &stmt, err);

    if (rc == 0 && arg != NULL)
        rc = db_bind_text(db, path, stmt, 1, arg, err);
    int step = rc == 0 ? sqlite3_step(stmt) : SQLITE_ERROR;
    if (rc == 0 && step != SQLITE_ROW && step != SQLITE_DONE)
        rc = db_fail(db, path, err);
    const char *text = rc == 0 && step == SQLITE_ROW ? (const char *) sqlite3_column_text(stmt, 0) : NULL;
    if (rc == 0)
        *ret_text = text != NULL ? xstrdup(text) : NULL;
    if (sqlite3_finalize(stmt) == SQLITE_OK || rc != 0) /* finalize reports a lack of memory for the text */
        return rc;
    free(STEAL(*ret_text));
    return db_fail(db, path, err);
}

int
db_int(sqlite3 *db, const char *path, const char *sql, int *ret_value, fail_t *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = db_prepare(db, path, sql, &stmt, err);

    if (rc == 0 && sqlite3_step(stmt) != SQLITE_ROW)
        rc = db_fail(db, path, err);
    if (rc == 0)
        *ret_value = sqlite3_column_int(stmt, 0);
    sqlite3_finalize(stmt);
    return rc;
}

/* ---- the first format: a row for each event -------------------------------------------------- */

/* NEW JSON text of an event's data without its stamp, which the frame holds; NULL when it is not an
 * object. */
static char *
without_stamp(sqlite3_stmt *stmt)
{
    const char *text = (const char *) sqlite3_column_text(stmt, 3);
    size_t len = (size_t) sqlite3_column_bytes(stmt, 3);
    /* Without memory there is no text, but the length is still the column's. */
    json_auto_t *data = text != NULL ? value_parse(text, len, LIMIT_LOCAL_MSG, "store", NULL) : NULL;

    json_object_del(data, "_stamp");
    return json_is_object(data) ? value_dump(data) : NULL;
}

/* Convert one row (seq, tag, stamp_us, data) into a block of one event. Unreadable rows are dropped. */
static int
upgrade_event(sqlite3 *db, const char *path, sqlite3_stmt *row, sqlite3_stmt *block, int64_t *at_p,
              fail_t *err)
{
    AUTO_FREE char *data = without_stamp(row);
    json_auto_t *tag = json_string((const char *) sqlite3_column_text(row, 1));
    AUTO_FREE char *quoted = tag != NULL ? json_dumps(tag, JSON_ENCODE_ANY) : NULL;
    char stamp[CLOCK_STAMP_LEN];

    if (sqlite3_errcode(db) == SQLITE_NOMEM)
        return db_fail(db, path, err);
    if (data == NULL || quoted == NULL)
        return 0;
    clock_stamp(stamp, sqlite3_column_int64(row, 2));
    size_t tag_len = strlen(quoted) - 2, len = strlen(data);
    AUTO_FREE char *frame = xrealloc(NULL, eframe_room(tag_len, len));
    len = eframe_write(frame, (uint64_t) sqlite3_column_int64(row, 0), quoted + 1, tag_len, data, len, stamp);
    sqlite3_bind_int64(block, 1, sqlite3_column_int64(row, 0));
    sqlite3_bind_int64(block, 2, sqlite3_column_int64(row, 2));
    sqlite3_bind_int64(block, 3, *at_p);
    int bound = sqlite3_bind_blob64(block, 4, frame, len, SQLITE_STATIC);
    *at_p += (int64_t) len;
    int rc = bound == SQLITE_OK && sqlite3_step(block) == SQLITE_DONE ? 0 : db_fail(db, path, err);
    sqlite3_reset(block);
    return rc;
}

/* Format 1 had a row per event; format 2 has blocks of frames. Runs inside the caller's transaction. */
static int
upgrade_events(sqlite3 *db, const char *path, fail_t *err)
{
    sqlite3_stmt *row = NULL, *block = NULL;
    int64_t at = 0;
    int rc = db_prepare(db, path, "SELECT seq, tag, stamp_us, data FROM events ORDER BY seq", &row, err),
        step = SQLITE_DONE;

    if (rc == 0)
        rc = db_prepare(db, path, "INSERT INTO event_blocks VALUES(?1, ?1, ?2, ?2, ?3, ?4)", &block, err);
    while (rc == 0 && (step = sqlite3_step(row)) == SQLITE_ROW)
        rc = upgrade_event(db, path, row, block, &at, err);
    if (rc == 0 && step != SQLITE_DONE)
        rc = db_fail(db, path, err);
    sqlite3_finalize(row);
    sqlite3_finalize(block);
    return rc;
}

/* The release that opened the database last, for the message of one that finds its format too new. */
#define OPENED_BY "halite_version"
#define NOTE_OPENED                                                                                          \
    "INSERT OR REPLACE INTO meta(key, value) SELECT '" OPENED_BY "', '" HALITE_RELEASE                       \
    "' WHERE NOT EXISTS (SELECT 1 FROM meta WHERE key = '" OPENED_BY "' AND value = '" HALITE_RELEASE "');"

/* The text is cut at 31 bytes, as a foreign file may hold anything. */
static int
refuse_newer(sqlite3 *db, const char *path, int version, fail_t *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, "SELECT value FROM meta WHERE key = '" OPENED_BY "'", -1, &stmt, NULL);
    bool known = rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW &&
                 sqlite3_column_type(stmt, 0) == SQLITE_TEXT;

    rc = fail_set(
        err, -EPROTO,
        "%s: a store of format %d, written by Halite %.31s; this master, Halite " HALITE_RELEASE
        ", knows formats up to %d: install that master again, or, to begin without its jobs and returns, "
        "move the file away",
        path, version, known ? (const char *) sqlite3_column_text(stmt, 0) : "of a later version",
        STORE_VERSION);
    sqlite3_finalize(stmt);
    return rc;
}

/* application_id tells our files from other programs'; user_version is the format. */
int
db_format(sqlite3 *db, const char *path, int *ret_version, fail_t *err)
{
    int app = 0, version = 0;
    int rc = db_int(db, path, "PRAGMA application_id", &app, err);

    if (rc == 0)
        rc = db_int(db, path, "PRAGMA user_version", &version, err);
    if (rc < 0)
        return rc;
    if (app != STORE_APP_ID)
        return fail_set(err, -EEXIST, "%s: a database of another program; move it away or name another file",
                        path);
    if (version > STORE_VERSION)
        return refuse_newer(db, path, version, err);
    *ret_version = version;
    return 0;
}

/* Create the tables in a new file, check and upgrade ours, leave any other untouched. */
static int
check_schema(sqlite3 *db, const char *path, fail_t *err)
{
    int version = 0, begun = 0;
    int rc = db_int(
        db, path,
        "SELECT application_id <> 0 OR user_version <> 0 OR (SELECT count(*) FROM sqlite_schema) > 0"
        " FROM pragma_application_id, pragma_user_version",
        &begun, err);

    if (rc == 0 && !begun)
        return db_exec(db, path, schema, err) == 0 ? db_exec(db, path, NOTE_OPENED, err) : err->code;
    if (rc == 0)
        rc = db_format(db, path, &version, err);
    if (rc < 0)
        return rc;
    if (version == 1) {
        /* All or nothing: the format number changes in the same transaction. */
        rc = db_exec(db, path, "BEGIN IMMEDIATE; " EVENT_TABLE, err);
        if (rc == 0)
            rc = upgrade_events(db, path, err);
        if (rc == 0)
            rc = db_exec(db, path,
                         "DROP TABLE events; PRAGMA user_version = " STRINGIFY(STORE_VERSION) "; COMMIT;",
                         err);
        if (rc < 0)
            (void) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    }
    if (rc == 0)
        rc = db_exec(db, path,
                     PILLAR_TABLE NOTES_TABLE RUN_TABLES MINE_TABLE EXPIRED_TABLE SPARED_TABLE FIND_INDEXES
                         NOTE_OPENED,
                     err);
    return rc == 0 ? db_exec(db, path, probe, err) : rc;
}

/* Memory statistics would take a lock that all threads share for each allocation. */
static void
set_up(void)
{
    (void) sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

int
db_open_file(const char *path, sqlite3 **ret_db, fail_t *err)
{
    /* Create the file here, as SQLite would make it world-readable; -wal and -shm inherit its mode. */
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return fail_set(err, -errno,
                        "%s: %s; check that the folder exists and that the master's user may write there",
                        path, strerror(errno));
    close(fd);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_up);
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK
                 ? 0
                 : db_fail(db, path, err);
    if (rc == 0) {
        sqlite3_busy_timeout(db, 5000);
        /* A return of up to 2 kB fits into its leaf; smaller pages would give each one a page of its own.
         * Page size and auto_vacuum only affect a new file. Deleted rows are wiped where that writes no
         * further page. */
        rc = db_exec(
            db, path,
            "PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL;"
            "PRAGMA synchronous=FULL; PRAGMA journal_size_limit=67108864; PRAGMA secure_delete=FAST;",
            err);
    }
    if (rc == 0)
        rc = check_schema(db, path, err);
    if (rc == 0)
        *ret_db = db;
    else
        sqlite3_close(db);
    return rc;
}

/* Finish a replacement from whichever step it was cut short at. A file without its log would be an older
 * state, and a new one without STORE_REPLACED would reuse event numbers. */
static int
store_db_replace(const char *path, const char *stamp, const char *why, char **ret_notice, fail_t *err)
{
    AUTO_FREE char *aside = xasprintf("%s.damaged-%s", path, stamp);
    AUTO_FREE char *mark = xasprintf("%s" REPLACING, path);

    /* Rename the database and its files. The database goes last: its absence means that all are done,
     * and a repeat skips them. */
    int rc = 0;
    static const char *const parts[] = { "-wal", "-shm", "" };

    for (size_t i = 0; fs_absent(aside) && i < NELEMS(parts); i++) {
        AUTO_FREE char *from = xasprintf("%s%s", path, parts[i]);
        AUTO_FREE char *to = xasprintf("%s%s", aside, parts[i]);
        if (rename(from, to) < 0 && errno != ENOENT) {
            rc = fail_set(err, -errno, "%s: damaged, and it can't be moved aside: %s", from, strerror(errno));
            break;
        }
    }

    if (rc == 0) {
        /* Opens the new file and records when it was put in place. */
        sqlite3 *db = NULL;
        AUTO_FREE char *sql = xasprintf("INSERT OR REPLACE INTO meta(key, value) VALUES('" STORE_REPLACED
                                        "', '%lld')",
                                        (long long) clock_wall_us());
        rc = db_open_file(path, &db, err);
        if (rc == 0)
            rc = db_exec(db, path, sql, err);
        sqlite3_close(db);
    }
    if (rc < 0)
        return rc;
    (void) unlink(mark);
    *ret_notice = xasprintf(
        "The job store was damaged and a new, empty one was begun; the old one is kept as %s (%s). "
        "Jobs and events before now are missing from the job cache; \"sqlite3 %s .recover\" "
        "may save them.",
        aside, why, aside);
    return 0;
}

int
db_set_aside(const char *path, const char *why, char **ret_notice, fail_t *err)
{
    char stamp[CLOCK_STAMP_LEN];
    AUTO_FREE char *mark = xasprintf("%s" REPLACING, path);

    clock_jid(stamp);
    int rc = fs_write_atomic(mark, stamp, strlen(stamp), 0600, err);
    return rc < 0 ? rc : store_db_replace(path, stamp, why, ret_notice, err);
}

/* Finish a replacement that an earlier process began, if the mark file is there. */
static int
go_on_replacing(const char *path, char **ret_notice, fail_t *err)
{
    AUTO_FREE char *mark = xasprintf("%s" REPLACING, path);
    buf_auto_t stamp = BUF_INIT;

    if (fs_absent(mark))
        return 0;
    int rc = fs_read(mark, CLOCK_STAMP_LEN, &stamp, err);
    return rc < 0 ? rc
                  : store_db_replace(path, buf_str(&stamp), "the master ended meanwhile", ret_notice, err);
}

int
db_open_writer(const char *path, sqlite3 **ret_db, char **ret_notice, fail_t *err)
{
    fail_auto_t first = FAIL_INIT;
    int rc;

    *ret_notice = NULL;
    if ((rc = go_on_replacing(path, ret_notice, err)) < 0 || (rc = db_open_file(path, ret_db, &first)) == 0)
        return rc;
    if (rc != -EUCLEAN)
        return fail_set(err, rc, "%s", fail_text(&first));
    rc = db_set_aside(path, fail_text(&first), ret_notice, err);
    return rc < 0 ? rc : db_open_file(path, ret_db, err);
}

/* Not SQLITE_OPEN_READONLY: a reader of a WAL database must be able to write its -shm file. query_only
 * forbids the rest. */
int
db_open_reader(const char *path, sqlite3 **ret_db, fail_t *err)
{
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK
                 ? 0
                 : db_fail(db, path, err);

    if (rc == 0) {
        sqlite3_busy_timeout(db, 5000);
        rc = db_exec(db, path, "PRAGMA query_only=ON;", err);
    }
    if (rc == 0)
        *ret_db = db;
    else
        sqlite3_close(db);
    return rc;
}
