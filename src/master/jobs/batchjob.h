/* batchjob.h - a batch as a job under way: what its minions do, its summary, its events, and its halt.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/3050-master-batch.bats
 */
#ifndef MASTER_JOBS_BATCHJOB_H
#define MASTER_JOBS_BATCHJOB_H

#include "master/front/front.h"

/* Numbers of a batch's minions; together they are all of its targets. */
typedef struct batch_tally {
    size_t queued;    /* not begun */
    size_t active;    /* have the job, or it is on its way to them */
    size_t completed; /* returned a success */
    size_t failed;    /* returned a failure, lost the job, or are silent */
    size_t not_begun; /* had no connection when their turn came, or the batch was halted before */
} batch_tally_t;

/* False with *err when a user without administrator's rights has as many batches under way as may be: without a
 * bound they would be more than can be looked at. */
bool batchjob_has_room(const front_t *self, const batch_t *batch, const char *user, fail_t *err);
/* Halt a batch whose user may not begin it any more: publisher_acl, or what the minions are, has changed. */
void batchjob_check_user(front_t *self, job_t *job);

/* Make the new job a batch: each target waits for its turn. TAKES batch. */
void batchjob_set(front_t *self, job_t *job, batch_t *batch);
/* The same for a job of an earlier run of the master, by its row (store_job): a halt and failures are read from
 * the store. */
void batchjob_restore(front_t *self, job_t *job, const json_t *row);

batch_tally_t batchjob_tally(const front_t *self, const job_t *job);
/* NEW {jid, fun, tgt, tgt_type, user, total, completed, failed, active, pending, not_begun, halted: it begins
 * no more, halted_reason?, created, last_progress: s since 1970}. */
json_t *batchjob_summary(const front_t *self, const job_t *job);
/* The same for a batch that is over, from the store, where all that did not return count as not begun; json
 * null when there is no such batch; NULL with *err. */
json_t *batchjob_stored(front_t *self, const char *jid, fail_t *err);
/* Fire salt/batch/JID/WHAT with the summary, and the ids when there are some (BORROWED, may be NULL). */
void batchjob_tell(front_t *self, const job_t *job, const char *what, json_t *ids);
/* Begin no more: kept in the store, told by an event. Targets whose turn has not come are left out at the next
 * look. */
void batchjob_halt(front_t *self, job_t *job, const char *reason);

#endif
