/* store_forget.c - expire jobs, runs and events in steps of a few milliseconds, inside the writer's
 * transactions.
 *
 * Deleting a job with ten thousand returns in one statement would stall commits, so its row goes first, which
 * hides it from readers, and its name goes into `expired`; returns follow in portions whose size adapts to
 * the time they take. Each step does the first of these that finds work: return a free page, portions of
 * `expired`, spared notes, jobs by age, jobs by size, events. */
#include "master/store/store_forget.h"

#include "common/base/clock.h"
#include "master/store/store_db.h"

#define FUTURE_US     (24 * 3600 * 1000000LL) /* a time further ahead than this comes from a wrong clock */
#define YOUNG_US      60000000LL              /* jobs younger than this are never removed for the size */
#define UNFINISHED_US (LIMIT_UNFINISHED_DAYS * 24 * 3600 * 1000000LL)
#define RESERVE       (64 * 1024 * 1024) /* free bytes kept in the file for new rows */
#define PARTS_MAX     500                /* most returns or steps per statement */
#define PARTS_FAST_US 1000               /* a statement faster than this lets the next delete one more; */
#define PARTS_SLOW_US 4000               /* a slower one halves it: a return may have 100 bytes or 16 MB */
#define DOC_ROW       40                 /* bytes of a row beside its document, estimated */
#define BLOCKS_MAX    64                 /* blocks of events per call */

enum {
    F_OLD_JOB,
    F_OLD_RUN,
    F_FIRST_JOB,
    F_JOB_PARTS,
    F_RUN_PARTS,
    F_JOB,
    F_RUN,
    F_NOTES,
    F_SPARE,
    F_SPARED,
    F_SPARED_NOTES,
    F_UNSPARE,
    F_MARK,
    F_MARKED,
    F_UNMARK,
    F_FIRST_BLOCK,
    F_LAST_BLOCK,
    F_BLOCK,
    F_GRAINS,
    F_PILLAR,
    F_MINE,
    F_PAGES,
    F_FREE,
    F_SHRINK,
    F_STATEMENTS
};

/* Treat a start in the future (?1) as the oldest: a clock was wrong then. */
#define START_US "CASE WHEN start_us > ?1 THEN 0 ELSE start_us END"
/* True for jobs that an unfinished run began: if it resumed after their expiry, it would begin them again. */
#define OF_OPEN_RUN                                                                                          \
    "EXISTS (SELECT 1 FROM notes JOIN runs ON run = ref WHERE notes.jid = jobs.jid AND kind = '" NOTE_ORCH   \
    "' AND end_us = 0)"

