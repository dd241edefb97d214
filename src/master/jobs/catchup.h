/* catchup.h - replay to a job's follower what it missed: the returns in the store, then verdicts, then the
 * end.
 *
 * A job's returns may exceed a connection's queue and the time that the front loop may spend at once. They
 * are read in the order of ids, one piece after the last has been sent. News meanwhile goes out at once, so a
 * follower may get a return twice; only "done" is always last.
 *
 * Layer      master
 * Threads    the front loop's
 * Errors     unreadable returns are logged; the verdicts follow all the same
 * Tests      tests/unit/master/test_front.c, tests/t/3100-loss.bats
 */
#ifndef MASTER_JOBS_CATCHUP_H
#define MASTER_JOBS_CATCHUP_H

#include "master/front/front.h"

/* A connection's queue of jobs to replay, first come first served; NULL when it is empty. */
typedef struct catchup catchup_t;

/* Append a job, from its first return on. The caller does not add one that waits already. */
void catchup_add(catchup_t **self_p, const char *jid);
void catchup_destroy(catchup_t **self_p);
/* True while the job is in the queue: its "done" must not be pushed by anyone else. */
bool catchup_waits(const catchup_t *self, const char *jid);
/* Add the next frames to `out`: one piece of the first job. Frees a job that is complete; *self_p is NULL
 * after the last one. The queue must not be empty. */
void catchup_fill(catchup_t **self_p, front_t *front, buf_t *out);

#endif
