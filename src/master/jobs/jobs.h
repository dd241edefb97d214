/* jobs.h - the table of jobs under way: each target's state, the followers, and when a job was last sent. No
 * sockets and no store here; publish.c drives it.
 *
 * Verdicts follow the transition table in jobs.c; each change is reported through `on_verdict`.
 *
 * Layer      master
 * Threads    the front loop's
 * Ownership  the table owns jobs; pointers are BORROWED until jobs_sweep or jobs_destroy
 * Tests      tests/unit/master/test_jobs.c
 */
#ifndef MASTER_JOBS_JOBS_H
#define MASTER_JOBS_JOBS_H

#include "master/jobs/batch.h"

typedef enum verdict {
    VERDICT_WAITING,   /* no word from the minion since this master started */
    VERDICT_SENT,      /* sent, not acknowledged */
    VERDICT_DELIVERED, /* acknowledged, its child not started */
    VERDICT_RUNNING,
    VERDICT_QUEUED,   /* of a batch: its turn has not come */
    VERDICT_RETURNED, /* final from here on */
    VERDICT_NOT_CONNECTED,
    VERDICT_NOT_DELIVERED, /* was connected, never acknowledged the job */
    VERDICT_LOST,          /* had the job, and no longer knows it */
    VERDICT_ELSEWHERE,     /* has returned it to another master */
    VERDICT_NOT_BEGUN,     /* of a batch that was halted before its turn */
    VERDICTS
} verdict_t;

const char *verdict_name(verdict_t v);
bool verdict_final(verdict_t v);

typedef struct job_target {
    uint32_t slot; /* of the minion, see peers.h */
    uint8_t verdict;
    uint8_t tries; /* sends so far */
    bool failed;   /* its return is a failure */
    int32_t pid;   /* of the child, when running */
} job_target_t;

typedef struct job {
    char *jid;
    json_t *info; /* {jid, fun, arg, tgt, tgt_type, user, ret, metadata?}: the payload that minions get */
    char *wire;   /* owned: the same as the message, `wire_len` bytes; NULL until it is first sent */
    size_t wire_len;
    job_target_t *targets; /* sorted by slot */
    size_t n_targets;
    size_t n_open;          /* targets without a final verdict */
    size_t n_unheard;       /* targets in SENT or WAITING */
    int64_t start_us;       /* wall clock: when it was published */
    int64_t sent_ms;        /* monotonic: last send */
    unsigned rounds;        /* resends */
    int64_t begin_until_ms; /* monotonic: a restored job may still be started until then */
    int64_t idle_ms;        /* monotonic: last change, or when jobs_sweep last found it alive */
    void **followers;       /* local connections */
    size_t n_followers;
    int64_t busy_ms; /* monotonic: when followers were last told that the master is busy */
    bool held;       /* do not send before its row is committed */
    bool restored;   /* from an earlier run of the master: not started after begin_until_ms unless `wanted` */
    bool wanted;     /* published again by its note, see publish_again */
    size_t bytes;    /* size of its row when a follower had it restored; else 0 */
    bool unended;    /* it is over, but the store's queue refused its end: kept until it is written */
    int64_t wait_ms; /* monotonic: targets may connect until then; 0: they must be connected */
    bool recalled;   /* its moves repeat those of an earlier run of the master: jobs_moved leaves them out */
    batch_t *batch;  /* owned: its targets have it one after the other; NULL: all at once */
} job_t;

typedef struct jobs jobs_t;
typedef void jobs_verdict_fn(void *cookie, job_t *job, job_target_t *target);
typedef void jobs_done_fn(void *cookie, job_t *job);
/* True when an open job may still get a return, or has a follower: jobs_sweep keeps it. */
typedef bool jobs_alive_fn(void *cookie, const job_t *job);

/* `on_verdict` is called for each change but RETURNED (its payload is pushed by the caller), `on_done` when
 * the last open target gets a final verdict, or when jobs_sweep gives the job up. Both may be called inside
 * jobs_move; neither may remove jobs. */
jobs_t *jobs_new(jobs_verdict_fn *on_verdict, jobs_done_fn *on_done, void *cookie);
void jobs_destroy(jobs_t **self_p);

/* TAKES *info_p in any case and copies the slots, which must be sorted and unique. BORROWED result; NULL when
 * the jid exists. */
job_t *jobs_add(jobs_t *self, const char *jid, json_t **info_p, const uint32_t *slots, size_t n);
job_t *jobs_get(const jobs_t *self, const char *jid);
job_target_t *job_find(const job_t *job, uint32_t slot);
size_t jobs_len(const jobs_t *self);
/* for (size_t i = 0; jobs_next(j, &i, &job);) */
bool jobs_next(const jobs_t *self, size_t *iter, job_t **ret_job);

/* Move a target to `to`. A transition that the table does not allow (a returned target that "runs" again) is
 * ignored: false. `pid` 0 when unknown. */
bool jobs_move(jobs_t *self, job_t *job, job_target_t *target, verdict_t to, int32_t pid);

/* How often a target got this verdict since the start, and how many targets of jobs in the table have it. */
uint64_t jobs_moved(const jobs_t *self, verdict_t to);
size_t jobs_at(const jobs_t *self, verdict_t at);

bool job_follow(job_t *job, void *follower); /* false when it is one already */
void jobs_unfollow(jobs_t *self, void *follower);
/* Remove finished jobs, and give up open ones (on_done) that had no change for `keep_ms` and are not
 * alive. */
void jobs_sweep(jobs_t *self, int64_t now_ms, int64_t keep_ms, jobs_alive_fn *is_alive);

#endif