static const char *const statements[F_STATEMENTS] = {
    /* In order of arrival (num), so a clock that was wrong for a while makes no job old; one dated in the
     * future goes when it comes first. Skips jobs under way, those that ended after ?3, and those of
     * unfinished runs. */
    [F_OLD_JOB] = "SELECT jid, " START_US " FROM jobs WHERE (n_returned >= n_minions OR start_us < ?2"
                  "  OR EXISTS (SELECT 1 FROM notes WHERE kind = '" NOTE_ENDED "' AND ref = jobs.jid))"
                  " AND NOT " OF_OPEN_RUN " AND NOT EXISTS (SELECT 1 FROM notes WHERE kind = '" NOTE_ENDED
                  "' AND ref = jobs.jid"
                  "  AND part > ?3) ORDER BY num LIMIT 1",
    [F_OLD_RUN] =
        "SELECT run, start_us FROM runs WHERE end_us <> 0 OR start_us < ?2 ORDER BY start_us LIMIT 1",
    [F_FIRST_JOB] = "SELECT jid, " START_US " FROM jobs WHERE NOT " OF_OPEN_RUN " ORDER BY num LIMIT 1",
    [F_JOB_PARTS] =
        "DELETE FROM returns WHERE (jid, id) IN (SELECT jid, id FROM returns WHERE jid = ?1 LIMIT ?2)",
    [F_RUN_PARTS] =
        "DELETE FROM steps WHERE (run, tag, go) IN (SELECT run, tag, go FROM steps WHERE run = ?1 LIMIT ?2)",
    [F_JOB] = "DELETE FROM jobs WHERE jid = ?1",
    [F_RUN] = "DELETE FROM runs WHERE run = ?1",
    [F_NOTES] = "DELETE FROM notes WHERE jid = ?1 AND (kind <> '" NOTE_REACT
                "' OR CAST(ref AS INTEGER) <= ?2)",
    [F_SPARE] =
        "INSERT OR IGNORE INTO spared(seq, jid) SELECT CAST(ref AS INTEGER), jid FROM notes WHERE jid = ?1",
    [F_SPARED] = "SELECT jid FROM spared WHERE seq <= ?1 LIMIT 1",
    [F_SPARED_NOTES] = "DELETE FROM notes WHERE jid = ?1",
    [F_UNSPARE] = "DELETE FROM spared WHERE jid = ?1 AND seq <= ?2",
    [F_MARK] = "INSERT OR IGNORE INTO expired(name, kind) VALUES(?1, ?2)",
    [F_MARKED] = "SELECT name, kind FROM expired LIMIT 1",
    [F_UNMARK] = "DELETE FROM expired WHERE name = ?1 AND kind = ?2",
    [F_FIRST_BLOCK] = "SELECT first, last, at FROM event_blocks ORDER BY first LIMIT 1",
    [F_LAST_BLOCK] = "SELECT last, at + length(frames) FROM event_blocks ORDER BY first DESC LIMIT 1",
    [F_BLOCK] = "DELETE FROM event_blocks WHERE first = ?1",
    [F_GRAINS] = "SELECT rowid FROM grains",
    [F_PILLAR] = "SELECT rowid FROM pillar",
    [F_MINE] = "SELECT rowid FROM mine",
    [F_PAGES] = "PRAGMA page_count",
    [F_FREE] = "PRAGMA freelist_count",
    [F_SHRINK] = "PRAGMA incremental_vacuum",
};

/* Columns of F_FIRST_BLOCK, where the oldest block of events begins, and of F_LAST_BLOCK, where the newest
 * ends. */
enum { BLOCK_FIRST, BLOCK_LAST, BLOCK_AT, BLOCK_NUMBERS };
enum { END_LAST, END_AT, END_NUMBERS };

/* Kinds with a row of their own and parts in another table. The numbers are stored in the table `expired`. */
enum { KIND_JOB, KIND_RUN, KINDS };

static const struct kind {
    int old, first, parts, row; /* statements: `old` finds the first that may go by age, `first` by size */
} kinds[KINDS] = {
    [KIND_JOB] = { F_OLD_JOB, F_FIRST_JOB, F_JOB_PARTS, F_JOB },
    [KIND_RUN] = { F_OLD_RUN, F_OLD_RUN, F_RUN_PARTS, F_RUN },
};

/* Tables of minions' documents, one per row. */
static const struct {
    int rows;
    const char *table;
} docs[] = { { F_GRAINS, "grains" }, { F_PILLAR, "pillar" }, { F_MINE, "mine" } };

struct forgetter {
    sqlite3 *db;      /* borrowed */
    const char *path; /* borrowed */
    int64_t page;     /* bytes */
    bool shrinks;     /* auto_vacuum is incremental, so pages can be returned */
    int parts;        /* returns or steps that the next statement deletes */
    int64_t docs;     /* bytes of the minions' documents; -1: to be counted */
    char end[32];     /* bound parameter of the statements that find the oldest; must outlive them */
    sqlite3_stmt *stmt[F_STATEMENTS];
};

/* ---- life ------------------------------------------------------------------------------------ */

