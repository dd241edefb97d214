/* reactor_run.h - runs one file of the minion's reactor, in the child of a job with "react".
 *
 * Layer      minion
 * Threads    the child's
 * Tests      tests/t/6100-reactor.bats
 */
#ifndef MINION_PARTS_REACTOR_RUN_H
#define MINION_PARTS_REACTOR_RUN_H

#include "salt/plugin.h"

/* Renders the firing's file and calls its functions in order of their requisites. NEW {ID: the function's
 * value}; *ret_failed: how many did not succeed. */
json_t *reactor_run(call_ctx_t *ctx, const json_t *firing, int *ret_failed);

#endif
