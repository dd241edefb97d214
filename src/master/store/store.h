/* store.h - the durable state of the master: jobs, returns, events, documents of minions. One thread inside
 * writes it.
 *
 * Every add returns a ticket, growing from call to call. When store_committed() reaches it, the row is on the
 * disk; only then may a return be acknowledged to its minion. While the disk fails, rows wait in memory and
 * are retried: none is lost, none acknowledged. A row that can never be stored, whatever the disk, is logged
 * and left out, and its ticket counts as reached, since sending it again would not help.
 *
 * Layer      master; SQLite (with store_read.h) and common/base only
 * Threads    add, expire and ask from any thread; the writer is a thread inside
 * Ownership  texts marked TAKES are consumed even when the row is refused
 * Errors     an add returns 0 when the queue is full (LIMIT_STORE_QUEUE, LIMIT_STORE_BYTES): the caller
 *            retries later. Exception: store_del_minion always succeeds
 * Tests      tests/unit/master/test_store.c; figures by tests/bench/store_bench.c
 */
#ifndef MASTER_STORE_STORE_H
#define MASTER_STORE_STORE_H

#include <inttypes.h>

#include "salt/base.h"
#include "salt/limits.h"

typedef struct store store_t;

/* Open or create the database `path` (0600; its folder must exist) and start the writer. A damaged file is
 * moved aside and a new one begun, see store_notice; a restored backup that waits takes its place first. NEW,
 * or NULL with *err. */
store_t *store_new(const char *path, fail_t *err);
/* Write the queue, then stop. Rows that a failing disk still refuses are dropped: they were never
 * acknowledged. */
void store_destroy(store_t **self_p);
const char *store_path(const store_t *self); /* BORROWED */

/* `job`: {jid, fun, arg, tgt, tgt_type, user, minions: [id], metadata?, start_us?, note?, ...}; every field
 * is kept. A second job with the same jid is ignored. A note {kind, ref, part} is a name under which
 * store_noted finds the jid, from the same commit on and for as long as the job is kept. TAKES. */
uint64_t store_add_job(store_t *self, json_t **job_p);
/* Record that a job is over: store_unfinished no longer lists it, and it may expire. Its age counts from
 * `end_us` (wall clock), or from its start when this is 0. Stored as the note {NOTE_ENDED, jid, end_us or
 * ""}; NOTE_TIME has a fixed width, so that its texts sort by time. */
#define NOTE_ENDED "ended"
#define NOTE_TIME  "%020" PRId64
uint64_t store_end_job(store_t *self, const char *jid, int64_t end_us);
/* Record why a batch begins no more of its minions, as the note {NOTE_HALTED, jid, reason}. */
#define NOTE_HALTED "halted"
uint64_t store_halt_job(store_t *self, const char *jid, const char *reason);
/* A reaction's note; `ref` is the event's number. */
#define NOTE_REACT "react"
/* The note of a job that an orchestration's step began; `ref` is the run. */
#define NOTE_ORCH  "orch"
/* `raw`: the return's JSON text as the minion sent it. The first return of (jid, id) is kept, later ones are
 * ignored. TAKES *raw_p. */
uint64_t store_add_return(store_t *self, const char *jid, const char *id, char **raw_p, int retcode,
                          bool success);
/* Append events numbered first..last to the journal: their frames (eframe.h), concatenated; copied. Numbers
 * must grow from call to call; `wall_us` is in microseconds since 1970. */
uint64_t store_add_events(store_t *self, uint64_t first, uint64_t last, int64_t wall_us, const char *frames,
                          size_t len);
/* Replace a document of one minion. TAKES the text, which is JSON. */
uint64_t store_put_grains(store_t *self, const char *id, char **grains_p);
uint64_t store_put_pillar(store_t *self, const char *id, char **pillar_p);
uint64_t store_put_mine(store_t *self, const char *id, char **mine_p);
/* Delete one document of a minion. */
typedef enum store_doc { STORE_GRAINS, STORE_PILLAR, STORE_MINE, STORE_DOCS } store_doc_t;
uint64_t store_forget(store_t *self, const char *id, store_doc_t what);
/* Delete all documents of a minion whose key was deleted, in one commit, however full the queue is: another
 * host may get the id next. */
