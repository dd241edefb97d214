/* store_read.c - queries on the store. One prepared statement per query, made on first use; each function
 * binds, steps, and ends with end_query or end_rows, which also report a lack of memory that SQLite shows
 * only on reset. Only queries for all documents may read a whole table (test_store_plans.c). */
#include "master/store/store_read.h"

#include <sys/stat.h>

#include "common/base/grainsid.h"
#include "common/match/match.h"
#include "master/events/eframe.h"
#include "master/store/store_db.h"
#include "master/store/store_write.h"
#include "salt/limits.h"
#include "salt/value.h"

#define JOB_COLUMNS "num, jid, start_us, n_minions, n_returned, n_failed, fun, tgt, doc, minions"

#define JOBS_WITH(which) "SELECT " JOB_COLUMNS " FROM jobs WHERE " which " AND start_us BETWEEN ?1 AND ?2"
#define NEWEST_FIRST     " ORDER BY start_us DESC, num DESC"

#define JOB_BYTES 1024 /* bytes that a job takes in memory beside its row's text */

/* The columns of JOB_COLUMNS. */
enum { C_NUM, C_JID, C_START, C_MINIONS_N, C_RETURNED_N, C_FAILED_N, C_FUN, C_TGT, C_DOC, C_MINIONS };

enum {
    Q_JOB,
    Q_JOBS,
    Q_JOBS_OF,
    Q_JOBS_AT,
    Q_UNFINISHED,
    Q_RETURNS,
    Q_RETURNED,
    Q_HAS_JOB,
    Q_HAS_RETURN,
    Q_IS_TARGET,
    Q_EVENT_BLOCK,
    Q_EVENT_SINCE,
    Q_EVENT_TIME,
    Q_SEQ_RANGE,
    Q_LAST_JID,
    Q_JIDS,
    Q_GRAINS,
    Q_GRAINS_OF,
    Q_PILLAR,
    Q_PILLAR_OF,
    Q_MINE,
    Q_MINE_OF,
    Q_META,
    Q_METAS,
    Q_NOTED,
    Q_NOTES,
    Q_RUNS,
    Q_RUN,
    Q_STEPS,
    QUERIES
};

static const char *const queries[QUERIES] = {
    [Q_JOB] = "SELECT " JOB_COLUMNS " FROM jobs WHERE jid = ?1",
    [Q_JOBS] = JOBS_WITH("true") NEWEST_FIRST,
    /* Jobs of one function or target, and those whose list may contain it; filter_row looks into the
     * lists. */
    [Q_JOBS_OF] = JOBS_WITH("fun = ?3") " UNION ALL " JOBS_WITH("substr(fun, 1, 1) = '['") NEWEST_FIRST,
    [Q_JOBS_AT] = JOBS_WITH("tgt = ?3 AND substr(tgt, 1, 1) <> '['") " UNION ALL " JOBS_WITH(
        "substr(tgt, 1, 1) = '['") NEWEST_FIRST,
    [Q_UNFINISHED] = "SELECT jid, doc, minions FROM jobs WHERE start_us > ?1 AND n_returned < n_minions"
                     " AND NOT EXISTS (SELECT 1 FROM notes WHERE kind = '" NOTE_ENDED "' AND ref = jobs.jid)"
                     " ORDER BY start_us DESC, num DESC",
    [Q_RETURNS] = "SELECT id, doc FROM returns WHERE jid = ?1 AND id > ?2 ORDER BY id",
    [Q_RETURNED] = "SELECT id FROM returns WHERE jid = ?1 ORDER BY id",
    [Q_HAS_JOB] = "SELECT 1 FROM jobs WHERE jid = ?1",
    [Q_HAS_RETURN] = "SELECT 1 FROM returns WHERE jid = ?1 AND id = ?2",
    [Q_IS_TARGET] = "SELECT CASE WHEN json_extract(doc, '$.adopted') THEN 2 ELSE instr(minions, ?2) > 0 END"
                    " FROM jobs WHERE jid = ?1", /* 2: STORE_ADOPTED */
    [Q_EVENT_BLOCK] =
        "SELECT last, frames FROM event_blocks WHERE last > ?1 AND first >="
        " coalesce((SELECT max(first) FROM event_blocks WHERE first <= ?1 + 1), 0) ORDER BY first LIMIT 1",
    [Q_EVENT_SINCE] = "SELECT coalesce((SELECT min(first) - 1 FROM event_blocks WHERE last_us >= ?1),"
                      " (SELECT last FROM event_blocks ORDER BY first DESC LIMIT 1), 0)",
    [Q_EVENT_TIME] = "SELECT last_us FROM event_blocks ORDER BY first DESC LIMIT 1",
    [Q_SEQ_RANGE] = "SELECT (SELECT min(first) FROM event_blocks),"
                    " (SELECT last FROM event_blocks ORDER BY first DESC LIMIT 1)",
    [Q_LAST_JID] = "SELECT jid FROM jobs ORDER BY start_us DESC, num DESC LIMIT 1",
    [Q_JIDS] =
        "SELECT jid FROM jobs WHERE jid >= ?1 AND jid < ?1 || char(1114111) ORDER BY jid DESC LIMIT ?2",
    [Q_GRAINS] = "SELECT id, doc FROM grains ORDER BY id",
    [Q_GRAINS_OF] = "SELECT id, doc FROM grains WHERE id = ?1",
    [Q_PILLAR] = "SELECT id, doc FROM pillar ORDER BY id",
    [Q_PILLAR_OF] = "SELECT id, doc FROM pillar WHERE id = ?1",
    [Q_MINE] = "SELECT id, doc FROM mine ORDER BY id",
    [Q_MINE_OF] = "SELECT id, doc FROM mine WHERE id = ?1",
    [Q_META] = "SELECT value FROM meta WHERE key = ?1",
    [Q_METAS] = "SELECT key, value FROM meta WHERE key >= ?1 AND key < ?1 || char(1114111) ORDER BY key",
    [Q_NOTED] = "SELECT jid FROM notes WHERE kind = ?1 AND ref = ?2 AND part = ?3",
    [Q_NOTES] = "SELECT part, jid FROM notes WHERE kind = ?1 AND ref = ?2 ORDER BY part",
    [Q_RUNS] = "SELECT run, start_us, end_us, doc, result FROM runs ORDER BY start_us DESC LIMIT ?1",
    [Q_RUN] = "SELECT run, start_us, end_us, doc, result, plan FROM runs WHERE run = ?1",
    [Q_STEPS] = "SELECT tag, go, begin_us, end_us, doc FROM steps WHERE run = ?1 ORDER BY begin_us, go",
};

