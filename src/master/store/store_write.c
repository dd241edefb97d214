/* store_write.c - write batches of queued rows, each batch in one transaction.
 *
 * A row's kind selects a prepared statement; texts and numbers are its parameters. Two things are collected
 * per batch and written at its end: events, which become one block however many rows they came in, and the
 * returned/failed counters of jobs, one update per job rather than per return. A return without a job row
 * gets one ("adopted"), which the job's own row replaces if it comes after all. */
#include "master/store/store_write.h"

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/map.h"
#include "master/store/store_checkpoint.h"
#include "master/store/store_copy.h"
#include "master/store/store_db.h"
#include "master/store/store_forget.h"
#include "salt/limits.h"
#include "salt/log.h"

/* By row_kind_t: the name in log messages, the statement, and its numbers of texts and integers (texts come
 * first). */
static const struct kind {
    const char *name;
    int texts, nums;
    const char *sql;
} kinds[ROW_KINDS] = {
    [ROW_JOB] = { "the job", 5, 2,
                  "INSERT OR IGNORE INTO jobs(jid, fun, tgt, doc, minions, start_us, n_minions)"
                  " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)" },
    [ROW_RETURN] = { "the return", 3, 3,
                     "INSERT OR IGNORE INTO returns(jid, id, doc, retcode, success, stamp_us)"
                     " VALUES(?1, ?2, ?3, ?4, ?5, ?6)" },
    [ROW_EVENTS] = { "events", 0, 4,
                     "INSERT OR IGNORE INTO event_blocks(first, last, first_us, last_us, at, frames)"
                     " VALUES(?1, ?2, ?3, ?4,"
                     "  coalesce((SELECT at + length(frames) FROM event_blocks ORDER BY first DESC LIMIT 1), "
                     "0), ?5)" },
    [ROW_GRAINS] = { "the grains", 2, 1,
                     "INSERT OR REPLACE INTO grains(id, doc, stamp_us) VALUES(?1, ?2, ?3)" },
    [ROW_PILLAR] = { "the pillar", 2, 1,
                     "INSERT OR REPLACE INTO pillar(id, doc, stamp_us) VALUES(?1, ?2, ?3)" },
    [ROW_MINE] = { "the mine", 2, 1, "INSERT OR REPLACE INTO mine(id, doc, stamp_us) VALUES(?1, ?2, ?3)" },
    [ROW_FORGET] = { "the removal of the grains", 1, 0, "DELETE FROM grains WHERE id = ?1" },
    [ROW_FORGET_PILLAR] = { "the removal of the pillar", 1, 0, "DELETE FROM pillar WHERE id = ?1" },
    [ROW_FORGET_MINE] = { "the removal of the mine", 1, 0, "DELETE FROM mine WHERE id = ?1" },
    [ROW_META] = { "the text", 2, 0, "INSERT OR REPLACE INTO meta(key, value) VALUES(?1, ?2)" },
    [ROW_FORGET_META] = { "the removal of the text", 1, 0, "DELETE FROM meta WHERE key = ?1" },
    [ROW_NOTE] = { "the note", 4, 0,
                   "INSERT OR IGNORE INTO notes(kind, ref, part, jid) VALUES(?1, ?2, ?3, ?4)" },
    [ROW_RUN] = { "the orchestration", 3, 1,
                  "INSERT OR IGNORE INTO runs(run, doc, plan, start_us, end_us, result)"
                  " VALUES(?1, ?2, ?3, ?4, 0, '')" },
    [ROW_RUN_END] = { "the result of the orchestration", 2, 1,
                      "UPDATE runs SET result = ?2, end_us = ?3 WHERE run = ?1" },
    [ROW_STEP] = { "the step of the orchestration", 3, 3,
                   "INSERT OR REPLACE INTO steps(run, tag, doc, go, begin_us, end_us)"
                   " VALUES(?1, ?2, ?3, ?4, ?5, ?6)" },
};

/* Rows of minions' documents, which the forgetter does not count as jobs. */
static const bool is_doc[ROW_KINDS] = {
    [ROW_GRAINS] = true, [ROW_PILLAR] = true,        [ROW_MINE] = true,
    [ROW_FORGET] = true, [ROW_FORGET_PILLAR] = true, [ROW_FORGET_MINE] = true,
};

