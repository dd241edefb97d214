/* refused.h - report what a peer was refused: counted, logged, and fired as salt/gate/refused, paced by
 * refusals.h.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1200-hostile-minion.bats, tests/unit/master/test_refusals.c
 */
#ifndef MASTER_MINIONS_REFUSED_H
#define MASTER_MINIONS_REFUSED_H

#include "master/front/front.h"
#include "master/minions/refusals.h"

/* Report a refusal. `address`: the peer's. */
void refused_tell(front_t *front, refusal_t kind, const char *address, const char *fmt, ...) PRINTF(4, 5);
/* True when an unsolicited message of `len` bytes fits the minion's share; otherwise it is refused and not
 * acknowledged, so that it is sent again later. */
bool refused_share(front_t *front, peer_t *peer, size_t len);

#endif
