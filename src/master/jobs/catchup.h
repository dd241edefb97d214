/* catchup.h - what a job's follower has missed: the returns in the store, then verdicts, then the end.
 *
 * A job's returns may be more than a connection's queue may hold, and than the event thread may read at one
 * time: they are read in the order of their ids, a piece when the one before has been sent. What happens
 * meanwhile is told at once, so a return may come twice; only the end comes last.
 *
 * Layer      master
 * Threads    the front loop's
 * Errors     what can't be read is logged; the verdicts follow all the same
 * Tests      tests/unit/master/test_front.c, tests/t/3100-loss.bats
 */
#ifndef MASTER_JOBS_CATCHUP_H
#define MASTER_JOBS_CATCHUP_H

#include "master/front/front.h"

/* The jobs of one connection, one after the other; NULL: there are none. */
typedef struct catchup catchup_t;

void catchup_add(catchup_t **self_p, const char *jid);
void catchup_destroy(catchup_t **self_p);
bool catchup_waits(const catchup_t *self, const char *jid);
/* Add the next frames to `out`. *self_p is NULL when these were the last. */
void catchup_fill(catchup_t **self_p, front_t *front, buf_t *out);

#endif
