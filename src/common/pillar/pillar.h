/* pillar.h - one minion's pillar, compiled as Salt's salt/pillar does: top files, SLS files, includes,
 * external sources, laid over each other.
 *
 * Layer      common/pillar; knows neither daemon: who compiles brings configuration, functions and files
 * Threads    one compile belongs to one thread
 * Ownership  results are NEW
 * Errors     what goes wrong in a file is an entry of the pillar's `_errors`, in Salt's words; NULL with *err
 *            only where Salt's compiler raises: a top file or an include of another shape
 * Tests      tests/unit/minion/test_pillar.c, tests/cases/pillar
 */
#ifndef COMMON_PILLAR_PILLAR_H
#define COMMON_PILLAR_PILLAR_H

#include "common/files/fileclient.h"
#include "common/plugin/registry.h"
#include "common/py/py.h"

typedef struct pillar_reads pillar_reads_t;
typedef struct pillar_claims pillar_claims_t;

/* All BORROWED for the call; what is not said may be NULL. */
typedef struct pillar_env {
    json_t *opts;                    /* of who compiles: pillar_roots, ext_pillar, renderer, ... */
    registry_t *registry;            /* what templates call as salt[...] */
    const char *id;                  /* whose pillar it is */
    json_t *grains;                  /* as the minion said them; the grain `id` counts as what `id` is */
    const char *saltenv, *pillarenv; /* NULL: as configured */
    py_t *override;                  /* dict: pillar= of the command line */
    py_t *known;                     /* dict: what templates see as pillar */
    json_t *ext;                     /* one more external source, of those that on_demand_ext_pillar allows */
    pillar_reads_t *reads;           /* notes what the result depends on */
    bool peer_grains, peer_override; /* these are another machine's word: py_peer.h */
    void (*refused)(void *cookie, json_t *what); /* call_env's */
    void *cookie;                                /* of `refused` */
    pillar_claims_t *claims; /* what was told; NULL: it is nobody's pillar but this process's own */
} pillar_env_t;

/* NEW dict, or NULL with *err. */
py_t *pillar_compile(const pillar_env_t *env, fail_t *err);
/* The merged top files: NEW {saltenv: {target: [{match: ...}, sls, ...]}}; *ret_errors NEW list of texts. */
json_t *pillar_top(const pillar_env_t *env, json_t **ret_errors, fail_t *err);

/* The first source that `ext` names and on_demand_ext_pillar does not: BORROWED from `ext`; NULL when
 * there is none. */
const char *pillar_not_on_demand(json_t *opts, json_t *ext);

/* Fetch the remotes of ext_pillar `git` that are due, for a master, whose compiles wait for no fetch.
 * Seconds until the next one is; 0: there are none. What fails is logged. */
int pillar_git_update(const pillar_env_t *env);
/* Fetch the remotes of ext_pillar `git` now: all, or those of a branch or of an URL (NULL: any). NEW {"BRANCH
 * URL": true: something new came; null: nothing new; false: it failed, the log says why}, or NULL with *err.
 */
json_t *pillar_git_fetch(const pillar_env_t *env, const char *branch, const char *repo, fail_t *err);

/* `ask` of ctx_compile_pillar ({saltenv, pillarenv, pillar, ext}) into `env`, which borrows from it.
 * The override is NEW in env->override, for the caller to drop. */
void pillar_env_ask(pillar_env_t *env, const json_t *ask);

/* ---- whom a pillar trusts ------------------------------------------------------------------------------ */

/* Targets of top files, and node groups of file_tree, that go by a grain other than `id`: a warning with
 * file and line, once for each place and version of its file while this lives. NEW; any thread. */
pillar_claims_t *pillar_claims_new(void);
void pillar_claims_destroy(pillar_claims_t **self_p);

/* ---- what a pillar was made from ---------------------------------------------------------------------- */

pillar_reads_t *pillar_reads_new(void);
void pillar_reads_destroy(pillar_reads_t **self_p);
/* Whether the same files would be read again: none changed, came or went. `opts` as for the compile. */
bool pillar_reads_hold(const pillar_reads_t *self, json_t *opts);
/* Whether something that no file tells went in: a program, a function that looks at the world. */
bool pillar_reads_world(const pillar_reads_t *self);

#endif