uint64_t store_del_minion(store_t *self, const char *id);
/* A run of an orchestration: the request, its plan, and later its result, as JSON texts. Of two with one name
 * the first is kept. `end_us` 0 reopens the run: it is under way again. */
uint64_t store_add_run(store_t *self, const char *run, const char *doc, const char *plan, int64_t start_us);
uint64_t store_end_run(store_t *self, const char *run, const char *result, int64_t end_us);
/* Record an attempt (`go`) at a step (`tag`) of a run; end_us 0: under way. The last write of the same three
 * is kept. `doc`: JSON text. */
uint64_t store_put_step(store_t *self, const char *run, const char *tag, int64_t go, int64_t begin_us,
                        int64_t end_us, const char *doc);
/* Key of the store's own: when it replaced a damaged one, in microseconds of the wall clock. */
#define STORE_REPLACED "store_replaced"
/* Key of the event numbers in use: "N", or "N ahead". Without it, a store that replaced another numbers
 * events from STORE_REPLACED on. */
#define STORE_NUMBERS  "event_numbers"
/* Key of the reactor's cursor: {"seq", "rules", "begun"}, where to resume. */
#define STORE_REACTOR  "reactor"
/* Prefix of keys of tokens of logins; the rest is the token's hash. */
#define STORE_TOKENS   "token/"
/* Set or delete a named text, such as a cursor. */
uint64_t store_put_meta(store_t *self, const char *key, const char *value);
uint64_t store_del_meta(store_t *self, const char *key);

/* Retention. Jobs with their returns, and runs with their steps, expire together, oldest first. Jobs of a run
 * that has not ended are kept as long as the run is. */
typedef struct store_keep {
    int64_t now_us;   /* wall clock as the caller believes it; jobs_s is relative to it */
    int64_t jobs_s;   /* 0: no limit of age. Unfinished jobs stay for LIMIT_UNFINISHED_DAYS more */
    uint64_t bytes;   /* size on the disk of jobs and runs, finished or not; 0: no limit */
    uint64_t events;  /* number of events, within LIMIT_JOURNAL_BYTES */
    uint64_t settled; /* the reactor may read later events again: notes of their reactions outlive jobs */
} store_keep_t;

/* Set the retention and expire now, in small steps between commits; from now on also whenever much has been
 * added. Returns at once. */
void store_expire(store_t *self, const store_keep_t *keep);

/* An eventfd, readable after commits and when an error begins or ends; read 8 bytes to clear it. BORROWED. */
int store_fd(const store_t *self);
/* The highest committed ticket. Lock-free. */
uint64_t store_committed(const store_t *self);
/* Block until `ticket` is committed; false after `timeout_ms`. Not for the front loop. */
bool store_wait(store_t *self, uint64_t ticket, int timeout_ms);
/* The error that keeps the store from being written, with advice; NULL when it works. NEW. */
char *store_trouble(store_t *self);
/* A message for the operator's log: a damaged file was moved aside; the write-ahead log can't be moved into
 * the database, or can again. Each is returned once. NEW or NULL. */
char *store_notice(store_t *self);

/* Rows added between the two are committed in one transaction: a return and its event. Once the first row is
 * accepted the others are too, however full the queue; keep them few. Does not nest. */
void store_together(store_t *self);
void store_apart(store_t *self);

/* True when an add of so many bytes would be accepted now. */
bool store_has_room(store_t *self, size_t bytes);
/* Bytes queued or being written. */
size_t store_waiting(store_t *self);

typedef struct store_stats {
    uint64_t rows;       /* committed; each event counts */
    uint64_t commits;    /* transactions */
    uint64_t duplicates; /* returns and jobs that were stored already */
    uint64_t refused;    /* adds refused by a full queue */
    uint64_t expired;    /* rows deleted by store_expire */
    size_t queued;       /* rows waiting now */
    bool expiring;       /* expiry is not done yet */
} store_stats_t;

void store_get_stats(store_t *self, store_stats_t *ret_stats);

#endif
