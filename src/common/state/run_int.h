/* run_int.h - internals of the state runner.
 *
 * Layer      common/state, private
 * Threads    the run's
 * Tests      tests/unit/common/test_state_run.c
 */
#ifndef COMMON_STATE_RUN_INT_H
#define COMMON_STATE_RUN_INT_H

#include "common/base/map.h"
#include "common/state/run.h"
#include "common/state/run_call.h"

typedef enum req_kind {
    REQ_REQUIRE,
    REQ_REQUIRE_ANY,
    REQ_WATCH,
    REQ_WATCH_ANY,
    REQ_PREREQ,
    REQ_ONFAIL,
    REQ_ONFAIL_ANY,
    REQ_ONFAIL_ALL,
    REQ_ONCHANGES,
    REQ_ONCHANGES_ANY,
    REQ_PREREQUIRED,
    REQ_KINDS
} req_kind_t;

/* A list of indexes into run_t's steps. */
typedef struct steps {
    size_t *v, n, cap;
} steps_t;
void steps_add(steps_t *self, size_t step);
void steps_free(steps_t *self);

/* A single entry of a chunk's requisites: `- file: /etc/x`. */
typedef struct req {
    req_kind_t kind;
    const steps_t *steps; /* BORROWED of the index; NULL: no step has that name */
    char *key, *value;    /* as written */
} req_t;

typedef enum slot_state { SLOT_NEW, SLOT_WAITING, SLOT_STARTED, SLOT_DONE } slot_state_t;

/* The result of a tag; chunks with the same tag share it. */
typedef struct slot {
    slot_state_t state;
    json_t *ret; /* owned reference; NULL: has not run */
    json_t *pre; /* owned: how it went in test mode, for `prereq` */
    bool active, pre_active;
    bool held;       /* the step that its `prereq` depends on has failed: never run */
    steps_t waiters; /* parallel steps that wait for this one */
} slot_t;

typedef struct step {
    json_t *low; /* owned reference */
    char *tag;
    slot_t *slot;
    bool prepared; /* aggregated, its module initialised, its requisites read */
    req_t *reqs;
    size_t n_reqs;
    struct work *work; /* while a worker has it */
} step_t;

/* A step on the stack. */
typedef struct frame {
    size_t step;
    bool pre;            /* evaluated for a `prereq` */
    bool walking;        /* through `todo` */
    unsigned rounds;     /* rounds through its requisites */
    struct todo *todo;   /* owned */
    size_t n_todo, next; /* of `todo` */
} frame_t;

typedef struct todo {
    size_t step;
    req_kind_t kind;
} todo_t;

typedef struct run {
    const state_run_env_t *env;
    state_caller_t caller;
    json_t *chunks, *running;
    json_t *shared; /* copy of the chunks that workers share; NULL until the first worker */
    step_t *steps;
    size_t n;
    map_t *slots;    /* by tag */
    map_t *index;    /* "state\x1fname or id" and "\x1fname or id" to steps_t */
    map_t *sls;      /* "sls" to steps_t */
    map_t *patterns; /* cached results of wildcards, by "key\x1fpattern" */
    map_t *inited;   /* BORROWED: modules whose mod_init is done */
    frame_t *stack;
    size_t depth, cap;
    steps_t ready;  /* parallel steps whose pending requisites have ended */
    size_t at_work; /* with workers */
    size_t finished;
    size_t suggested; /* requisites that were not found and got a suggestion, or were looked at for one */
    bool stop;        /* failhard, or killed */
} run_t;

/* run_index.c */
void run_index(run_t *run);
void run_index_free(run_t *run);
/* Read the step's requisites from its chunk. */
void run_read_reqs(run_t *run, step_t *step);
void run_free_reqs(step_t *step);

/* run_req.c: true when a state with this return has changed something, or (in test mode) would. */
bool run_changed(const run_t *run, const slot_t *slot, const json_t *ret);
typedef enum run_status {
    STATUS_MET,
    STATUS_UNMET,   /* a requisite has not run */
    STATUS_PENDING, /* a requisite is with a worker, or waits for one */
    STATUS_FAIL,
    STATUS_PRE, /* a prereq has nothing to do */
    STATUS_ONFAIL,
    STATUS_ONCHANGES,
    STATUS_CHANGE
} run_status_t;
/* `ret_pending`: the slot to wait for. */
run_status_t run_status(const run_t *run, const step_t *step, bool pre, slot_t **ret_pending);
/* Salt's text about requisites that do not exist. NEW, or NULL when all do. */
char *run_lost(const step_t *step, bool pre);
/* Suggestions for lost requisites, a line for each near name: "Did you mean 'test: web'?". NEW or NULL. */
char *run_lost_meant(run_t *run, const step_t *step, bool pre);
/* NEW "One or more requisite failed: sls.id". */
char *run_failed_reqs(const run_t *run, const step_t *step);
/* Salt's __reqs__. NEW {kind: [chunk]}. */
json_t *run_reqs_shown(const run_t *run, const step_t *step);
const char *req_name(req_kind_t kind);

/* run_log.c: the log's lines about a step that is decided, and one that has its return. */
void run_log_decision(const run_t *run, const step_t *step, bool pre, run_status_t status);
void run_log_end(const step_t *step, const json_t *ret);

/* run_end.c: the step has run. TAKES `ret`. */
void run_record(run_t *run, size_t step, json_t *ret);
/* Call once the return is stored: events, failhard, waiting steps. */
void run_ended(run_t *run, size_t step);
/* run_step.c: what happens to a step once its requisites are known. Call it, start it, or say why not. */
void run_finish(run_t *run, size_t step, bool pre, run_status_t status);
void run_recursive(run_t *run, size_t step, bool pre);
/* run_prepare.c: aggregation, mod_init, requisites; once per step. */
void run_prepare(run_t *run, step_t *step);
/* run_work.c */
bool run_is_parallel(const run_t *run, const step_t *step);
void run_start(run_t *run, size_t step, bool watch);
/* Complete the return. `value` BORROWED; NULL: the worker failed, `why` says how. */
void run_complete(run_t *run, size_t step, json_t *value, const fail_t *why);

/* run_reap.c: let the step wait for `pending` without blocking others. */
void run_defer(run_t *run, size_t step, slot_t *pending);
/* Collect workers' returns: at least one when `timeout_ms` is -1. */
void run_reap(run_t *run, int timeout_ms);
/* Wait `ms` milliseconds while collecting workers' returns. `cookie` is the run. */
void run_wait(void *cookie, int64_t ms);

/* run_listen.c: NEW array of chunks to run after all others. Targets that do not exist go to `errors`. */
json_t *run_listeners(run_t *run, json_t *errors);
json_t *run_beacons(const json_t *chunks);

/* run_pause.c: blocks while the step is paused; false when the run must end before it. */
bool run_may_go_on(run_t *run, const step_t *step);

#endif
