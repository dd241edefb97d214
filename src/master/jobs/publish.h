/* publish.h - a job's way to its targets: who is meant, sending, sending again, and what is known of each.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_publish.c, tests/t/3100-loss.bats
 */
#ifndef MASTER_JOBS_PUBLISH_H
#define MASTER_JOBS_PUBLISH_H

#include "master/front/front.h"

/* Publish for an operator: NEW reply {jid, minions, missing}; `follower` may be NULL. */
json_t *publish_job(front_t *self, const json_t *request, const char *user, void *follower, fail_t *err);
void publish_start(front_t *self, const char *jid); /* send what publish_job prepared */
void publish_again(front_t *self, const char *jid); /* a note's job is asked for again */
/* NEW [id]: whose a job is that is to be followed, or NULL with *err. One that was left out at the start is
 * taken up; `bounded`: unless those that were so fill their memory. */
json_t *publish_find(front_t *self, const char *jid, bool bounded, fail_t *err);

/* What the table of jobs tells of each change: see jobs_new. */
void publish_verdict(void *front, job_t *job, job_target_t *target);
void publish_done(void *front, job_t *job);

#endif
