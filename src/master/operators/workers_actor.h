/* workers_actor.h - the thread of a runner or wheel function: each actor has its own connection to the
 * master, so that a function may block.
 *
 * Layer      master, private to workers*.c
 * Threads    the actor's
 * Tests      tests/unit/master/test_front.c, tests/t/7000-runners.bats
 */
#ifndef MASTER_OPERATORS_WORKERS_ACTOR_H
#define MASTER_OPERATORS_WORKERS_ACTOR_H

#include "master/front/front.h"

/* An actor's environment; it owns the strings, `opts` and the struct. The rest is BORROWED. */
typedef struct workers_env {
    char *sock_dir, *store_path;
    store_t *store; /* to wait for commits, and for the journal of orchestrations */
    registry_t *runners, *wheels;
    json_t *opts;        /* a deep copy: jansson's trees must not be shared between threads */
    registry_t *modules; /* functions for pillar templates */
    const masterctx_tables_t *host;
} workers_env_t;

void workers_env_destroy(workers_env_t **self_p);

/* zactor_fn. Receives {task, configuration or "", store ticket}, answers {retcode, success, failed?} and the
 * return's JSON. `arg`: workers_env_t, TAKEN. */
void workers_actor(zsock_t *pipe, void *arg);

#endif
