/* parting.h - a job that goes on while the minion is stopped or started again, by a service manager or by the
 * job itself.
 *
 * Job server and child share a page. Asked to part, the child lives on without the job server, and puts its
 * return into the spool, where the next start of the minion finds it; one that is returning already is heard
 * as ever.
 *
 * Layer      minion
 * Threads    the job server's, and the child's one
 * Tests      tests/unit/minion/test_job.c, tests/t/0055-service.bats
 */
#ifndef MINION_JOBS_PARTING_H
#define MINION_JOBS_PARTING_H

#include <sys/types.h>

#include "salt/base.h"

typedef struct parting parting_t;
typedef enum parting_state { PARTING_NONE, PARTING_GONE, PARTING_RETURNS } parting_state_t;

/* Before the fork. NEW, or NULL: there is no memory for it, and the job can't part. */
parting_t *parting_new(void);
void parting_destroy(parting_t **self_p);
/* The job server asks the child `pid`, which has so many seconds left; 0: no limit. */
void parting_ask(parting_t *self, pid_t pid, unsigned seconds);
/* What the child has answered. */
parting_state_t parting_state(const parting_t *self);

/* In the child, before it lets signals through. `self` is BORROWED for good; NULL is fine. */
void parting_join(parting_t *self);
/* In the child: whether the job server is not there any more. */
bool parting_is_gone(void);
/* In the child, whose work is done: true when the job server hears the return. From then on it does not part. */
bool parting_return(void);

#endif