/* Statements that are not tied to a kind. */
enum { X_COUNT, X_ADOPT, X_UNADOPT, X_UNRETURN, X_STATEMENTS };

static const char *const extras[X_STATEMENTS] = {
    [X_COUNT] = "UPDATE jobs SET n_returned = n_returned + ?2, n_failed = n_failed + ?3 WHERE jid = ?1",
    /* A return whose job was never stored here gets a job row of its own, so that it can be looked up and
     * expires. */
    [X_ADOPT] =
        "INSERT OR IGNORE INTO jobs(jid, fun, tgt, doc, minions, start_us, n_minions)"
        " SELECT jid, coalesce(json_extract(doc, '$.fun'), ''), id,"
        "  json_object('jid', jid, 'fun', json_extract(doc, '$.fun'), 'arg', json_extract(doc, '$.fun_args'),"
        "   'tgt', id, 'tgt_type', 'list', 'user', '', 'adopted', json('true')), json_array(id), stamp_us, 1"
        " FROM (SELECT jid, id, stamp_us, CASE WHEN json_valid(doc) THEN doc ELSE '{}' END AS doc"
        "  FROM returns WHERE jid = ?1 LIMIT 1)",
    [X_UNADOPT] = "DELETE FROM jobs WHERE jid = ?1 AND json_extract(doc, '$.adopted')",
    [X_UNRETURN] = "DELETE FROM returns WHERE jid = ?1",
};

struct store_writer {
    char *path;
    char *notice; /* owned; until store_writer_notice takes it */
    sqlite3 *db;
    sqlite3_stmt *insert[ROW_KINDS];
    sqlite3_stmt *extra[X_STATEMENTS];
    forgetter_t *forgetter;
    checkpointer_t *checkpointer;
};

/* Counters that a transaction adds to a job. */
typedef struct counts {
    const char *jid; /* BORROWED from a row */
    int64_t returned, failed;
} counts_t;

void
rows_free(row_t *row)
{
    while (row != NULL) {
        row_t *next = row->next;
        rows_free(row->with);
        for (int i = row->inside; i < ROW_TEXTS; i++)
            free(row->text[i]);
        free(row);
        row = next;
    }
}

/* ---- opening and closing --------------------------------------------------------------------- */

static void
close_db(store_writer_t *self)
{
    for (int i = 0; i < ROW_KINDS; i++) {
        sqlite3_finalize(self->insert[i]);
        self->insert[i] = NULL;
    }
    for (int i = 0; i < X_STATEMENTS; i++) {
        sqlite3_finalize(self->extra[i]);
        self->extra[i] = NULL;
    }
    forgetter_destroy(&self->forgetter);
    checkpointer_destroy(&self->checkpointer);
    sqlite3_close(self->db);
    self->db = NULL;
}

/* TAKES text (may be NULL). A newer notice replaces an unread one. */
static void
set_notice(store_writer_t *self, char *text)
{
    if (text == NULL)
        return;
    free(self->notice);
    self->notice = text;
}

/* Open the database and prepare everything; on failure nothing stays open. */
static int
open_db(store_writer_t *self, fail_t *err)
{
    char *notice = NULL;
    int rc = db_open_writer(self->path, &self->db, &notice, err);

    set_notice(self, notice);
    for (int i = 0; rc == 0 && i < ROW_KINDS; i++)
        rc = db_prepare(self->db, self->path, kinds[i].sql, &self->insert[i], err);
    for (int i = 0; rc == 0 && i < X_STATEMENTS; i++)
        rc = db_prepare(self->db, self->path, extras[i], &self->extra[i], err);
    if (rc == 0)
        self->forgetter = forgetter_new(self->db, self->path, err);
    if (self->forgetter != NULL)
        self->checkpointer = checkpointer_new(self->db, self->path, err);
    if (rc == 0 && self->checkpointer == NULL)
        rc = err->code;
    if (rc < 0)
        close_db(self);
    return rc;
}

store_writer_t *
store_writer_new(const char *path, fail_t *err)
{
    store_writer_t *self = xcalloc(1, sizeof(*self));

    self->path = xstrdup(path);
    if (store_restore_take(path, err) < 0 || open_db(self, err) < 0)
        store_writer_destroy(&self);
    return self;
}

void
store_writer_destroy(store_writer_t **self_p)
{
    if (*self_p == NULL)
        return;
    close_db(*self_p);
    free((*self_p)->path);
    free((*self_p)->notice);
    free(*self_p);
    *self_p = NULL;
}

