/* keychange.h - consequences of a changed or invalid minion key.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1130-key-life.bats, tests/t/1100-auth.bats
 */
#ifndef MASTER_KEYS_KEYCHANGE_H
#define MASTER_KEYS_KEYCHANGE_H

#include "master/front/front.h"

/* Cut all connections of a key that is no longer valid, and those bound to its minion `m`. `was_accepted`: it
 * may have subscribed. */
void keychange_cut(front_t *self, minion_t *m, const char *z85, bool was_accepted);
/* Write the audit log and fire salt/key with the fields of `more` (TAKES, may be NULL). `peer` caused it;
 * NULL: it was due to time, or to a file changed by hand. */
void keychange_tell(front_t *self, const peer_t *peer, const char *id, const char *act, json_t *more);

#endif
