/* reactor_run.h - the minion's reactor at work, in the child of a job with "react".
 *
 * Layer      minion
 * Threads    the child's
 * Tests      tests/t/6100-reactor.bats
 */
#ifndef MINION_PARTS_REACTOR_RUN_H
#define MINION_PARTS_REACTOR_RUN_H

#include "salt/plugin.h"

/* Do what the file of the firing says. NEW {ID: what its function gave}; *ret_failed: how many did not
 * succeed. */
json_t *reactor_run(call_ctx_t *ctx, const json_t *firing, int *ret_failed);

#endif
