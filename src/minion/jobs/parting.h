/* parting.h - lets a job outlive the job server, when a service manager or the job itself stops or restarts
 * the minion.
 *
 * Job server and child share a page. Asked to part (SIGUSR2), the child goes on without the job server and
 * writes its return to the spool, where the next start of the minion finds it. A child that is already
 * returning answers so, and is read as usual.
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

/* Called before the fork. NEW, or NULL without memory: the job then can't part. */
parting_t *parting_new(void);
void parting_destroy(parting_t **self_p);
/* Asks child `pid` to part; it has `seconds` left, 0: no limit. NULL is allowed. */
void parting_ask(parting_t *self, pid_t pid, unsigned seconds);
/* The child's answer: PARTING_NONE: none yet. */
parting_state_t parting_state(const parting_t *self);

/* In the child, with SIGUSR2 still blocked: installs the handler. `self` is BORROWED for good; NULL: ignore
 * the signal. */
void parting_join(parting_t *self);
/* In the child: true when it has parted, so nobody reads its frames. */
bool parting_is_gone(void);
/* In the child, before it returns: true when the job server will read the return. It does not part from then
 * on. */
bool parting_return(void);

#endif
