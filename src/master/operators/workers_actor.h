/* workers_actor.h - a runner or wheel function at work: each has an actor with its own line to the master, so
 * it may take its time.
 *
 * Layer      master, private to workers*.c
 * Threads    the actor's
 * Tests      tests/unit/master/test_front.c, tests/t/7000-runners.bats
 */
#ifndef MASTER_OPERATORS_WORKERS_ACTOR_H
#define MASTER_OPERATORS_WORKERS_ACTOR_H

#include "master/front/front.h"

/* What an actor works with; it owns the texts, `opts` and the struct. */
typedef struct workers_env {
    char *sock_dir, *store_path;
    store_t *store; /* to wait for its commits, and for the journal of orchestrations */
    registry_t *runners, *wheels;
    json_t *opts;        /* a deep copy: trees are not shared between threads */
    registry_t *modules; /* what templates of pillars call */
    const masterctx_tables_t *host;
} workers_env_t;

void workers_env_destroy(workers_env_t **self_p);

/* Gets {task, configuration or "", ticket of the store}, answers {retcode, success, failed?} and the
 * return's JSON. `arg` is the workers_env_t. TAKES it. */
void workers_actor(zsock_t *pipe, void *arg);

#endif