int
store_writer_restart(store_writer_t *self, const char *why, fail_t *err)
{
    char *notice = NULL;

    close_db(self);
    int rc = db_set_aside(self->path, why, &notice, err);
    set_notice(self, notice);
    return rc < 0 ? rc : open_db(self, err);
}

char *
store_writer_notice(store_writer_t *self)
{
    if (self->notice != NULL || self->checkpointer == NULL)
        return STEAL(self->notice);
    return checkpointer_notice(self->checkpointer);
}

/* ---- batches --------------------------------------------------------------------------------- */

static int
store_write_run(store_writer_t *self, sqlite3_stmt *stmt, fail_t *err)
{
    return db_run(self->db, self->path, stmt, err);
}

static int
store_write_bind_text(store_writer_t *self, sqlite3_stmt *stmt, int at, const char *text, fail_t *err)
{
    return db_bind_text(self->db, self->path, stmt, at, text, err);
}

/* Drop a row that SQLite will never accept (-EBADMSG: too big, or a constraint) and log it; otherwise the
 * queue behind it would never be written. `rc` is the outcome so far; `what` names the row. */
static int
or_without(int rc, const char *what, const char *name, const char *id, fail_t *err)
{
    if (rc != -EBADMSG)
        return rc;
    log_error("%s %s%s%s: not kept: %s", what, name, *id != '\0' ? " " : "", id, fail_text(err));
    fail_clear(err);
    return 0;
}

static int
insert_events(store_writer_t *self, const int64_t *num, const char *frames, size_t len, fail_t *err)
{
    sqlite3_stmt *stmt = self->insert[ROW_EVENTS];

    for (int i = 0; i < ROW_NUMS; i++)
        sqlite3_bind_int64(stmt, i + 1, num[i]);
    int rc = sqlite3_bind_blob64(stmt, ROW_NUMS + 1, frames, len, SQLITE_STATIC);
    int changed = rc == SQLITE_OK ? store_write_run(self, stmt, err) : db_fail(self->db, self->path, err);
    sqlite3_clear_bindings(stmt);
    AUTO_FREE char *first = changed == -EBADMSG ? xasprintf("%lld", (long long) num[0]) : NULL;
    return or_without(changed, kinds[ROW_EVENTS].name, first, "and after", err);
}

/* Collects the batch's events into one block: they are committed together anyway, and few large rows read and
 * delete faster. */
typedef struct gathered {
    int64_t num[ROW_NUMS]; /* of the block */
    bool any;              /* blocks were written */
    buf_t frames;
} gathered_t;

static int
insert_gathered(store_writer_t *self, gathered_t *g, fail_t *err)
{
    int changed = g->frames.len > 0 ? insert_events(self, g->num, g->frames.data, g->frames.len, err) : 0;

    g->any = g->any || changed > 0;
    buf_clear(&g->frames);
    return changed;
}

/* Add a row of events, writing the block first when it is full. A row of at least half a block is written as
 * it is, without copying. */
static int
store_write_gather(store_writer_t *self, gathered_t *g, const row_t *row, fail_t *err)
{
    int changed = g->frames.len + row->len > EVENT_BLOCK ? insert_gathered(self, g, err) : 0;

    if (changed >= 0 && row->len >= EVENT_BLOCK / 2) {
        changed = insert_gathered(self, g, err);
        g->any = true;
        return changed < 0 ? changed : insert_events(self, row->num, row->text[0], row->len, err);
    }
    if (g->frames.len == 0)
        memcpy(g->num, row->num, sizeof(g->num));
    g->num[1] = row->num[1];
    g->num[3] = row->num[3];
    buf_add(&g->frames, row->text[0], row->len);
    return changed;
}

/* Bind and run one row: rows changed, 0 for a duplicate, or a negative errno. */
static int
insert_row(store_writer_t *self, const row_t *row, uint64_t *ret_duplicates, fail_t *err)
{
    const struct kind *kind = &kinds[row->kind];
    sqlite3_stmt *stmt = self->insert[row->kind];
    int rc = 0;

    for (int i = 0; i < kind->texts && rc == 0; i++)
        rc = store_write_bind_text(self, stmt, i + 1, row->text[i], err);
    for (int i = 0; i < kind->nums; i++)
        sqlite3_bind_int64(stmt, kind->texts + i + 1, row->num[i]);
    int changed = rc == 0 ? store_write_run(self, stmt, err) : rc;
    sqlite3_clear_bindings(stmt);
    if (is_doc[row->kind])
        forgetter_docs_changed(self->forgetter);
    if (changed == 0 && (row->kind == ROW_RETURN || row->kind == ROW_JOB))
        ++*ret_duplicates;
    return or_without(changed, kind->name, row->text[0], row->kind == ROW_RETURN ? row->text[1] : "", err);
}

