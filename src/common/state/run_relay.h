/* run_relay.h - what a parallel step's child asks of the process that started it: events, the host, files.
 * Its own copies of those lines can't be used by two.
 *
 * Wire       common/local/client.h's frames. Child: {"t": "ret", value} once; {"t": "fire", tag, data},
 *            {"t": "host", request}, {"t": "share", key, item}, {"t": "files", fn, path, saltenv, ...}, each
 * answered with
 *            {"ok": true, sent, value} or {"ok": false, error, code, kind}; sent: another minion sent that
 *            file or some of those names (files_sent() in fileserver.h)
 * Layer      common/state, private
 * Threads    the run's
 * Tests      tests/unit/common/test_state_run.c
 */
#ifndef COMMON_STATE_RUN_RELAY_H
#define COMMON_STATE_RUN_RELAY_H

#include "common/base/buf.h"
#include "common/plugin/call.h"

typedef struct run_line {
    int fd;
    buf_t in;
} run_line_t;

/* In the child: `ctx` uses `line` from now on, for good. */
void run_relay_use(call_ctx_t *ctx, run_line_t *line);
/* In the parent: NEW answer to a child's question. */
json_t *run_relay_answer(call_ctx_t *ctx, const json_t *question);

/* Both sides. 0 or a negative errno. */
int run_relay_send(int fd, const json_t *frame);
/* More bytes: 1, 0 at the end, or a negative errno. */
int run_relay_receive(int fd, buf_t *in);

#endif
