/* jobs.h - jobs under way: which target is in which state, who follows, what to send again. No sockets here.
 *
 * Verdicts follow the table in jobs.c; each change is told to the job's followers through `on_verdict`.
 *
 * Layer      master
 * Threads    the front loop's
 * Ownership  the table owns jobs; pointers are BORROWED until jobs_sweep or jobs_destroy
 * Tests      tests/unit/master/test_jobs.c
 */
#ifndef MASTER_JOBS_JOBS_H
#define MASTER_JOBS_JOBS_H

#include "salt/base.h"

typedef enum verdict {
    VERDICT_WAITING,   /* accepted, but not yet back since this master started */
    VERDICT_SENT,      /* sent, nothing heard */
    VERDICT_DELIVERED, /* arrived, its child not started */
    VERDICT_RUNNING,
    VERDICT_RETURNED, /* final from here on */
    VERDICT_NOT_CONNECTED,
    VERDICT_NOT_DELIVERED, /* was connected, never said that the job arrived */
    VERDICT_LOST,          /* had the job, and knows nothing of it any more */
    VERDICT_ELSEWHERE,     /* has returned to another master */
    VERDICTS
} verdict_t;

const char *verdict_name(verdict_t v);
bool verdict_final(verdict_t v);

typedef struct job_target {
    uint32_t slot; /* of the minion, see peers.h */
    uint8_t verdict;
    uint8_t tries; /* sends so far */
    int32_t pid;   /* of the child, when running */
} job_target_t;

typedef struct job {
    char *jid;
    json_t *info;          /* {jid, fun, arg, tgt, tgt_type, user, ret, metadata?}: what minions are sent */
    job_target_t *targets; /* sorted by slot */
    size_t n_targets;
    size_t n_open;          /* targets without a final verdict */
    size_t n_unheard;       /* targets in SENT or WAITING */
    int64_t start_us;       /* wall clock: when it was asked for */
    int64_t sent_ms;        /* monotonic: last sending */
    unsigned rounds;        /* sendings after the first */
    int64_t begin_until_ms; /* monotonic: of a job from before a restart, may still be sent until then */
    int64_t idle_ms;        /* monotonic: last change, or when jobs_sweep last found it alive */
    void **followers;       /* local connections */
    size_t n_followers;
    int64_t busy_ms; /* monotonic: when followers were last told that the master is busy */
    bool held;       /* not to be sent before its row is committed */
    bool restored;   /* of a master before this one: not sent after begin_until_ms unless it is */
    bool wanted;     /* asked for again */
    size_t bytes;    /* of its row, when it was taken up again by who follows it; else 0 */
    bool unended;    /* it is over, which is still to be kept: it stays until then */
    int64_t wait_ms; /* monotonic: targets may take until then to connect; 0: they must be */
} job_t;

typedef struct jobs jobs_t;
typedef void jobs_verdict_fn(void *cookie, job_t *job, job_target_t *target);
typedef void jobs_done_fn(void *cookie, job_t *job);
/* Whether a return may still come for an open job, or somebody waits for it. */
typedef bool jobs_alive_fn(void *cookie, const job_t *job);

/* `on_verdict` for each change but RETURNED (whose payload the caller tells itself), `on_done` when a
 * job's last target has its final verdict, or when jobs_sweep gives it up. */
jobs_t *jobs_new(jobs_verdict_fn *on_verdict, jobs_done_fn *on_done, void *cookie);
void jobs_destroy(jobs_t **self_p);

/* TAKES *info_p and copies the sorted slots. BORROWED. NULL when the jid is there already. */
job_t *jobs_add(jobs_t *self, const char *jid, json_t **info_p, const uint32_t *slots, size_t n);
job_t *jobs_get(const jobs_t *self, const char *jid);
job_target_t *job_find(const job_t *job, uint32_t slot);
size_t jobs_len(const jobs_t *self);
/* for (size_t i = 0; jobs_next(j, &i, &job);) */
bool jobs_next(const jobs_t *self, size_t *iter, job_t **ret_job);

/* Move a target. An illegal move (a returned target that "runs" again) is ignored: false. */
bool jobs_move(jobs_t *self, job_t *job, job_target_t *target, verdict_t to, int32_t pid);

bool job_follow(job_t *job, void *follower); /* false when it follows already */
void jobs_unfollow(jobs_t *self, void *follower);
/* Forget finished jobs, and give up open ones without any change for `keep_ms` unless they are alive. */
void jobs_sweep(jobs_t *self, int64_t now_ms, int64_t keep_ms, jobs_alive_fn *is_alive);

#endif
