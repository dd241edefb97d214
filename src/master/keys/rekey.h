/* rekey.h - a minion's next key, which takes the place of its present one when it comes.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1130-key-life.bats
 */
#ifndef MASTER_KEYS_REKEY_H
#define MASTER_KEYS_REKEY_H

#include "master/front/front.h"

/* Whether this connection comes with the next key of its id: then that is the accepted one from now on,
 * and the old one and its connections are cut. */
bool rekey_came(front_t *self, peer_t *peer, minion_t *m);
/* From the files, `all_read`: of which all present keys are known. What can't be read now is not
 * forgotten: false. */
bool rekey_load(front_t *self, bool all_read);
void rekey_forget(front_t *self, minion_t *m); /* its key is accepted no more */

#endif
