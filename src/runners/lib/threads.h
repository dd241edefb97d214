/* threads.h - `parallel` steps of an orchestration: a thread each, as the master does not fork.
 *
 * A thread has a context and a line to the master of its own, made from copies; what it is given and what it
 * gives back changes hands whole.
 *
 * Layer      runners/lib
 * Threads    start and next belong to the run's
 * Tests      tests/t/6000-orchestrate.bats
 */
#ifndef RUNNERS_LIB_THREADS_H
#define RUNNERS_LIB_THREADS_H

#include "common/state/run.h"

typedef struct threads threads_t;

/* Resources of one worker thread. */
typedef struct threads_env {
    call_ctx_t *ctx; /* the run's: options, pillar and jid are copied from it. BORROWED */
    size_t max;      /* at one time */
    void (*dress)(void *cookie, call_ctx_t *ctx); /* in the thread, before the work; may be NULL */
    void *cookie;
} threads_env_t;

threads_t *threads_new(const threads_env_t *env); /* NEW */
void threads_destroy(threads_t **self_p);         /* waits for those at work */
extern const state_workers_t threads_workers;

#endif