struct store_reader {
    char *path;
    sqlite3 *db;
    dev_t dev; /* of the open file: the writer may move a damaged one aside */
    ino_t ino;
    sqlite3_stmt *stmt[QUERIES];
};

/* ---- opening --------------------------------------------------------------------------------- */

static void
close_reader(store_reader_t *self)
{
    for (int i = 0; i < QUERIES; i++) {
        sqlite3_finalize(self->stmt[i]);
        self->stmt[i] = NULL;
    }
    sqlite3_close(self->db);
    self->db = NULL;
}

/* Open, or reopen after the writer replaced the file: the inode differs then. One stat per query. */
static int
open_reader(store_reader_t *self, fail_t *err)
{
    struct stat st;

    if (stat(self->path, &st) < 0)
        return fail_set(err, -errno, "%s: %s; is this master's cachedir right?", self->path, strerror(errno));
    if (self->db != NULL && st.st_ino == self->ino && st.st_dev == self->dev)
        return 0;
    close_reader(self);
    self->dev = st.st_dev;
    self->ino = st.st_ino;
    return db_open_reader(self->path, &self->db, err);
}

store_reader_t *
store_reader_new(const char *path, fail_t *err)
{
    store_reader_t *self = xcalloc(1, sizeof(*self));

    self->path = xstrdup(path);
    if (open_reader(self, err) < 0)
        store_reader_destroy(&self);
    return self;
}

void
store_reader_destroy(store_reader_t **self_p)
{
    if (*self_p == NULL)
        return;
    close_reader(*self_p);
    free((*self_p)->path);
    free(*self_p);
    *self_p = NULL;
}

/* ---- running queries ------------------------------------------------------------------------- */

/* BORROWED statement, prepared and ready to bind; NULL with *err. */
static sqlite3_stmt *
query(store_reader_t *self, int which, fail_t *err)
{
    if (open_reader(self, err) < 0)
        return NULL;
    if (self->stmt[which] == NULL &&
        db_prepare(self->db, self->path, queries[which], &self->stmt[which], err) < 0)
        return NULL;
    return self->stmt[which];
}

/* Report SQLite's error. Damage gets advice of its own, as the writer notices it only where it writes. */
static int
store_read_failed(store_reader_t *self, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    int rc = db_fail(self->db, self->path, &why);

    if (rc != -EUCLEAN)
        return fail_set(err, rc, "%s", fail_text(&why));
    return fail_set(
        err, rc,
        "%s; stop the master and move the file away with what stands beside it: a new one is begun. "
        "\"sqlite3 FILE .recover\" may save what was there.",
        fail_text(&why));
}

/* Bind a text to `stmt` (may be NULL). NULL with *err without memory: the statement would run with its former
 * parameter, or with none. */
static sqlite3_stmt *
store_read_bind_text(store_reader_t *self, sqlite3_stmt *stmt, int at, const char *text, fail_t *err)
{
    if (stmt == NULL || sqlite3_bind_text(stmt, at, text, -1, SQLITE_TRANSIENT) == SQLITE_OK)
        return stmt;
    (void) store_read_failed(self, err);
    return NULL;
}

