/* workers.h - begin a runner for somebody who has no line to the master.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/7110-peer.bats
 */
#ifndef MASTER_OPERATORS_WORKERS_H
#define MASTER_OPERATORS_WORKERS_H

#include "master/front/front.h"

/* Begin a runner, or queue it. `request` {fun, arg, peer?}; `user` goes on record. Its end is reported by
 * hook_run_ended. NEW {jid, tag, waits_for?}; NULL with *err, -EAGAIN when the queue is full. */
json_t *workers_run(front_t *front, const json_t *request, const char *user, fail_t *err);

#endif
