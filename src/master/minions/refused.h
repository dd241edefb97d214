/* refused.h - what a peer was refused: counted, and told in the log and by salt/gate/refused (refusals.h
 * says how often).
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1200-hostile-minion.bats, tests/unit/master/test_refusals.c
 */
#ifndef MASTER_MINIONS_REFUSED_H
#define MASTER_MINIONS_REFUSED_H

#include "master/front/front.h"
#include "master/minions/refusals.h"

void refused_tell(front_t *front, refusal_t kind, const char *address, const char *fmt, ...) PRINTF(4, 5);
/* Whether what a minion tells unasked, of `len` bytes, has room in its share; else it is refused. It is
 * not acknowledged, so it is sent again later. */
bool refused_share(front_t *front, peer_t *peer, size_t len);

#endif