static sqlite3_stmt *
query_text(store_reader_t *self, int which, const char *text, fail_t *err)
{
    return store_read_bind_text(self, query(self, which, err), 1, text, err);
}

/* True when there is another row; false with *rc_p negative after a failure. */
static bool
next_row(store_reader_t *self, sqlite3_stmt *stmt, int *rc_p, fail_t *err)
{
    int rc = sqlite3_step(stmt);

    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        *rc_p = store_read_failed(self, err);
    return rc == SQLITE_ROW;
}

/* Reset a statement. A column for which there was no memory reads as NULL, like an empty one; only the
 * reset's code tells. */
static int
end_rows(store_reader_t *self, sqlite3_stmt *stmt, int rc, fail_t *err)
{
    int said = sqlite3_reset(stmt);

    return rc == 0 && said != SQLITE_OK ? store_read_failed(self, err) : rc;
}

/* End a query. TAKES v; returns it (NEW) unless something failed. */
static json_t *
end_query(store_reader_t *self, sqlite3_stmt *stmt, int rc, json_t *v, fail_t *err)
{
    if (end_rows(self, stmt, rc, err) == 0)
        return v;
    json_decref(v);
    return NULL;
}

/* True when the last column could not be made for lack of memory: the next row or end_rows() reports it. */
static bool
lacks_memory(const store_reader_t *self)
{
    return sqlite3_errcode(self->db) == SQLITE_NOMEM;
}

static const char *
col_text(sqlite3_stmt *stmt, int col)
{
    const char *text = (const char *) sqlite3_column_text(stmt, col);

    return text != NULL ? text : "";
}

/* NEW value of a stored text. It was valid JSON when stored; if it no longer is, the text itself is shown. */
static json_t *
stored_json(const char *text, size_t len)
{
    json_t *v = value_parse(text, len, LIMIT_LOCAL_MSG, "store", NULL);

    return v != NULL ? v : value_utf8(text, len);
}

/* A column's JSON. NEW; without memory "" instead of a failure, as the query's end reports the lack. */
static json_t *
col_json(sqlite3_stmt *stmt, int col)
{
    const char *text = (const char *) sqlite3_column_text(stmt, col);

    /* Without memory there is no text, but the length is still the column's: see lacks_memory(). */
    return text != NULL ? stored_json(text, (size_t) sqlite3_column_bytes(stmt, col)) : json_string("");
}

