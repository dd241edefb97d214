/* publish.h - publish a job to its targets, resend it, and track what is known of each. See publish.c for
 * how.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_publish.c, tests/t/3100-loss.bats
 */
#ifndef MASTER_JOBS_PUBLISH_H
#define MASTER_JOBS_PUBLISH_H

#include "master/front/front.h"

/* Publish for an operator. `request` {fun, arg, tgt, tgt_type, ...}; `user` goes on record; `follower`
 * (lconn_t, BORROWED, may be NULL) gets pushes. `bounded`: the user has no
 * administrator's rights. NEW reply {jid, minions, missing}, jid "" when no minion
 * matched; NULL with *err. Sends nothing yet. */
json_t *publish_job(front_t *self, const json_t *request, const char *user, bool bounded, void *follower,
                    fail_t *err);
void publish_start(front_t *self, const char *jid); /* send it; nothing when the jid is unknown */
void publish_turn(front_t *self, job_t *job, job_target_t *target); /* send it to a QUEUED target */
void publish_again(front_t *self, const char *jid);                 /* a note's job is requested again */
/* NEW [id] of a job's targets, or NULL with *err (-ENOENT: no such job; -EAGAIN: no room). An unfinished job
 * of an earlier run is restored so that it can be followed; `bounded`: within LIMIT_RESTORED_BYTES. */
json_t *publish_find(front_t *self, const char *jid, bool bounded, fail_t *err);

/* Callbacks of the table of jobs, see jobs_new. `front` is the front_t. */
void publish_verdict(void *front, job_t *job, job_target_t *target);
void publish_done(void *front, job_t *job);

#endif
