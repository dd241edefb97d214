/* masterctx.h - the master as a minion of its own: Salt's MasterMinion. Orchestrations, reactor files
 * and the templates of both see it as `salt`, `opts`, `grains` and `pillar`.
 *
 * All execution modules and states that the master was built with; files straight from the master's own
 * roots; the pillar of the id HOST_master. Functions that need a running minion (ctx_host) fail, in their own
 * words.
 *
 * Layer      common; knows neither daemon: the caller brings tables and connection
 * Threads    a context belongs to one thread, its options too; the tables are for all
 * Ownership  said per field
 * Tests      tests/t/6000-orchestrate.bats
 */
#ifndef COMMON_MASTERCTX_MASTERCTX_H
#define COMMON_MASTERCTX_MASTERCTX_H

#include "common/plugin/call.h"
#include "common/py/py.h"

/* Shared by the whole process. */
typedef struct masterctx_tables {
    registry_t *modules, *states, *runners, *returners;
    json_t *(*grains)(json_t *opts); /* NEW: of this host; any thread. NULL: none */
} masterctx_tables_t;

/* All BORROWED while the context lives; unset fields may be NULL. */
typedef struct masterctx_env {
    const masterctx_tables_t *tables;
    json_t *opts;        /* the master's, this thread's own tree */
    const char *jid;     /* of the run */
    const char *renders; /* call_renders(); NULL: "renderer_functions_orchestrate" */
    json_t *
        pillar; /* object in the form of py_wire.h: use it as the pillar; NULL: the pillar is compiled on its first use */
    bool peer; /* arguments and pillar overrides came from a minion: py_peer.h */
    int (*fire)(void *cookie, const char *tag, json_t *data, fail_t *err);
    void (*progress)(void *cookie, size_t step, size_t of, const char *what);
    void *cookie;
    /* An operation of include/salt/requests.def, for the mine as the master keeps it; TAKES *request_p. */
    int (*request)(void *private_data, json_t **request_p, json_t **ret_reply, fail_t *err);
    void *private_data; /* ctx_private() */
} masterctx_env_t;

typedef struct masterctx masterctx_t;

masterctx_t *masterctx_new(const masterctx_env_t *env); /* NEW; `env` is copied */
void masterctx_destroy(masterctx_t **self_p);
call_ctx_t *masterctx_ctx(masterctx_t *self); /* BORROWED */

#endif