static int
run_extra(store_writer_t *self, int which, const char *jid, fail_t *err)
{
    int rc = store_write_bind_text(self, self->extra[which], 1, jid, err);

    return rc == 0 ? store_write_run(self, self->extra[which], err) : rc;
}

/* Insert a job's own row. A return can't come before its job: one that names the jid so far is a minion's
 * story, so it goes, with the row that was adopted for it. `jobs`: the counters of this batch, by jid. */
static int
insert_job(store_writer_t *self, const row_t *row, const map_t *jobs, uint64_t *ret_duplicates, fail_t *err)
{
    const char *jid = row->text[0];
    counts_t *early = map_get(jobs, jid);
    uint64_t before = *ret_duplicates;
    int changed = insert_row(self, row, ret_duplicates, err);
    bool adopted = false;

    if (*ret_duplicates > before) {
        changed = run_extra(self, X_UNADOPT, jid, err);
        adopted = changed > 0;
    }
    if (adopted) {
        *ret_duplicates = before;
        changed = insert_row(self, row, ret_duplicates, err);
    }
    if (changed <= 0 || (!adopted && early == NULL))
        return changed;
    if (early != NULL)
        early->returned = early->failed = 0;
    int rc = run_extra(self, X_UNRETURN, jid, err);
    return rc < 0 ? rc : changed;
}

/* The counters of a job in this batch. Returns of one job follow each other, so the last one is tried first.
 * BORROWED. */
static counts_t *
counts_of(map_t *jobs, const char *jid, counts_t *last)
{
    if (last != NULL && strcmp(last->jid, jid) == 0)
        return last;
    counts_t *counts = map_get(jobs, jid);
    if (counts == NULL) {
        counts = xcalloc(1, sizeof(*counts));
        counts->jid = jid;
        map_set(jobs, jid, counts);
    }
    return counts;
}

/* Either a retcode or success false counts as failed. */
static void
store_write_count_return(counts_t *counts, const row_t *row)
{
    counts->returned++;
    counts->failed += row->num[0] != 0 || row->num[1] == 0;
}

/* Add the batch's counts to the job's row; 0 when there is no such job. */
static int
add_counts(store_writer_t *self, const counts_t *counts, fail_t *err)
{
    sqlite3_stmt *stmt = self->extra[X_COUNT];

    int rc = store_write_bind_text(self, stmt, 1, counts->jid, err);
    sqlite3_bind_int64(stmt, 2, counts->returned);
    sqlite3_bind_int64(stmt, 3, counts->failed);
    return rc == 0 ? store_write_run(self, stmt, err) : rc;
}

/* Write a job's counts. Without a job row: finish its expiry if it is under way, then adopt the returns of
 * this batch. */
static int
count_job(store_writer_t *self, const row_t *rows, counts_t *counts, fail_t *err)
{
    int changed = counts->returned > 0 ? add_counts(self, counts, err) : 0;

    if (changed != 0)
        return changed;
    /* New returns for a job that is being deleted: what remains of the old ones goes, and these are all that
     * is known of it. */
    changed = forgetter_finish(self->forgetter, counts->jid, err);
    if (changed > 0) {
        /* Insert the batch's returns of this job again, after the job's expired ones were deleted. */
        uint64_t again = 0;
        changed = 0;
        counts->returned = counts->failed = 0;
        for (const row_t *row = rows; row != NULL && changed >= 0; row = row->next) {
            if (row->kind != ROW_RETURN || strcmp(row->text[0], counts->jid) != 0)
                continue;
            changed = insert_row(self, row, &again, err);
            if (changed > 0)
                store_write_count_return(counts, row);
        }
    }
    if (changed < 0 || counts->returned == 0)
        return changed;
    changed = run_extra(self, X_ADOPT, counts->jid, err);
    return changed > 0 ? add_counts(self, counts, err) : changed;
}