/* NEW {first column: JSON of the second}. */
static json_t *
collect_docs(store_reader_t *self, sqlite3_stmt *stmt, fail_t *err)
{
    json_t *out = json_object();
    int rc = 0;

    while (next_row(self, stmt, &rc, err))
        json_object_set_new(out, col_text(stmt, 0), col_json(stmt, 1));
    return end_query(self, stmt, rc, out, err);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* Columns that every reader of a job shows. They are kept beside the document, which is written once, because
 * returns change them. */
static void
add_numbers(sqlite3_stmt *stmt, json_t *job)
{
    json_object_set_new(job, "jid", json_string(col_text(stmt, C_JID)));
    json_object_set_new(job, "start_us", json_integer(sqlite3_column_int64(stmt, C_START)));
    json_object_set_new(job, "n_minions", json_integer(sqlite3_column_int64(stmt, C_MINIONS_N)));
    json_object_set_new(job, "n_returned", json_integer(sqlite3_column_int64(stmt, C_RETURNED_N)));
    json_object_set_new(job, "n_failed", json_integer(sqlite3_column_int64(stmt, C_FAILED_N)));
}

/* Memory that a job takes, from its row's columns `doc` and `minions`. */
static size_t
job_bytes(sqlite3_stmt *stmt, int doc, int minions)
{
    return JOB_BYTES + (size_t) sqlite3_column_bytes(stmt, doc) +
           (size_t) sqlite3_column_bytes(stmt, minions);
}

/* A job without its minions. A document that is damaged reads as an empty one: the columns still tell what
 * the job was. */
static json_t *
job_doc(sqlite3_stmt *stmt)
{
    json_t *job = col_json(stmt, C_DOC);

    if (!json_is_object(job)) {
        json_decref(job);
        job = json_object();
    }
    add_numbers(stmt, job);
    return job;
}

static void
store_read_add_minions(sqlite3_stmt *stmt, json_t *job)
{
    json_object_set_new(job, "minions", col_json(stmt, C_MINIONS));
}

static json_t *
whole_job(sqlite3_stmt *stmt)
{
    json_t *job = job_doc(stmt);

    store_read_add_minions(stmt, job);
    return job;
}

/* A job without its document, which may be large: only its size, so that a caller can decide whether to ask
 * for the whole. */
static json_t *
job_head(sqlite3_stmt *stmt)
{
    json_t *job = json_object();

    add_numbers(stmt, job);
    store_read_add_minions(stmt, job);
    json_object_set_new(job, "bytes", json_integer((json_int_t) job_bytes(stmt, C_DOC, C_MINIONS)));
    return job;
}

/* One job by its jid, as `read` makes it of the row. NEW; null when there is no such job, NULL with *err. */
static json_t *
query_job(store_reader_t *self, const char *jid, json_t *(*read)(sqlite3_stmt *stmt), fail_t *err)
{
    sqlite3_stmt *stmt = query_text(self, Q_JOB, jid, err);
    json_t *job = json_null();
    int rc = 0;

    if (stmt == NULL)
        return NULL;
    if (next_row(self, stmt, &rc, err))
        job = read(stmt);
    return end_query(self, stmt, rc, job, err);
}

json_t *
store_job(store_reader_t *self, const char *jid, fail_t *err)
{
    return query_job(self, jid, whole_job, err);
}

json_t *
store_job_head(store_reader_t *self, const char *jid, fail_t *err)
{
    return query_job(self, jid, job_head, err);
}

json_t *
store_returned(store_reader_t *self, const char *jid, fail_t *err)
{
    sqlite3_stmt *stmt = query_text(self, Q_RETURNED, jid, err);
    json_t *ids = json_array();
    int rc = stmt != NULL ? 0 : -EIO;

    while (rc == 0 && next_row(self, stmt, &rc, err))
        json_array_append_new(ids, json_string(col_text(stmt, 0)));
    return end_query(self, stmt, rc, ids, err);
}

/* The integer in the first row, or -ENOENT without one. `stmt` NULL: failed, *err is set. */
static int
first_number(store_reader_t *self, sqlite3_stmt *stmt, fail_t *err)
{
    int rc = 0;

    if (stmt == NULL)
        return -EIO;
    int number = next_row(self, stmt, &rc, err) ? sqlite3_column_int(stmt, 0) : -ENOENT;
    rc = end_rows(self, stmt, rc, err);
    return rc < 0 ? rc : number;
}

/* The same of a query about one name, such as a minion's id, in a job. */
static int
one_number(store_reader_t *self, int which, const char *jid, const char *name, fail_t *err)
{
    return first_number(self, store_read_bind_text(self, query_text(self, which, jid, err), 2, name, err),
                        err);
}

int
store_has_job(store_reader_t *self, const char *jid, fail_t *err)
{
    int rc = first_number(self, query_text(self, Q_HAS_JOB, jid, err), err);

    return rc == -ENOENT ? 0 : rc;
}

int
store_has_return(store_reader_t *self, const char *jid, const char *id, fail_t *err)
{
    int rc = one_number(self, Q_HAS_RETURN, jid, id, err);

    return rc == -ENOENT ? 0 : rc;
}

int
store_is_target(store_reader_t *self, const char *jid, const char *id, fail_t *err)
{
    /* Search the list's JSON text for the quoted id; ids contain no quotation marks, so no other can
     * match. */
    json_auto_t *name = json_string(id);
    AUTO_FREE char *quoted = value_dump(name);

    return one_number(self, Q_IS_TARGET, jid, quoted, err);
}

/* Add "returned" to each job. */
static int
add_returned(store_reader_t *self, json_t *jobs, fail_t *err)
{
    size_t i;
    json_t *job;

    json_array_foreach (jobs, i, job) {
        json_t *ids = store_returned(self, value_str(job, "jid", ""), err);
        if (ids == NULL)
            return -EIO;
        json_object_set_new(job, "returned", ids);
    }
    return 0;
}

/* True when one of the globs matches; `otherwise` when there is no list at all. */
static bool
any_glob(const json_t *globs, const char *text, bool otherwise)
{
    size_t i;
    json_t *glob;

    if (globs == NULL)
        return otherwise;
    json_array_foreach (globs, i, glob) {
        if (json_is_string(glob) && match_glob(json_string_value(glob), text))
            return true;
    }
    return false;
}

/* The callback runs between steps of the statement: it must not use this reader. */
int
store_returns_each(store_reader_t *self, const char *jid, const char *after, store_return_fn *fn,
                   void *cookie, fail_t *err)
{
    sqlite3_stmt *stmt = store_read_bind_text(self, query_text(self, Q_RETURNS, jid, err), 2, after, err);
    bool more = true;
    int rc = 0;

    if (stmt == NULL)
        return -EIO;
    while (more && next_row(self, stmt, &rc, err)) {
        const char *id = col_text(stmt, 0), *text = col_text(stmt, 1);
        more = !lacks_memory(self) && fn(cookie, id, text, (size_t) sqlite3_column_bytes(stmt, 1));
    }
    return end_rows(self, stmt, rc, err);
}

typedef struct wanted {
    const json_t *globs; /* NULL: all */
    json_t *found;
    size_t bytes; /* of the texts taken */
    bool too_much;
} wanted_t;

/* store_return_fn: keeps the returns of the wanted minions, and ends the reading once they no longer fit a
 * message. */
static bool
take_wanted(void *cookie, const char *id, const char *text, size_t len)
{
    wanted_t *self = cookie;

    if (!any_glob(self->globs, id, true))
        return true;
    self->bytes += len;
    /* A single return always fits: it came in a message. */
    self->too_much = self->bytes > LIMIT_LOCAL_MSG && json_object_size(self->found) > 0;
    if (!self->too_much)
        json_object_set_new(self->found, id, stored_json(text, len));
    return !self->too_much;
}

json_t *
store_returns_of(store_reader_t *self, const char *jid, const json_t *globs, fail_t *err)
{
    wanted_t wanted = { .globs = globs, .found = json_object() };

    int rc = store_returns_each(self, jid, "", take_wanted, &wanted, err);
    if (rc == 0 && wanted.too_much)
        rc = fail_set(
            err, -EMSGSIZE,
            "job %s: its returns have more than %d bytes: ask for those of some minions, with salt-run "
            "jobs.lookup_jid %s minions=GLOBS",
            jid, LIMIT_LOCAL_MSG, jid);
    if (rc == 0)
        return wanted.found;
    json_decref(wanted.found);
    return NULL;
}

json_t *
store_returns(store_reader_t *self, const char *jid, fail_t *err)
{
    return store_returns_of(self, jid, NULL, err);
}

/* The same for a column that holds a name, or the JSON of a list of names. */
static bool
any_glob_of(const json_t *globs, const char *text, bool otherwise)
{
    size_t i;
    json_t *name;

    if (globs == NULL || text[0] != '[')
        return any_glob(globs, text, otherwise);
    json_auto_t *names = value_parse(text, strlen(text), LIMIT_LOCAL_MSG, "store", NULL);
    json_array_foreach (names, i, name) {
        if (json_is_string(name) && any_glob(globs, json_string_value(name), otherwise))
            return true;
    }
    return any_glob(globs, text, otherwise);
}

/* True when one key of `wanted` has an equal value in the job's metadata, as in Salt. */
static bool
metadata_fits(const json_t *wanted, const json_t *job)
{
    json_t *metadata = json_object_get(job, "metadata");
    json_t *each = (json_t *) wanted; /* for jansson's iterator; nothing is changed */

    if (wanted == NULL)
        return true;
    for (void *it = json_object_iter(each); it != NULL; it = json_object_iter_next(each, it)) {
        const json_t *has = json_object_get(metadata, json_object_iter_key(it));
        if (has != NULL && value_equal(has, json_object_iter_value(it)))
            return true;
    }
    return false;
}

/* NEW job if the row passes the filter, else NULL. Cheap tests on columns come before parsing. */
static json_t *
filter_row(sqlite3_stmt *stmt, const json_t *filter)
{
    if (value_bool(filter, "failed", false) && sqlite3_column_int64(stmt, C_FAILED_N) == 0)
        return NULL;
    /* A search for the word avoids parsing most documents. */
    if (value_get(filter, "metadata") != NULL && strstr(col_text(stmt, C_DOC), "\"metadata\"") == NULL)
        return NULL;
    if (!any_glob_of(value_get(filter, "function"), col_text(stmt, C_FUN), true) ||
        any_glob_of(value_get(filter, "not_function"), col_text(stmt, C_FUN), false) ||
        !any_glob_of(value_get(filter, "target"), col_text(stmt, C_TGT), true))
        return NULL;
    json_t *job = job_doc(stmt);
    if (metadata_fits(value_get(filter, "metadata"), job)) {
        if (value_bool(filter, "minions", false))
            store_read_add_minions(stmt, job);
        return job;
    }
    json_decref(job);
    return NULL;
}

static json_t *
store_read_reversed(json_t *list)
{
    json_t *out = json_array();

    for (size_t i = json_array_size(list); i > 0; i--)
        json_array_append(out, json_array_get(list, i - 1));
    json_decref(list);
    return out;
}

/* Filters that an index can serve, when they name one value without a pattern. */
static const struct lookup {
    const char *key;
    int query;
} lookups[] = {
    { "function", Q_JOBS_OF },
    { "target", Q_JOBS_AT },
};

/* The only name in a list, BORROWED; NULL when there are several, or a pattern. */
static const char *
only_name(const json_t *globs)
{
    const char *name = json_string_value(json_array_get(globs, 0));

    return json_array_size(globs) == 1 && name != NULL && !match_has_glob(name) ? name : NULL;
}

/* Bind the query that selects the fewest candidates, newest first. BORROWED; NULL with *err. */
static sqlite3_stmt *
query_jobs(store_reader_t *self, const json_t *filter, fail_t *err)
{
    const char *name = NULL;
    int which = Q_JOBS;

    for (size_t i = 0; name == NULL && i < NELEMS(lookups); i++)
        if ((name = only_name(value_get(filter, lookups[i].key))) != NULL)
            which = lookups[i].query;
    sqlite3_stmt *stmt = query(self, which, err);
    if (stmt == NULL)
        return NULL;
    sqlite3_bind_int64(stmt, 1, value_int(filter, "start_us", INT64_MIN));
    sqlite3_bind_int64(stmt, 2, value_int(filter, "end_us", INT64_MAX));
    return name != NULL ? store_read_bind_text(self, stmt, 3, name, err) : stmt;
}

/* Rows come newest first, so that `limit` keeps the newest; the result is reversed. The limit on jobs without
 * `limit` protects the caller's memory. */
json_t *
store_jobs(store_reader_t *self, const json_t *filter, fail_t *err)
{
    sqlite3_stmt *stmt = query_jobs(self, filter, err);
    json_t *jobs = json_array();
    int rc = stmt != NULL ? 0 : -EIO;
    json_int_t limit = value_int(filter, "limit", -1);

    while (rc == 0 && (limit < 0 || (json_int_t) json_array_size(jobs) < limit) &&
           next_row(self, stmt, &rc, err)) {
        json_t *job = filter_row(stmt, filter);
        if (job != NULL)
            json_array_append_new(jobs, job);
        if (json_array_size(jobs) > LIMIT_JOBS_LISTED)
            rc = fail_set(err, -E2BIG,
                          "more than %d jobs: ask for the newest ones (jobs.list_jobs_filter COUNT), for "
                          "those of a time "
                          "(start_time, end_time) or of a function (search_function)",
                          LIMIT_JOBS_LISTED);
    }
    jobs = end_query(self, stmt, rc, jobs, err);
    if (jobs != NULL && value_bool(filter, "returned", false))
        jobs = end_query(self, NULL, add_returned(self, jobs, err), jobs, err);
    return jobs != NULL ? store_read_reversed(jobs) : NULL;
}

/* Rows come newest first, so that the bound leaves out the oldest; the answer is in the order of the jobs. */
json_t *
store_unfinished(store_reader_t *self, int64_t since_us, size_t max_bytes, size_t *ret_left, fail_t *err)
{
    sqlite3_stmt *stmt = query(self, Q_UNFINISHED, err);
    json_t *jids = json_array();
    int rc = stmt != NULL ? 0 : -EIO;
    size_t bytes = 0;

    *ret_left = 0;
    if (stmt != NULL)
        sqlite3_bind_int64(stmt, 1, since_us);
    while (rc == 0 && next_row(self, stmt, &rc, err)) {
        if (bytes <= max_bytes) /* past the bound only count: the row's text is not read */
            bytes += job_bytes(stmt, 1, 2);
        if (bytes <= max_bytes)
            json_array_append_new(jids, json_string(col_text(stmt, 0)));
        else
            ++*ret_left;
    }
    jids = end_query(self, stmt, rc, jids, err);
    return jids != NULL ? store_read_reversed(jids) : NULL;
}

/* "" for a store without jobs, unlike NULL with *err. */
json_t *
store_last_jid(store_reader_t *self, fail_t *err)
{
    sqlite3_stmt *stmt = query(self, Q_LAST_JID, err);
    int rc = 0;

    if (stmt == NULL)
        return NULL;
    json_t *jid = json_string(next_row(self, stmt, &rc, err) ? col_text(stmt, 0) : "");
    return end_query(self, stmt, rc, jid, err);
}

json_t *
store_jids(store_reader_t *self, const char *prefix, size_t limit, fail_t *err)
{
    sqlite3_stmt *stmt = query_text(self, Q_JIDS, prefix, err);
    json_t *jids = json_array();
    int rc = stmt != NULL ? 0 : -EIO;

    if (stmt != NULL)
        sqlite3_bind_int64(stmt, 2, (sqlite3_int64) limit);
    while (rc == 0 && next_row(self, stmt, &rc, err))
        json_array_append_new(jids, json_string(col_text(stmt, 0)));
    return end_query(self, stmt, rc, jids, err);
}

/* ---- events, grains, texts ------------------------------------------------------------------- */

/* The subquery finds by the primary key the block that contains the number; blocks do not overlap. */
int
store_event_block(store_reader_t *self, uint64_t after, buf_t *out, uint64_t *ret_last, fail_t *err)
{
    sqlite3_stmt *stmt = query(self, Q_EVENT_BLOCK, err);
    int rc = stmt != NULL ? 0 : -EIO;

    if (stmt == NULL)
        return rc;
    sqlite3_bind_int64(stmt, 1, (int64_t) after);
    bool found = next_row(self, stmt, &rc, err);
    if (found) {
        const char *bytes = sqlite3_column_blob(stmt, 1);
        *ret_last = (uint64_t) sqlite3_column_int64(stmt, 0);

        /* Append a block's frames, skipping events up to `after`. */
        size_t len = (size_t) sqlite3_column_bytes(stmt, 1);
        eframe_t frame;
        while (len > 0 && eframe_read(bytes, len, &frame) && frame.seq <= after) {
            bytes += frame.len;
            len -= frame.len;
        }
        buf_add(out, bytes, len);
    }
    rc = end_rows(self, stmt, rc, err);
    return rc < 0 ? rc : found;
}

json_t *
store_events(store_reader_t *self, uint64_t *cursor_p, size_t limit, fail_t *err)
{
    json_t *events = json_array();
    int rc = 1;

    while (rc > 0 && json_array_size(events) < limit) {
        buf_auto_t frames = BUF_INIT;
        eframe_t frame;
        uint64_t last = *cursor_p;
        rc = store_event_block(self, *cursor_p, &frames, &last, err);
        for (size_t at = 0; rc > 0 && at < frames.len && json_array_size(events) < limit &&
                            eframe_read(frames.data + at, frames.len - at, &frame);
             at += frame.len) {
            *cursor_p = frame.seq;
            json_array_append_new(events, eframe_value(&frame));
        }
        /* Skip past a spoilt block, or the caller would read it for ever. */
        if (rc > 0 && json_array_size(events) < limit)
            *cursor_p = last;
    }
    return end_query(self, NULL, rc < 0 ? rc : 0, events, err);
}

/* *ret_after stays as the caller has set it when all events are older. */
int
store_event_since(store_reader_t *self, int64_t wall_us, uint64_t *ret_after, fail_t *err)
{
    sqlite3_stmt *stmt = query(self, Q_EVENT_SINCE, err);
    int rc = stmt != NULL ? 0 : -EIO;

    if (stmt == NULL)
        return rc;
    sqlite3_bind_int64(stmt, 1, wall_us);
    if (next_row(self, stmt, &rc, err))
        *ret_after = (uint64_t) sqlite3_column_int64(stmt, 0);
    return end_rows(self, stmt, rc, err);
}

int
store_event_time(store_reader_t *self, int64_t *ret_us, fail_t *err)
{
    sqlite3_stmt *stmt = query(self, Q_EVENT_TIME, err);
    int rc = stmt != NULL ? 0 : -EIO;

    if (stmt == NULL)
        return rc;
    *ret_us = next_row(self, stmt, &rc, err) ? sqlite3_column_int64(stmt, 0) : 0;
    return end_rows(self, stmt, rc, err);
}

int
store_seq_range(store_reader_t *self, uint64_t *ret_first, uint64_t *ret_last, fail_t *err)
{
    sqlite3_stmt *stmt = query(self, Q_SEQ_RANGE, err);
    int rc = 0;

    *ret_first = *ret_last = 0;
    if (stmt == NULL)
        return -EIO;
    if (next_row(self, stmt, &rc, err)) {
        *ret_first = (uint64_t) sqlite3_column_int64(stmt, 0);
        *ret_last = (uint64_t) sqlite3_column_int64(stmt, 1);
    }
    return end_rows(self, stmt, rc, err);
}

static const struct {
    int all, one;
} doc_queries[STORE_DOCS] = { [STORE_GRAINS] = { Q_GRAINS, Q_GRAINS_OF },
                              [STORE_PILLAR] = { Q_PILLAR, Q_PILLAR_OF },
                              [STORE_MINE] = { Q_MINE, Q_MINE_OF } };

/* One minion's document, or all by id. The loop over `all` is a walk over an object of one or of all. */
json_t *
store_docs(store_reader_t *self, store_doc_t what, const char *id, fail_t *err)
{
    sqlite3_stmt *stmt = id != NULL ? query_text(self, doc_queries[what].one, id, err)
                                    : query(self, doc_queries[what].all, err);

    json_t *all = stmt != NULL ? collect_docs(self, stmt, err) : NULL;

    if (what == STORE_GRAINS) {
        /* Earlier masters stored the grain `id` that the minion claimed; the row's key is the true one. */
        json_t *grains;
        json_object_foreach (all, id, grains)
            if (json_is_object(grains))
                grains_set_id(grains, id);
    }
    return all;
}

/* Texts are passed on unparsed and one at a time: parsing a fleet's grains would hold up a start. A row that
 * lacks memory is skipped here and reported by end_rows. */
int
store_docs_each(store_reader_t *self, store_doc_t what, store_doc_fn *fn, void *cookie, fail_t *err)
{
    sqlite3_stmt *stmt = query(self, doc_queries[what].all, err);
    int rc = 0;

    if (stmt == NULL)
        return -EIO;
    while (next_row(self, stmt, &rc, err)) {
        const char *id = col_text(stmt, 0), *text = col_text(stmt, 1);
        if (!lacks_memory(self))
            fn(cookie, id, text);
    }
    return end_rows(self, stmt, rc, err);
}

json_t *
store_meta(store_reader_t *self, const char *key, fail_t *err)
{
    sqlite3_stmt *stmt = query_text(self, Q_META, key, err);
    int rc = 0;

    if (stmt == NULL)
        return NULL;
    json_t *value = next_row(self, stmt, &rc, err) ? json_string(col_text(stmt, 0)) : json_null();
    return end_query(self, stmt, rc, value, err);
}

/* Keys have a prefix per owner ("run/"), so an owner reads its own alone. */
json_t *
store_metas(store_reader_t *self, const char *prefix, fail_t *err)
{
    sqlite3_stmt *stmt = query_text(self, Q_METAS, prefix, err);
    int rc = 0;

    if (stmt == NULL)
        return NULL;
    json_t *all = json_object();
    while (next_row(self, stmt, &rc, err))
        json_object_set_new(all, col_text(stmt, 0), json_string(col_text(stmt, 1)));
    return end_query(self, stmt, rc, all, err);
}

static sqlite3_stmt *
query_note(store_reader_t *self, int which, const char *kind, const char *ref, fail_t *err)
{
    return store_read_bind_text(self, query_text(self, which, kind, err), 2, ref, err);
}

/* null: no job has this note; the caller may begin one. */
json_t *
store_noted(store_reader_t *self, const char *kind, const char *ref, const char *part, fail_t *err)
{
    sqlite3_stmt *stmt = store_read_bind_text(self, query_note(self, Q_NOTED, kind, ref, err), 3, part, err);
    int rc = 0;

    if (stmt == NULL)
        return NULL;
    json_t *jid = next_row(self, stmt, &rc, err) ? json_string(col_text(stmt, 0)) : json_null();
    return end_query(self, stmt, rc, jid, err);
}

json_t *
store_notes(store_reader_t *self, const char *kind, const char *ref, fail_t *err)
{
    sqlite3_stmt *stmt = query_note(self, Q_NOTES, kind, ref, err);
    json_t *found = json_object();
    int rc = stmt != NULL ? 0 : -EIO;

    while (rc == 0 && next_row(self, stmt, &rc, err))
        json_object_set_new(found, col_text(stmt, 0), json_string(col_text(stmt, 1)));
    return end_query(self, stmt, rc, found, err);
}

/* ---- orchestrations -------------------------------------------------------------------------- */

/* NEW document of column `col` as an object; an empty one when it is not. */
static json_t *
doc_with(sqlite3_stmt *stmt, int col)
{
    json_t *doc = col_json(stmt, col);

    if (json_is_object(doc))
        return doc;
    json_decref(doc);
    return json_object();
}

/* A run of an orchestration. One that has not ended has no result: what the column holds then is of no use.
 */
static json_t *
run_doc(sqlite3_stmt *stmt)
{
    json_t *run = doc_with(stmt, 3);

    json_object_set_new(run, "run", json_string(col_text(stmt, 0)));
    json_object_set_new(run, "start_us", json_integer(sqlite3_column_int64(stmt, 1)));
    json_object_set_new(run, "end_us", json_integer(sqlite3_column_int64(stmt, 2)));
    if (sqlite3_column_int64(stmt, 2) != 0)
        json_object_set_new(run, "result", col_json(stmt, 4));
    return run;
}

json_t *
store_runs(store_reader_t *self, size_t limit, fail_t *err)
{
    sqlite3_stmt *stmt = query(self, Q_RUNS, err);
    json_t *runs = json_array();
    int rc = stmt != NULL ? 0 : -EIO;

    if (stmt != NULL)
        sqlite3_bind_int64(stmt, 1, (int64_t) limit);
    while (rc == 0 && next_row(self, stmt, &rc, err))
        json_array_append_new(runs, run_doc(stmt));
    return end_query(self, stmt, rc, runs, err);
}

json_t *
store_run(store_reader_t *self, const char *run, fail_t *err)
{
    sqlite3_stmt *stmt = query_text(self, Q_RUN, run, err);
    json_t *found = json_null();
    int rc = 0;

    if (stmt == NULL)
        return NULL;
    if (next_row(self, stmt, &rc, err)) {
        found = run_doc(stmt);
        json_object_set_new(found, "plan", col_json(stmt, 5));
    }
    return end_query(self, stmt, rc, found, err);
}

/* A step may have begun more than once, as after a restart: each time is a row, with a higher `go`. */
json_t *
store_steps(store_reader_t *self, const char *run, fail_t *err)
{
    sqlite3_stmt *stmt = query_text(self, Q_STEPS, run, err);
    json_t *steps = json_array();
    int rc = stmt != NULL ? 0 : -EIO;

    while (rc == 0 && next_row(self, stmt, &rc, err)) {
        json_t *step = doc_with(stmt, 4);
        json_object_set_new(step, "tag", json_string(col_text(stmt, 0)));
        json_object_set_new(step, "go", json_integer(sqlite3_column_int64(stmt, 1)));
        json_object_set_new(step, "begin_us", json_integer(sqlite3_column_int64(stmt, 2)));
        json_object_set_new(step, "end_us", json_integer(sqlite3_column_int64(stmt, 3)));
        json_array_append_new(steps, step);
    }
    return end_query(self, stmt, rc, steps, err);
}