/* All statements are prepared once, for the life of the writer's connection. */
forgetter_t *
forgetter_new(sqlite3 *db, const char *path, fail_t *err)
{
    forgetter_t *self = xcalloc(1, sizeof(*self));
    int page = 0, vacuum = 0;

    self->db = db;
    self->path = path;
    self->parts = PARTS_MAX / 10;
    self->docs = -1;
    int rc = db_int(db, path, "PRAGMA page_size", &page, err);
    if (rc == 0)
        rc = db_int(db, path, "PRAGMA auto_vacuum", &vacuum, err);
    self->page = page;
    self->shrinks = vacuum == DB_INCREMENTAL;
    for (int i = 0; rc == 0 && i < F_STATEMENTS; i++)
        rc = db_prepare(db, path, statements[i], &self->stmt[i], err);
    if (rc < 0)
        forgetter_destroy(&self);
    return self;
}

void
forgetter_destroy(forgetter_t **self_p)
{
    if (*self_p == NULL)
        return;
    for (int i = 0; i < F_STATEMENTS; i++)
        sqlite3_finalize((*self_p)->stmt[i]);
    free(*self_p);
    *self_p = NULL;
}

/* ---- statements ------------------------------------------------------------------------------ */

/* Run and reset a statement: rows changed, or a negative errno. */
static int
store_forget_run(forgetter_t *self, int which, fail_t *err)
{
    return db_run(self->db, self->path, self->stmt[which], err);
}

/* Step to the first row: 1, 0 without one, or a negative errno. The caller resets the statement. */
static int
first_row(forgetter_t *self, int which, fail_t *err)
{
    int rc = sqlite3_step(self->stmt[which]);

    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : db_fail(self->db, self->path, err);
}

/* The same for a statement whose first column is a name: *ret_name is NEW. A NULL column means that memory
 * was short. */
static int
first_named(forgetter_t *self, int which, char **ret_name, fail_t *err)
{
    int rc = first_row(self, which, err);
    const char *name = rc > 0 ? (const char *) sqlite3_column_text(self->stmt[which], 0) : NULL;

    *ret_name = name != NULL ? xstrdup(name) : NULL;
    return rc > 0 && name == NULL ? db_fail(self->db, self->path, err) : rc;
}

/* The first `n` integers of the first row: 1, 0 without a row, or a negative errno. Resets the statement. */
static int
numbers(forgetter_t *self, int which, int n, int64_t *ret, fail_t *err)
{
    int rc = first_row(self, which, err);

    for (int i = 0; rc > 0 && i < n; i++)
        ret[i] = sqlite3_column_int64(self->stmt[which], i);
    sqlite3_reset(self->stmt[which]);
    return rc;
}

static int
run_named(forgetter_t *self, int which, const char *name, fail_t *err)
{
    int rc = db_bind_text(self->db, self->path, self->stmt[which], 1, name, err);

    return rc == 0 ? store_forget_run(self, which, err) : rc;
}

static int
run_mark(forgetter_t *self, int which, const char *name, int kind, fail_t *err)
{
    sqlite3_bind_int(self->stmt[which], 2, kind);
    return run_named(self, which, name, err);
}

/* ---- jobs and runs --------------------------------------------------------------------------- */

/* Delete a portion of a job's returns or a run's steps and adapt the portion's size. *ret_all when none are
 * left. */
static int
drop_parts(forgetter_t *self, int kind, const char *name, bool *ret_all, fail_t *err)
{
    int wanted = self->parts;
    int64_t from = clock_mono_us();

    sqlite3_bind_int(self->stmt[kinds[kind].parts], 2, wanted);
    int n = run_named(self, kinds[kind].parts, name, err);
    int64_t took = clock_mono_us() - from;
    if (took > PARTS_SLOW_US && self->parts > 1)
        self->parts /= 2;
    else if (n == wanted && took < PARTS_FAST_US && self->parts < PARTS_MAX)
        self->parts++;
    *ret_all = n < wanted;
    return n;
}

/* SQLite's integers are signed, so the number is capped. */
static void
bind_settled(forgetter_t *self, int which, int column, const store_keep_t *keep)
{
    sqlite3_bind_int64(self->stmt[which], column,
                       keep->settled < INT64_MAX ? (int64_t) keep->settled : INT64_MAX);
}