/* Write a batch; 0 or a negative errno. The caller commits or rolls back. */
static int
insert_rows(store_writer_t *self, const row_t *rows, uint64_t *ret_duplicates, fail_t *err)
{
    AUTO(map) jobs = map_new(free);
    gathered_t events = { .frames = BUF_INIT };
    counts_t *last = NULL;
    const char *jid;
    void *counts;
    int changed = 0;

    for (const row_t *row = rows; row != NULL && changed >= 0; row = row->next) {
        changed = row->kind == ROW_EVENTS ? store_write_gather(self, &events, row, err)
                  : row->kind == ROW_JOB  ? insert_job(self, row, jobs, ret_duplicates, err)
                                          : insert_row(self, row, ret_duplicates, err);
        if (changed > 0 && row->with != NULL) {
            int also = insert_row(self, row->with, ret_duplicates, err);
            changed = also < 0 ? also : changed;
        }
        /* Even a duplicate may belong to a job that is being deleted: look at its job, too. */
        if (changed >= 0 && row->kind == ROW_RETURN)
            last = counts_of(jobs, row->text[0], last);
        if (changed > 0 && row->kind == ROW_RETURN)
            store_write_count_return(last, row);
    }
    for (size_t i = 0; changed >= 0 && map_next(jobs, &i, &jid, &counts);)
        changed = or_without(count_job(self, rows, counts, err), "the job of returns", jid, "", err);
    if (changed >= 0)
        changed = insert_gathered(self, &events, err);
    /* A flood must not outgrow the limit until the next store_expire. */
    if (changed >= 0 && events.any)
        changed = forgetter_events(self->forgetter, LIMIT_EVENT_JOURNAL, err);
    buf_free(&events.frames);
    return changed < 0 ? changed : 0;
}

/* Rows written to a file that was deleted or renamed would be lost at the next start: begin a new file and
 * report it. */
static int
reopen_if_moved(store_writer_t *self, fail_t *err)
{
    int moved = 0;

    sqlite3_file_control(self->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (!moved)
        return 0;
    close_db(self);
    set_notice(
        self,
        xasprintf("%s was deleted or renamed while the master ran, and a new, empty job store was begun. "
                  "Stop the master before you touch its cache folder.",
                  self->path));
    return open_db(self, err);
}

/* After a failed restart there is no open database: try again. */
static int
store_write_prepare(store_writer_t *self, fail_t *err)
{
    return self->db != NULL ? reopen_if_moved(self, err) : open_db(self, err);
}

/* End the transaction: COMMIT when `rc`, the outcome so far, is not an error; else ROLLBACK. */
static int
store_write_finish(store_writer_t *self, int rc, fail_t *err)
{
    if (rc >= 0)
        rc = db_exec(self->db, self->path, "COMMIT", err);
    if (rc < 0 && self->db != NULL && !sqlite3_get_autocommit(self->db))
        sqlite3_exec(self->db, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

int
store_writer_commit(store_writer_t *self, const row_t *rows, uint64_t *ret_duplicates, fail_t *err)
{
    *ret_duplicates = 0;
    int rc = store_write_prepare(self, err);
    if (rc == 0)
        rc = db_exec(self->db, self->path, "BEGIN IMMEDIATE", err);
    if (rc < 0)
        return rc;
    return store_write_finish(self, insert_rows(self, rows, ret_duplicates, err), err);
}

int
store_writer_expire(store_writer_t *self, const store_keep_t *keep, int64_t for_us, bool *ret_more,
                    fail_t *err)
{
    *ret_more = false;
    int rc = store_write_prepare(self, err);
    /* A deletion need not be durable before the next commit: if it is lost, it is done again. So no sync
     * here. */
    if (rc == 0)
        rc = db_exec(self->db, self->path, "PRAGMA synchronous=NORMAL; BEGIN IMMEDIATE", err);
    int dropped = rc == 0 ? forgetter_step(self->forgetter, keep, clock_mono_us() + for_us, ret_more, err)
                          : rc;
    rc = store_write_finish(self, dropped, err);
    /* If the sync mode can't be restored, commits would be acknowledged without being durable: close, which
     * makes the next commit open the database anew. */
    if (self->db != NULL && db_exec(self->db, self->path, "PRAGMA synchronous=FULL", NULL) < 0)
        close_db(self);
    return rc < 0 ? rc : dropped;
}
