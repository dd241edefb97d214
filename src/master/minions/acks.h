/* acks.h - acknowledge returns and events after the commit of their rows. A minion keeps them until then, so
 * none is lost.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_front.c, tests/t/3100-loss.bats
 */
#ifndef MASTER_MINIONS_ACKS_H
#define MASTER_MINIONS_ACKS_H

#include "master/front/front.h"

char *acks_key(const char *jid, const char *id); /* NEW "JID/ID", the key of a return */
/* Acknowledge when `ticket` is committed, on the connection that it came on or the minion's later one. TAKES
 * *key_p, a return's; NULL: the minion's event number `event`. */
void acks_later(front_t *front, const peer_t *peer, uint64_t ticket, char **key_p, json_int_t event);
bool acks_waits(const front_t *front,
                const char *key); /* this return is in the store's queue, not yet committed */
/* Acknowledge at once: it was committed before, or never will be. */
void acks_jid(front_t *front, peer_t *peer, const char *jid, size_t len);
void acks_event(front_t *front, peer_t *peer, json_int_t n);

#endif