/* Delete the notes of a job, except those of reactions to events not yet settled, which move to `spared`. */
static int
drop_notes(forgetter_t *self, const char *jid, const store_keep_t *keep, fail_t *err)
{
    bind_settled(self, F_NOTES, 2, keep);
    int rc = run_named(self, F_NOTES, jid, err);
    return rc < 0 ? rc : run_named(self, F_SPARE, jid, err);
}

/* Delete one spared note whose event is settled: rows deleted, or a negative errno. */
static int
drop_spared(forgetter_t *self, const store_keep_t *keep, fail_t *err)
{
    bind_settled(self, F_SPARED, 1, keep);
    AUTO_FREE char *jid = NULL;
    int rc = first_named(self, F_SPARED, &jid, err);

    sqlite3_reset(self->stmt[F_SPARED]);
    if (rc <= 0)
        return rc;
    bind_settled(self, F_UNSPARE, 2, keep);
    rc = run_named(self, F_SPARED_NOTES, jid, err);
    return rc < 0 ? rc : run_named(self, F_UNSPARE, jid, err);
}

/* Delete a job or run and a first portion of its parts; mark it in `expired` if more are left. */
static int
drop_one(forgetter_t *self, int kind, const char *name, const store_keep_t *keep, fail_t *err)
{
    bool all = true;
    int parts = drop_parts(self, kind, name, &all, err);
    int rc = parts;

    if (rc >= 0 && !all)
        rc = run_mark(self, F_MARK, name, kind, err);
    if (rc >= 0 && kind == KIND_JOB)
        rc = drop_notes(self, name, keep, err);
    if (rc >= 0)
        rc = run_named(self, kinds[kind].row, name, err);
    return rc < 0 ? rc : parts + rc;
}

/* Delete a portion of the parts of one marked name; unmark it with the last. */
static int
drop_expired(forgetter_t *self, fail_t *err)
{
    AUTO_FREE char *name = NULL;
    int rc = first_named(self, F_MARKED, &name, err);
    int kind = rc > 0 ? sqlite3_column_int(self->stmt[F_MARKED], 1) : 0;
    bool all = true;

    sqlite3_reset(self->stmt[F_MARKED]);
    if (rc <= 0)
        return rc;
    rc = kind == KIND_JOB || kind == KIND_RUN ? drop_parts(self, kind, name, &all, err) : 0;
    int unmarked = rc >= 0 && all ? run_mark(self, F_UNMARK, name, kind, err) : 0;
    return unmarked < 0 ? unmarked : rc + unmarked;
}

int
forgetter_finish(forgetter_t *self, const char *jid, fail_t *err)
{
    int marked = run_mark(self, F_UNMARK, jid, KIND_JOB, err);

    if (marked <= 0)
        return marked;
    sqlite3_bind_int(self->stmt[F_JOB_PARTS], 2, -1); /* no limit */
    int rc = run_named(self, F_JOB_PARTS, jid, err);
    return rc < 0 ? rc : 1;
}

static int
read_pages(forgetter_t *self, int64_t *ret_used, int64_t *ret_free, fail_t *err)
{
    int64_t pages = 0;
    int rc = numbers(self, F_PAGES, 1, &pages, err);

    if (rc >= 0)
        rc = numbers(self, F_FREE, 1, ret_free, err);
    *ret_used = pages - *ret_free;
    return rc < 0 ? rc : 0;
}

/* The pages that a document occupies, by SQLite's file format, section 1.6: above a threshold the row spills
 * into overflow pages of its own, each with a 4-byte link, and keeps a remainder in its leaf, which it shares
 * with others. */
static int64_t
on_pages(const forgetter_t *self, int64_t bytes)
{
    int64_t most = self->page - 35, least = (self->page - 12) * 32 / 255 - 23, link = self->page - 4;
    int64_t rest = bytes + DOC_ROW, own = 0;

    if (rest > most) {
        own = (rest - least) / link;
        rest = least + (rest - least) % link;
    }
    if (rest > most) {
        own++;
        rest = least;
    }
    return own * self->page + self->page / (most / rest);
}

