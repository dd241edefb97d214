/* post.h - send a message of messages.def to a minion.
 *
 * Layer      master
 * Threads    the front loop's
 * Errors     negative errno; a body that can't be encoded is logged, others are sock_send_to's
 * Tests      tests/t/1250-messages.bats
 */
#ifndef MASTER_MINIONS_POST_H
#define MASTER_MINIONS_POST_H

#include "common/net/wire.h"
#include "master/front/front.h"

int post_send(front_t *front, const peer_t *peer, wire_msg_t msg, const json_t *body);

#endif
