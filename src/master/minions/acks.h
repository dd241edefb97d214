/* acks.h - acknowledgements of returns and events, which wait for the commit of their rows.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_front.c, tests/t/3100-loss.bats
 */
#ifndef MASTER_MINIONS_ACKS_H
#define MASTER_MINIONS_ACKS_H

#include "master/front/front.h"

char *acks_key(const char *jid, const char *id); /* NEW "JID/ID": of a return */
/* When this ticket is committed, to the connection it came on or to the one that the minion has then.
 * TAKES *key_p: of a return; NULL: the minion's event of this number. */
void acks_later(front_t *front, const peer_t *peer, uint64_t ticket, char **key_p, json_int_t event);
bool acks_waits(const front_t *front,
                const char *key); /* this return is in the store's queue, and not committed */
/* At once: what was committed before, or will never be. */
void acks_jid(front_t *front, peer_t *peer, const char *jid, size_t len);
void acks_event(front_t *front, peer_t *peer, json_int_t n);

#endif