/* Add the bytes of a table's documents. sqlite3_blob_bytes reads lengths without reading the documents. */
static int
count_docs(forgetter_t *self, int which, int64_t *total_p, fail_t *err)
{
    sqlite3_blob *doc = NULL;
    int rc = SQLITE_OK, more;

    while (rc == SQLITE_OK && (more = first_row(self, docs[which].rows, err)) > 0) {
        int64_t row = sqlite3_column_int64(self->stmt[docs[which].rows], 0);
        rc = doc != NULL ? sqlite3_blob_reopen(doc, row)
                         : sqlite3_blob_open(self->db, "main", docs[which].table, "doc", row, 0, &doc);
        *total_p += rc == SQLITE_OK ? on_pages(self, sqlite3_blob_bytes(doc)) : 0;
    }
    if (rc != SQLITE_OK)
        more = db_fail(self->db, self->path, err);
    sqlite3_blob_close(doc);
    sqlite3_reset(self->stmt[docs[which].rows]);
    return more;
}

void
forgetter_docs_changed(forgetter_t *self)
{
    self->docs = -1;
}

/* 1 when jobs and runs take more than `keep_bytes`, 0, or a negative errno. Their size is the used pages
 * without the journal and the minions' documents; the latter are counted only when the rest is too large. */
static int
store_forget_too_large(forgetter_t *self, uint64_t keep_bytes, fail_t *err)
{
    int64_t used = 0, spare = 0, first[BLOCK_NUMBERS] = { 0 }, end[END_NUMBERS] = { 0 };

    int rc = read_pages(self, &used, &spare, err);
    if (rc >= 0)
        rc = numbers(self, F_FIRST_BLOCK, BLOCK_NUMBERS, first, err);
    if (rc >= 0)
        rc = numbers(self, F_LAST_BLOCK, END_NUMBERS, end, err);
    int64_t bytes = used * self->page - (end[END_AT] - first[BLOCK_AT]);
    if (rc < 0 || bytes <= (int64_t) keep_bytes)
        return rc < 0 ? rc : 0;

    /* Count all documents unless the cached sum is valid. */
    int64_t total = 0;
    rc = 0;
    for (size_t i = 0; i < NELEMS(docs) && rc == 0 && self->docs < 0; i++)
        rc = count_docs(self, (int) i, &total, err);
    if (rc == 0 && self->docs < 0)
        self->docs = total;

    return rc < 0 ? rc : bytes - self->docs > (int64_t) keep_bytes;
}

/* The older of the first job and the first run. */
typedef struct oldest {
    int kind;
    char *name; /* owned; NULL: there is none */
    int64_t start_us;
} oldest_t;

