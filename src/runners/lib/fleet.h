/* fleet.h - a function on minions, for a step of an orchestration: at once, or as a rolling update.
 *
 * Layer      runners/lib
 * Threads    the step's
 * Ownership  everything given is BORROWED, results are NEW
 * Tests      tests/t/6000-orchestrate.bats; tests/unit/runners/test_fleet.c; the planning: test_rollout.c
 */
#ifndef RUNNERS_LIB_FLEET_H
#define RUNNERS_LIB_FLEET_H

#include "salt/plugin.h"

typedef struct fleet_ask {
    const json_t *tgt;
    const char *tgt_type; /* NULL: glob */
    const char *fun;
    const json_t *arg; /* Salt's argument list */
    /* As in the step; NULL or null where not given. */
    const json_t *ret, *ret_config, *ret_kwargs, *timeout, *subset, *batch, *canary, *max_fail;
    bool failhard;
    /* Decides whether a minion's entry (api_publish) counts as a failure. */
    bool (*failed)(void *cookie, const char *id, const json_t *entry);
    void *cookie;
} fleet_ask_t;

/* NEW {"jid": of the first job, "jids": [...], "minions": {id: entry}, "missing": [id], "left": [id],
 * "stopped": text or null}; NULL with *err. */
json_t *fleet_run(call_ctx_t *ctx, const fleet_ask_t *ask, fail_t *err);

/* Why a minion that did not return has not, in words. NULL when it returned. */
const char *fleet_silence(const json_t *entry);
/* Positional arguments and keywords as Salt's one list. NEW. Either may be NULL. */
json_t *fleet_args(const json_t *arg, const json_t *kwarg);

#endif
