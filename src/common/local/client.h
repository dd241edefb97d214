/* client.h - an operator's (or a runner's) connection to the master: a Unix stream socket with framed JSON.
 *
 * Why not ipc:// of libzmq: the kernel tells the peer's uid, a slow reader's backlog can be counted exactly,
 * and a command that needs no libzmq starts in a millisecond.
 *
 * Wire       a frame is a 4-byte big-endian length and that many bytes of JSON (one object, LIMIT_LOCAL_MSG,
 *            nested LIMIT_FRAME_DEPTH deep at most).
 *            request  {"op": NAME, "n": NUMBER, ...}     operations: include/salt/requests.def
 *            reply    {"n": NUMBER, "ok": true, ...} or {"n": NUMBER, "ok": false, "error": TEXT}
 *            push     {"push": KIND, ...}, at any time after an operation that follows something
 * Layer      common/local
 * Threads    a client belongs to one thread
 * Errors     -ECONNREFUSED and -ENOENT mean that no master runs; the text names the path
 * Tests      tests/unit/common/test_local.c
 */
#ifndef COMMON_LOCAL_CLIENT_H
#define COMMON_LOCAL_CLIENT_H

#include "common/base/buf.h"
#include "salt/base.h"

#define LOCAL_SOCKET_NAME       "master.sock" /* in sock_dir */
#define MINION_SOCKET_NAME      "minion.sock"
/* The minion's bus shows {complete: bool} under this tag, which is Salt's, when a pillar refresh has ended.
 */
#define MINION_PILLAR_REFRESHED "/salt/minion/minion_pillar_refresh_complete"

typedef struct local_client local_client_t;

/* NEW, or NULL with *err. `sock_dir` is the configuration's. */
local_client_t *local_connect(const char *sock_dir, fail_t *err);
/* The same to a minion's bus, which speaks this protocol too (minion/parts/mbus.c). */
local_client_t *local_connect_minion(const char *sock_dir, fail_t *err);
void local_client_destroy(local_client_t **self_p);

/* Set how long local_call waits for the master to take the request and answer it; -1, the default: no limit.
 * After LOCAL_QUIET_MS it calls `note` once (NULL: nothing). */
void local_timeout(local_client_t *self, int64_t timeout_ms, void (*note)(void));
#define LOCAL_QUIET_MS 1000

/* Send a request (its "n" is set here) and wait for its reply. Pushes that arrive meanwhile are kept for
 * local_next. TAKES *request_p. 0 and *ret_reply NEW, or a negative errno: -EREMOTEIO with the text of the
 * master's refusal; -ETIMEDOUT when there was no answer within local_timeout: the connection can't be used
 * then. */
int local_call(local_client_t *self, json_t **request_p, json_t **ret_reply, fail_t *err);
/* Send a request and go on: its reply comes among the pushes, with "n" (*ret_n; may be NULL) and "ok". TAKES
 * *request_p. Not to be mixed with local_call while one is under way. */
int local_post(local_client_t *self, json_t **request_p, json_int_t *ret_n, fail_t *err);
/* Wait for the next push. 1 and *ret_push NEW; 0 when `timeout_ms` passed (-1: no limit); -EINTR on a signal;
 * another negative errno when the connection broke. */
int local_next(local_client_t *self, int timeout_ms, json_t **ret_push, fail_t *err);
/* True when local_next has a push without waiting. */
bool local_more(const local_client_t *self);
int local_fd(const local_client_t *self);

/* Framing, shared with the master's side. Append one frame. */
void frame_add(buf_t *out, const json_t *msg);
void frame_add_text(buf_t *out, const char *text, size_t len); /* JSON */
/* Appends one frame: `msg`, a NUL, and `text`, which the receiver passes on unparsed. */
void frame_add_with(buf_t *out, const json_t *msg, const char *text, size_t len);
#define FRAME_HEAD 4
/* Look at the whole frame at `at`: 1 and its text, inside `in`; 0 when more bytes are needed; -EMSGSIZE. */
int frame_peek(const buf_t *in, size_t at, size_t limit, const char **ret_text, size_t *ret_len, fail_t *err);
/* Parse a frame's text. NEW object, or NULL with *err: -EPROTO for garbage, -ENOMEM. */
json_t *frame_parse(const char *text, size_t len, fail_t *err);
/* The same for a request whose content goes to minions and into the store: nested LIMIT_JSON_DEPTH deep at
 * most. */
json_t *frame_parse_request(const char *text, size_t len, fail_t *err);
/* Take one whole frame from the front of `in`: 1 and *ret_msg NEW; 0 when more bytes are needed; a negative
 * errno for garbage or -ENOMEM, with the frame consumed; -EMSGSIZE for a frame over `limit`, after which the
 * stream can't be read on. */
int frame_take(buf_t *in, size_t limit, json_t **ret_msg, fail_t *err);

#endif