static int
find_oldest(forgetter_t *self, const store_keep_t *keep, bool by_age, oldest_t *ret_oldest, fail_t *err)
{
    int rc = 0;

    for (int kind = 0; rc >= 0 && kind < KINDS; kind++) {
        int which = by_age ? kinds[kind].old : kinds[kind].first;

        /* Bind the times of the statements that find the oldest: ?1 the future, ?2 the limit for
         * unfinished ones, ?3 the end before which a job is old. */
        snprintf(self->end, sizeof(self->end), NOTE_TIME, keep->now_us - keep->jobs_s * 1000000);
        sqlite3_bind_int64(self->stmt[which], 1, keep->now_us + FUTURE_US);
        sqlite3_bind_int64(self->stmt[which], 2, keep->now_us - keep->jobs_s * 1000000 - UNFINISHED_US);
        rc = sqlite3_bind_parameter_count(self->stmt[which]) < 3
                 ? 0
                 : db_bind_text(self->db, self->path, self->stmt[which], 3, self->end, err);

        if (rc == 0) {
            /* Takes the first row of the statement if it is older. */
            oldest_t *oldest = ret_oldest;
            AUTO_FREE char *name = NULL;
            rc = first_named(self, which, &name, err);
            int64_t start_us = rc > 0 ? sqlite3_column_int64(self->stmt[which], 1) : INT64_MAX;
            if (rc > 0 && (oldest->name == NULL || start_us < oldest->start_us)) {
                free(oldest->name);
                *oldest = (oldest_t){ kind, STEAL(name), start_us };
            }
            sqlite3_reset(self->stmt[which]);
        }
    }
    return rc < 0 ? rc : 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Numbers are dense within blocks, so the newest `keep_events` are found by subtraction, whole blocks
 * only. */
int
forgetter_events(forgetter_t *self, uint64_t keep_events, fail_t *err)
{
    int64_t first[BLOCK_NUMBERS], end[END_NUMBERS];
    int dropped = 0;
    int rc = numbers(self, F_LAST_BLOCK, END_NUMBERS, end, err);

    while (rc > 0 && dropped < BLOCKS_MAX) {
        rc = numbers(self, F_FIRST_BLOCK, BLOCK_NUMBERS, first, err);
        if (rc <= 0 || (first[BLOCK_LAST] > end[END_LAST] - (int64_t) keep_events &&
                        first[BLOCK_AT] >= end[END_AT] - LIMIT_JOURNAL_BYTES))
            break;
        sqlite3_bind_int64(self->stmt[F_BLOCK], 1, first[BLOCK_FIRST]);
        rc = store_forget_run(self, F_BLOCK, err);
        dropped += rc > 0;
    }
    return rc < 0 ? rc : dropped;
}

/* ---- space ----------------------------------------------------------------------------------- */

/* Return one page to the file system when more than RESERVE are free: 1, 0 or a negative errno. Done before
 * more is deleted, as SQLite searches the list of free pages for the one it returns. */
static int
store_forget_give_back(forgetter_t *self, fail_t *err)
{
    int64_t used = 0, spare = 0;
    int rc = self->shrinks ? read_pages(self, &used, &spare, err) : 0;

    if (rc < 0 || spare * self->page <= RESERVE)
        return rc;
    rc = first_row(self, F_SHRINK, err);
    sqlite3_reset(self->stmt[F_SHRINK]);
    return rc;
}

/* ---- a slice --------------------------------------------------------------------------------- */

/* Work through the kinds of removal in order, one unit at a time, until the time is up. Pages are returned
 * first, see store_forget_give_back. */
int
forgetter_step(forgetter_t *self, const store_keep_t *keep, int64_t until_us, bool *ret_more, fail_t *err)
{
    int dropped = 0, n;

    do {
        n = store_forget_give_back(self, err);
        if (n > 0)
            continue;
        n = n == 0 ? drop_expired(self, err) : n;
        n = n == 0 ? drop_spared(self, keep, err) : n;
        if (n == 0) {
            /* Delete the oldest job or run if it is too old. */
            oldest_t oldest = { 0 };
            n = keep->jobs_s > 0 ? find_oldest(self, keep, true, &oldest, err) : 0;
            if (n == 0 && oldest.name != NULL && oldest.start_us < keep->now_us - keep->jobs_s * 1000000)
                n = drop_one(self, oldest.kind, oldest.name, keep, err);
            free(oldest.name);
        }
        if (n == 0) {
            /* Delete the oldest job or run if all together are too large. The size is also looked at between
             * two wishes (EXPIRE_SIZE), up to a day apart, when now_us is too old to tell who is young. */
            oldest_t oldest = { 0 };
            n = keep->bytes > 0 ? find_oldest(self, keep, false, &oldest, err) : 0;
            if (n == 0 && oldest.name != NULL && oldest.start_us < clock_wall_us() - YOUNG_US)
                n = store_forget_too_large(self, keep->bytes, err);
            if (n > 0)
                n = drop_one(self, oldest.kind, oldest.name, keep, err);
            free(oldest.name);
        }
        if (n == 0)
            n = forgetter_events(self, keep->events, err);
        dropped += n > 0 ? n : 0;
    } while (n > 0 && clock_mono_us() < until_us);
    *ret_more = n > 0;
    return n < 0 ? n : dropped;
}
