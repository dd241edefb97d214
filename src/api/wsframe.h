/* wsframe.h - frames of a WebSocket.
 *
 * Format     RFC 6455, 5.2; no extensions, and no messages in several frames from clients
 * Layer      api; pure
 * Threads    any
 * Tests      tests/unit/api/test_api_parts.c, fuzz target tests/fuzz/fuzz_apibody.c
 */
#ifndef API_WSFRAME_H
#define API_WSFRAME_H

#include "common/base/buf.h"
#include "salt/base.h"

#define WSFRAME_MAX 4096 /* bytes of a client's frame */

typedef enum wsop { WS_TEXT = 1, WS_BINARY = 2, WS_CLOSE = 8, WS_PING = 9, WS_PONG = 10 } wsop_t;

/* Takes one whole frame of a client from the front of `in`: 1, *ret_op and its content appended to `out`; 0:
 * more bytes are needed; -EPROTO: it breaks the rules (close with 1002); -EMSGSIZE: it is too large
 * (1009). */
int wsframe_take(buf_t *in, wsop_t *ret_op, buf_t *out);
/* Appends the head of a frame of ours. */
void wsframe_head(buf_t *out, wsop_t op, size_t len);
/* The answer to a client's Sec-WebSocket-Key (RFC 6455, 4.2.2). NEW; NULL when it is no such key. */
char *wsframe_accept(const char *key);

#endif
