/* rekey.h - a minion's next key, which replaces its present one when a connection proves it.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1130-key-life.bats
 */
#ifndef MASTER_KEYS_REKEY_H
#define MASTER_KEYS_REKEY_H

#include "master/front/front.h"

/* True when this connection has the next key of `m`: then it is the accepted one from now on, and connections
 * of the old key have been cut. */
bool rekey_came(front_t *self, peer_t *peer, minion_t *m);
/* Load the next keys from files. `all_read`: all present keys are known. False: something can't be read now;
 * nothing is deleted for that, call again. */
bool rekey_load(front_t *self, bool all_read);
void rekey_forget(front_t *self, minion_t *m); /* the key is no longer accepted: delete its next key */

#endif
