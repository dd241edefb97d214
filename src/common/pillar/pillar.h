/* pillar.h - one minion's pillar, compiled as Salt's salt/pillar does: top files, SLS files, includes and
 * external sources, merged in Salt's order.
 *
 * Layer      common/pillar; knows neither daemon: the caller brings configuration, functions and files
 * Threads    one compile belongs to one thread
 * Ownership  results are NEW
 * Errors     errors in a file are entries of the pillar's `_errors`, in Salt's words; NULL with *err only where
 *            Salt's compiler raises: a top file or an include of another shape
 * Tests      tests/unit/minion/test_pillar.c, tests/cases/pillar */
#ifndef COMMON_PILLAR_PILLAR_H
#define COMMON_PILLAR_PILLAR_H

#include "common/files/fileclient.h"
#include "common/plugin/registry.h"
#include "common/py/py.h"

typedef struct pillar_reads pillar_reads_t;
typedef struct pillar_claims pillar_claims_t;

/* Input of a compile. All BORROWED for the call; NULL where optional. */
typedef struct pillar_env {
    json_t *opts;                    /* of the compiling process: pillar_roots, ext_pillar, renderer, ... */
    registry_t *registry;            /* what templates call as salt[...] */
    const char *id;                  /* the minion's authenticated id */
    json_t *grains;                  /* as reported by the minion; the grain `id` is replaced by `id` */
    const char *saltenv, *pillarenv; /* NULL: as configured */
    py_t *override;                  /* dict: pillar= of the command line */
    py_t *known;                     /* dict: what templates see as pillar */
    json_t *ext;                     /* one more external source, of those that on_demand_ext_pillar allows */
    pillar_reads_t *reads;           /* notes what the result depends on */
    bool peer_grains, peer_override; /* these come from another machine: py_peer.h */
    void (*refused)(void *cookie, json_t *what); /* call_env's */
    void *cookie;                                /* of `refused` */
    pillar_claims_t *claims; /* places already reported; NULL for this process's own pillar */
} pillar_env_t;

/* NEW dict, or NULL with *err. */
py_t *pillar_compile(const pillar_env_t *env, fail_t *err);
/* Merged top files: NEW {saltenv: {target: [{match: ...}, sls, ...]}}; *ret_errors NEW list of texts. */
json_t *pillar_top(const pillar_env_t *env, json_t **ret_errors, fail_t *err);

/* First source named by `ext` that on_demand_ext_pillar does not allow: BORROWED from `ext`; NULL when all
 * are allowed. */
const char *pillar_not_on_demand(json_t *opts, json_t *ext);

/* Fetches the remotes of ext_pillar `git` that are due, so that a master's compiles need not wait. Returns
 * the seconds until the next is due; 0: there are none. Failures are logged. */
int pillar_git_update(const pillar_env_t *env);
/* Fetches remotes of ext_pillar `git` now, filtered by branch and URL (NULL: any). NEW {"BRANCH URL": true
 * (something new), null (nothing new) or false (failed, see the log)}, or NULL with *err. */
json_t *pillar_git_fetch(const pillar_env_t *env, const char *branch, const char *repo, fail_t *err);

/* Applies a request ({saltenv, pillarenv, pillar, ext} of ctx_compile_pillar) to `env`, which borrows from
 * it. env->override is NEW; the caller drops it. */
void pillar_env_ask(pillar_env_t *env, const json_t *ask);

/* ---- whom a pillar trusts ------------------------------------------------------------------------------ */

/* Record of targets in top files and node groups of file_tree that depend on a grain other than `id`: each is
 * logged with file and line once per place and version of its file while this lives. NEW; any thread. */
pillar_claims_t *pillar_claims_new(void);
void pillar_claims_destroy(pillar_claims_t **self_p);

/* ---- what a pillar was made from ---------------------------------------------------------------------- */

pillar_reads_t *pillar_reads_new(void);
void pillar_reads_destroy(pillar_reads_t **self_p);
/* True when a compile would read the same files: none changed, came or went. `opts` as for the compile. */
bool pillar_reads_hold(const pillar_reads_t *self, json_t *opts);
/* True when the result depends on more than files: a program, or a function that reads the machine's state.
 */
bool pillar_reads_world(const pillar_reads_t *self);

#endif
