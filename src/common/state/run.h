/* run.h - the state runner: low chunks to what became of them, with every requisite. Highstate on a minion
 * and orchestrate on a master are this runner with another table of state functions (call_env_t's `states`).
 *
 * Chunks run in their order. A chunk whose requisites have not run is put off until they have, on a stack of
 * our own; each chunk is looked at a bounded number of times, and requisites are found by hash, so that a run
 * is linear in the number of chunks and requisites. A chunk with `parallel` is put aside until its
 * requisites have run, then handed to a worker; the chunks behind it go on.
 *
 * Layer      common/state; knows neither daemon
 * Threads    the context's
 * Errors     a state that fails is data. The runner itself does not fail
 * Tests      tests/unit/common/test_state_run.c, tests/cases/state-run
 */
#ifndef COMMON_STATE_RUN_H
#define COMMON_STATE_RUN_H

#include "common/plugin/call.h"
#include "salt/plugin.h"

/* Work that another process or thread may do. `ctx` is the context to use there. NEW return. */
typedef json_t *state_work_fn(call_ctx_t *ctx, void *work);

/* Workers for `parallel`: forked children (below) or threads of a daemon. */
typedef struct state_workers {
    /* Start it; `work` must stay unchanged until `next` has returned this ID. Blocks while too many are
     * running. */
    int (*start)(void *self, size_t id, state_work_fn *fn, void *work, fail_t *err);
    /* Wait up to `timeout_ms` (-1: without limit) for a worker to end: 1 with *ret_id and *ret_value NEW,
     * which is NULL when the worker died, with the reason in *err; 0 when none ended. */
    int (*next)(void *self, int timeout_ms, size_t *ret_id, json_t **ret_value, fail_t *err);
} state_workers_t;

/* The progress of a run. */
typedef struct state_progress {
    size_t done, total;
    const json_t *chunk; /* the chunk that starts now. BORROWED */
} state_progress_t;

/* The inputs of a run; BORROWED while it lasts. Options come from ctx_opts(): failhard, state_events,
 * state_aggregate, disabled_requisites, global_state_conditions, cachedir; test mode is ctx_test(). */
typedef struct state_run_env {
    call_ctx_t *ctx;
    const char *jid;                /* "": the run can't be paused and sends no events */
    json_t *pillar_ask;             /* of ctx_compile_pillar(), for `reload_pillar`; may be NULL */
    const state_workers_t *workers; /* NULL: `parallel` chunks run one after the other */
    void *workers_self;
    void (*progress)(void *cookie, const state_progress_t *at); /* may be NULL */
    void *progress_cookie;
    /* Called before a step: returns NULL, or a NEW return that replaces the call. `ended` gets every
     * return. */
    json_t *(*begins)(void *cookie, const json_t *chunk);
    void (*ended)(void *cookie, const json_t *chunk, const json_t *ret);
    /* Called when state.soft_kill ends the run before a step; `said` is its entry (below). NULL: the step gets
     * a failed return that says so. */
    void (*stopped)(void *cookie, const json_t *chunk, const json_t *said);
    void *watch_cookie;
    const char *only_id; /* only this ID and what it needs, without `listen`: state.sls_id. NULL: all */
    bool mocked;         /* Salt's `mock`: requisites and checks, but no state function */
} state_run_env_t;

/* NEW {tag: {name, changes, result, comment, __sls__, __run_num__, start_time, duration, __id__, ...}}.
 * Chunks are changed: `watch` of a module without mod_watch becomes `require`, aggregation marks and
 * replaces. */
json_t *state_run(const state_run_env_t *env, json_t *chunks);

/* Run a chunk without requisites: state.single and state.low. NEW return. */
json_t *state_run_one(const state_run_env_t *env, json_t *chunk);
/* Check a chunk before it runs; messages are Salt's. NEW array, empty when the chunk is valid. */
json_t *state_verify(call_ctx_t *ctx, json_t *chunk);

/* Salt's check_result: true unless a state failed, apart from failures that a chunk with `onfail` and
 * `onfail_stop: False` has handled. `chunks` (array) may be NULL. */
bool state_succeeded(const json_t *running, const json_t *chunks);

/* ---- workers that are forked: for a process that may fork at any time ---------------------- */

/* At most LIMIT_STATES_PARALLEL children. They end with this process, and send their events and questions
 * through it. */
typedef struct state_fork state_fork_t;
state_fork_t *state_fork_new(call_ctx_t *ctx); /* NEW */
void state_fork_destroy(state_fork_t **self_p);
extern const state_workers_t state_fork_workers;

/* ---- Salt's state.pause: {ID or "__all__": {"duration": seconds, "kill": true}} in a file by jid --
 * Beside "kill" soft_kill says by whom and when: "user", and "time" as a stamp. */

/* NEW object, empty when there is none; NULL with *err when the file can't be read. */
json_t *state_pauses(const char *cachedir, const char *jid, fail_t *err);
/* Replace the file's content; an empty object removes the file. */
int state_pauses_set(const char *cachedir, const char *jid, const json_t *pauses, fail_t *err);
/* List the jids that have such a file. NEW array. */
json_t *state_paused_jids(const char *cachedir, fail_t *err);

#endif
