/* statejob.h - a state run as a job: one at a time, in test mode or not, run by workers, shown as it goes.
 *
 * Layer      plugins/lib/salt
 * Threads    the context's
 * Errors     *err in Salt's words
 * Tests      tests/unit/common/test_state_run.c, tests/t/4200-states.bats
 */
#ifndef PLUGINS_LIB_SALT_STATEJOB_H
#define PLUGINS_LIB_SALT_STATEJOB_H

#include "common/state/run.h"

/* Salt's texts about the state runs that are under way. NEW array, empty when there is none; NULL when it
 * can't be known. */
json_t *statejob_running(call_ctx_t *ctx, fail_t *err);
/* True when a list of {jid, ...} has a job of this jid. */
bool statejob_listed(const json_t *jobs, const char *jid);
/* While a run is under way, a file that its process has locked says so to all others on this host, salt-call
 * included; the lock ends with the process. `fun` is what the texts above name. */
typedef struct stateclaim {
    int fd;     /* -1: none */
    char *path; /* owned */
} stateclaim_t;
void statejob_claim(stateclaim_t *self, call_ctx_t *ctx, const char *fun);
void statejob_release(stateclaim_t *self);

/* Only one state run at a time, unless `args` (queue) or its kwargs (concurrent) say otherwise. 0 to go
 * on, after waiting for `queue`; 1 when another one runs: *ret_value is NEW, and the exit code set; a
 * negative errno when that can't be known. */
int statejob_conflict(call_ctx_t *ctx, const json_t *args, json_t **ret_value, fail_t *err);

/* True when `args` (test), its kwargs, pillar, grains or options request test mode. */
bool statejob_test(call_ctx_t *ctx, const json_t *args);

/* Run chunks, with forked workers. `ask` as stateopts_t's; `only_id` as state_run_env_t's. NEW running. */
json_t *statejob_run(call_ctx_t *ctx, json_t *chunks, json_t *ask, const char *only_id, bool mocked);
/* Runs one chunk, as state_run_one. */
json_t *statejob_run_one(call_ctx_t *ctx, json_t *chunk, json_t *ask, bool mocked);

#endif
