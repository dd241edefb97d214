/* state_event.h - the runner's function state.event: wait inside the master.
 *
 * At a terminal salt-run listens itself (cli/run.c); this is for who calls the function from elsewhere.
 *
 * Layer      runners
 * Threads    the worker's
 * Tests      tests/t/5000-events.bats
 */
#ifndef RUNNERS_LIB_STATE_EVENT_H
#define RUNNERS_LIB_STATE_EVENT_H

#include "common/local/watch.h"

int state_wait_event(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);

#define STATE_EVENT_DOC                                                                                      \
    WATCH_DOC CLI_EXAMPLE(                                                                                   \
        "salt-run state.event pretty=True\n    salt-run state.event 'salt/minion/*/start' count=3 "          \
        "quiet=True\n    salt-run state.event 'salt/job/*' since=10m")

#endif
