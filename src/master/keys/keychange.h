/* keychange.h - what follows when a minion's key is another, or good no more.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1130-key-life.bats, tests/t/1100-auth.bats
 */
#ifndef MASTER_KEYS_KEYCHANGE_H
#define MASTER_KEYS_KEYCHANGE_H

#include "master/front/front.h"

/* Ends all connections of a key that is good no more, and what else speaks for its id. `m` is whose it is,
 * or was. */
void keychange_cut(front_t *self, minion_t *m, const char *z85, bool was_accepted);
/* A line of the audit log, and the event salt/key with what is in `more` (TAKES, may be NULL). `peer` is
 * who caused it; NULL: nobody, time has. */
void keychange_tell(front_t *self, const peer_t *peer, const char *id, const char *act, json_t *more);

#endif
