/* wire.h - the messages between minion and master: the table of messages.def made into checks.
 *
 * Format     one frame of JSON, {"m": NAME, ...}, "m" first, so that size and permission are checked before
 *            parsing
 * Layer      common/net
 * Threads    any
 * Errors     -EPROTO not a message, -EPERM out of turn, -EMSGSIZE over its row's limit; the text names which
 * Tests      tests/unit/common/test_wire.c; fuzz target tests/fuzz/fuzz_wire.c
 */
#ifndef COMMON_NET_WIRE_H
#define COMMON_NET_WIRE_H

#include "salt/base.h"
#include "salt/limits.h"

#define WIRE_PROTO       1 /* raised when an old peer could misunderstand a new one */
#define WIRE_PROTO_FIRST 1
#define WIRE_PROTO_BACK  2 /* a master serves minions of so many protocols before its own, too */

typedef enum wire_dir { WIRE_UP, WIRE_DOWN } wire_dir_t;

#define MESSAGE(name, dir, states, limit, doc) MSG_##name,
typedef enum wire_msg {
#include "salt/messages.def"
    MSG_COUNT
} wire_msg_t;
#undef MESSAGE

const char *wire_name(wire_msg_t msg);

/* Check a frame that came in direction `dir` from a peer with the key state `state` ('A' accepted, 'P'
 * pending, ' ' for a master): *ret_msg is its row, *ret_len the length of its JSON, which is not parsed. 0,
 * or see Errors. */
int wire_open(const void *data, size_t len, wire_dir_t dir, char state, wire_msg_t *ret_msg, size_t *ret_len,
              fail_t *err);
/* The same, and parse the JSON: *ret_body NEW. -ENOMEM when the message is valid but memory is short. */
int wire_decode(const void *data, size_t len, wire_dir_t dir, char state, wire_msg_t *ret_msg,
                json_t **ret_body, fail_t *err);

/* The bytes behind the NUL of a frame that wire_decode accepted. BORROWED; *ret_n 0 when there are none. */
const void *wire_bytes(const void *data, size_t len, size_t *ret_n);

/* NEW text of a message: `body` (object, BORROWED, may be NULL) with "m" in front. -EMSGSIZE when over the
 * limit, or nested deeper than LIMIT_JSON_DEPTH. */
char *wire_encode(wire_msg_t msg, const json_t *body, size_t *ret_len, fail_t *err);
/* NEW text of the message `text`, made by wire_encode, with one more member at its end, which it must not have.
 * NULL when that exceeds the message's limit. */
char *wire_with(wire_msg_t msg, const char *text, size_t len, const char *key, json_int_t value,
                size_t *ret_len);

#endif
