/* batch.h - a job that its minions have one after the other: how many at one time, and when it begins no more.
 *
 * Pure: who has the job is the table's (jobs.h), the time is given.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_batch.c
 */
#ifndef MASTER_JOBS_BATCH_H
#define MASTER_JOBS_BATCH_H

#include "salt/base.h"

typedef struct batch {
    size_t places;     /* minions at one time */
    int64_t wait_ms;   /* a place rests for so long after its minion is done */
    int64_t silent_ms; /* a minion without a connection for so long frees its place */
    bool failhard;     /* the first failure halts it */
    bool awaits;  /* of an earlier run of the master: begins none before its minions had time to come back */
    bool users;   /* begun by somebody without administrator's rights, as publisher_acl says */
    bool doubted; /* whether its user may still begin it is to be looked at */
    json_t *as;   /* owned: who its user has become (acl.h); NULL: a user of this host */
    char *halted; /* owned: why it begins no more; NULL: it goes on */
    size_t n_failed;     /* failed returns of an earlier run of the master */
    int64_t progress_us; /* wall clock: when it last began some, or was halted */
    size_t n_open;       /* open targets at the last look */
    size_t n_active;     /* minions that had the job then */
    int64_t *resting;    /* owned, monotonic: when used places are free again, in order */
    size_t n_resting;
} batch_t;

/* `spec` {size: number of minions or part of `of` (batchsize.h), wait?: s, failhard?, users?, as?, timeout?: s;
 * default `timeout_s`}. NEW, or NULL with *err (-EINVAL: what is wrong with which member). */
batch_t *batch_new(const json_t *spec, size_t of, double timeout_s, fail_t *err);
void batch_destroy(batch_t **self_p);
/* Number of minions that may have the job from `now_ms` on, when `active` have it. Places that became free
 * since the last call begin their rest. */
size_t batch_room(batch_t *self, size_t active, int64_t now_ms);

#endif
