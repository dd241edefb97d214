/* eventwatch.h - the execution module's function state.event.
 *
 * Layer      plugins/lib/salt
 * Threads    one
 * Tests      tests/t/5000-events.bats
 */
#ifndef PLUGINS_LIB_SALT_EVENTWATCH_H
#define PLUGINS_LIB_SALT_EVENTWATCH_H

#include "common/local/watch.h"

/* At a terminal (salt-call) it writes what it hears; in a job it waits, for so many events or so long. */
int event_watch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);

#endif
