/* message.h - the handler of a minion's message: each row of messages.def that goes up has one,
 * message_NAME, in the file of the part that takes it. inbound.c decodes the frame in the state of its
 * sender's key, and calls it.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1250-messages.bats
 */
#ifndef MASTER_MINIONS_MESSAGE_H
#define MASTER_MINIONS_MESSAGE_H

#include "common/net/wire.h"
#include "master/front/front.h"

/* A message that its row allows. All of it is BORROWED. */
typedef struct inbound {
    wire_msg_t msg;
    json_t *body; /* NULL for a handler of texts */
    /* The JSON text; for a handler of values the whole frame, with the bytes that may follow the text. */
    const char *text;
    size_t len;
} inbound_t;

/* One of both handlers: with values, or with the text, where values would cost more than all the rest. */
typedef struct message_row {
    void (*body)(front_t *front, peer_t *peer, const inbound_t *in);
    /* 0; -EPROTO with *err: the text is not what the message's table says; -ENOMEM. */
    int (*text)(front_t *front, peer_t *peer, const inbound_t *in, fail_t *err);
    size_t most; /* values in one; 0: its size bounds them */
    /* One of more values than that: it is refused, and no value of it was made. NULL: that is all. */
    void (*unread)(front_t *front, peer_t *peer, const inbound_t *in);
} message_row_t;

#define MESSAGE_UP(name) extern const message_row_t message_##name;
#define MESSAGE_DOWN(name)
#define MESSAGE(name, direction, states, limit, doc) MESSAGE_##direction(name)
#include "salt/messages.def"
#undef MESSAGE
#undef MESSAGE_UP
#undef MESSAGE_DOWN

/* The connection speaks for an id, and is not salt-call's. */
static inline bool
message_is_minions(const peer_t *peer)
{
    return peer->minion && !peer->is_call;
}

#endif
