/* run_call.h - calls of single chunks: arguments, conditions, slots, the function, retries.
 *
 * Layer      common/state, private
 * Threads    the run's
 * Tests      tests/unit/common/test_state_run.c
 */
#ifndef COMMON_STATE_RUN_CALL_H
#define COMMON_STATE_RUN_CALL_H

#include "common/state/run.h"

typedef struct state_caller {
    call_ctx_t *ctx;
    json_t *chunks, *running; /* BORROWED */
    const char *run_id;
    json_t *pillar_ask;
    bool mocked;
    bool elsewhere;                         /* in a worker: refreshing grains and pillar is left to the run */
    size_t run_num;                         /* of the next return */
    void (*wait)(void *cookie, int64_t ms); /* between retries; NULL: sleep */
    void *wait_cookie;
} state_caller_t;

/* Conditions, the function, check_cmd and retries. `prereq`: in test mode, and the bare return. NEW. */
json_t *state_call(state_caller_t *self, json_t *low, bool prereq);
/* The same where a watched state has changed: mod_watch is called if the function itself changed nothing.
 * `reqs` becomes __reqs__. NEW. */
json_t *state_call_watched(state_caller_t *self, json_t *low, json_t *reqs);
/* reload_grains and reload_pillar. */
void state_refresh(state_caller_t *self, const json_t *low, const json_t *ret);
bool state_declares(const func_t *f, const char *key);
/* The chunk's arguments. NEW, or NULL with *err. Those without effect: `ret_idle` {key: what is meant, or null}. */
json_t *state_arguments(call_ctx_t *ctx, const func_t *f, json_t *low, json_t *ret_idle, fail_t *err);
/* "state.fun". NEW. */
char *state_full_name(const json_t *low);
/* True when the chunk's module has a function of this name. */
bool state_has(call_ctx_t *ctx, const json_t *low, const char *special);
/* NEW return of a chunk that was not called. `skipped`: its requisites made it needless. */
json_t *state_not_called(const json_t *low, bool result, const char *comment, bool skipped, size_t run_num);

/* Salt's conditions: NEW {result, comment, skip_watch, ...} to put into the return, or NULL with *err. */
json_t *state_cond_run(call_ctx_t *ctx, const json_t *low, fail_t *err);
json_t *state_cond_check_cmd(call_ctx_t *ctx, const json_t *low, fail_t *err);
/* "__slot__:salt:mod.fun(...)" in the values of `kwargs`; some are replaced when one's function fails. */
int state_slots(call_ctx_t *ctx, json_t *kwargs, fail_t *err);

#endif
