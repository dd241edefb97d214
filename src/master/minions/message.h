/* message.h - handlers of minions' messages: each upward row of messages.def has one, message_NAME, in the
 * file of the part that takes it. inbound.c decodes frames in the state of the sender's key and calls it.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1250-messages.bats
 */
#ifndef MASTER_MINIONS_MESSAGE_H
#define MASTER_MINIONS_MESSAGE_H

#include "common/net/wire.h"
#include "master/front/front.h"

/* A message that its row allows, BORROWED for the call. */
typedef struct inbound {
    wire_msg_t msg;
    json_t *body; /* NULL for text handlers */
    /* The JSON text; for `body` handlers the whole frame, in which bytes may follow the text. */
    const char *text;
    size_t len;
} inbound_t;

/* Handlers, of which a row has one: `body` gets values; `text` gets the text, where building values would
 * cost most. */
typedef struct message_row {
    void (*body)(front_t *front, peer_t *peer, const inbound_t *in);
    /* 0; -EPROTO with *err: the text violates the message's format; -ENOMEM. */
    int (*text)(front_t *front, peer_t *peer, const inbound_t *in, fail_t *err);
    size_t most; /* most values in a message; 0: bounded by its size */
    /* Called instead for a message with more values, of which none were built. NULL: nothing to do. */
    void (*unread)(front_t *front, peer_t *peer, const inbound_t *in);
} message_row_t;

#define MESSAGE_UP(name) extern const message_row_t message_##name;
#define MESSAGE_DOWN(name)
#define MESSAGE(name, direction, states, limit, doc) MESSAGE_##direction(name)
#include "salt/messages.def"
#undef MESSAGE
#undef MESSAGE_UP
#undef MESSAGE_DOWN

/* True when the connection speaks for a minion and is not a salt-call's. */
static inline bool
message_is_minions(const peer_t *peer)
{
    return peer->minion && !peer->is_call;
}

#endif
