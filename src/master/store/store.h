/* store.h - what the master must not forget: jobs, returns, events, grains. Written by one thread of its own.
 *
 * Every add gives a growing ticket. When store_committed() has reached it, the row is on the disk: only then
 * may the return be acknowledged to its minion. While the disk fails, rows wait in memory and are tried
 * again; nothing is lost and nothing is acknowledged. A row that can never be stored, disk or no disk, is
 * left out with an error in the log, and its ticket is reached all the same: sent again it would be no
 * better.
 *
 * Layer      master; SQLite (with store_read.h) and common/base only
 * Threads    add, expire and ask from any thread; the writer is a thread inside
 * Ownership  texts marked TAKES are consumed even when the row is refused
 * Errors     an add returns 0 when the queue is full (LIMIT_STORE_QUEUE, LIMIT_STORE_BYTES): the sender tries
 *            again later (not so store_del_minion)
 * Tests      tests/unit/master/test_store.c; figures by tests/bench/store_bench.c
 */
#ifndef MASTER_STORE_STORE_H
#define MASTER_STORE_STORE_H

#include <inttypes.h>

#include "salt/base.h"
#include "salt/limits.h"

typedef struct store store_t;

/* Open or begin the database `path` (0600; its folder must exist) and start the writer. A damaged file is
 * moved aside and a new one begun: see store_notice. NEW, or NULL with *err. */
store_t *store_new(const char *path, fail_t *err);
/* Writes what is queued, then stops. Rows that a failing disk refuses even now are dropped: they were never
 * committed. */
void store_destroy(store_t **self_p);
const char *store_path(const store_t *self); /* BORROWED */

/* `job`: {jid, fun, arg, tgt, tgt_type, user, minions: [id], metadata?, start_us?, note?, ...}; every field
 * is kept. A note {kind, ref, part} is a name under which the jid is found (store_noted), from the same
 * commit on and as long as the job is kept. TAKES. */
uint64_t store_add_job(store_t *self, json_t **job_p);
/* Each target has its last verdict: no master takes it up again (store_unfinished), and it is forgotten at
 * its age. That is counted from `end_us`, or from its start when this is 0. It is a note {NOTE_ENDED, jid,
 * end_us or ""}. */
#define NOTE_ENDED "ended"
#define NOTE_TIME  "%020" PRId64
uint64_t store_end_job(store_t *self, const char *jid, int64_t end_us);
/* The note of a reaction; its `ref` is the number of the event. */
#define NOTE_REACT "react"
/* The note of what an orchestration's step has begun; its `ref` is the run. */
#define NOTE_ORCH  "orch"
/* `raw` is the return's JSON text as the minion sent it. Of several for one (jid, id) the first stays. TAKES
 * *raw_p. */
uint64_t store_add_return(store_t *self, const char *jid, const char *id, char **raw_p, int retcode,
                          bool success);
/* Events with the numbers first..last, as frames (eframe.h) one behind the other; copied. Numbers grow from
 * call to call. */
uint64_t store_add_events(store_t *self, uint64_t first, uint64_t last, int64_t wall_us, const char *frames,
                          size_t len);
/* Replace what is known of one minion. TAKES the text: JSON. */
uint64_t store_put_grains(store_t *self, const char *id, char **grains_p);
uint64_t store_put_pillar(store_t *self, const char *id, char **pillar_p);
uint64_t store_put_mine(store_t *self, const char *id, char **mine_p);
/* Forget one of these. */
typedef enum store_doc { STORE_GRAINS, STORE_PILLAR, STORE_MINE, STORE_DOCS } store_doc_t;
uint64_t store_forget(store_t *self, const char *id, store_doc_t what);
/* Forget a minion whose key was deleted: all of it together, however full the queue. Its id may be
 * another's soon. */
uint64_t store_del_minion(store_t *self, const char *id);
/* An orchestration: what was asked, its plan, and later its result (texts of JSON). Of two with one name
 * the first stays. An end at 0 takes the end back: it is under way again. */
uint64_t store_add_run(store_t *self, const char *run, const char *doc, const char *plan, int64_t start_us);
uint64_t store_end_run(store_t *self, const char *run, const char *result, int64_t end_us);
/* One go at a step of it; end_us 0: under way. The newest of the same three stays. `doc`: JSON text. */
uint64_t store_put_step(store_t *self, const char *run, const char *tag, int64_t go, int64_t begin_us,
                        int64_t end_us, const char *doc);
/* The store's own text: when it took a damaged one's place, in microseconds of the wall clock. */
#define STORE_REPLACED "store_replaced"
/* The master's text of the numbers of events that it has used: "N", or "N ahead". Without it a store that
 * took another's place goes on with those of STORE_REPLACED. */
#define STORE_NUMBERS  "event_numbers"
/* The reactor's text: {"seq", "rules", "begun"}, the place to go on from. */
#define STORE_REACTOR  "reactor"
/* A named text, such as a cursor. */
uint64_t store_put_meta(store_t *self, const char *key, const char *value);
uint64_t store_del_meta(store_t *self, const char *key);

/* What is kept. Jobs, their returns and the journals of orchestrations go together, the oldest first. What an
 * orchestration has begun stays as long as that has no end and is there. */
typedef struct store_keep {
    int64_t now_us; /* wall clock, as who asks believes it: ages are of then */
    int64_t jobs_s; /* 0: however old; what is unfinished stays, for LIMIT_UNFINISHED_DAYS */
    uint64_t bytes; /* on the disk, of jobs and orchestrations alone, jobs finished or not; 0: however much */
    uint64_t events;  /* the newest, within LIMIT_JOURNAL_BYTES */
    uint64_t settled; /* reactions to later events may be looked at again: their notes outlive their jobs */
} store_keep_t;

/* Forget the rest: now, in small steps between commits, and from now on whenever much has been added. */
void store_expire(store_t *self, const store_keep_t *keep);

/* Readable (an eventfd) after commits and when trouble begins or ends; read 8 bytes to clear it. */
int store_fd(const store_t *self);
/* Highest committed ticket. */
uint64_t store_committed(const store_t *self);
/* Wait until `ticket` is committed; false when `timeout_ms` passed first. Not for the front loop. */
bool store_wait(store_t *self, uint64_t ticket, int timeout_ms);
/* Why nothing can be written at the moment, and what to do; NULL when all is well. NEW. */
char *store_trouble(store_t *self);
/* Something the operator must read in the log (a damaged file was moved aside; the write-ahead log can't
 * be moved into the database, or can again); each text is handed out once. NEW or NULL. */
char *store_notice(store_t *self);

/* What is added between the two is on the disk together or not at all: a return and the event that tells
 * of it. When the first was taken, the others are, however full the queue: they are few. Not one inside
 * the other. */
void store_together(store_t *self);
void store_apart(store_t *self);

/* Whether an add of so many bytes would be taken now. */
bool store_has_room(store_t *self, size_t bytes);
/* Bytes that wait for the writer. */
size_t store_waiting(store_t *self);

typedef struct store_stats {
    uint64_t rows;       /* committed; an event is one */
    uint64_t commits;    /* transactions */
    uint64_t duplicates; /* returns and jobs that were there already */
    uint64_t refused;    /* adds that the full queue refused */
    uint64_t expired;    /* rows deleted by store_expire */
    size_t queued;       /* rows that wait now */
    bool expiring;       /* store_expire has more to do */
} store_stats_t;

void store_get_stats(store_t *self, store_stats_t *ret_stats);

#endif
