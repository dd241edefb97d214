/* identity.h - the master's own key while it runs, and what it says of it.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1110-key-rotation.bats, tests/unit/keyring/test_masterkey.c
 */
#ifndef MASTER_KEYS_IDENTITY_H
#define MASTER_KEYS_IDENTITY_H

#include "master/front/front.h"
#include "keyring/masterkey.h"

const masterkey_t *identity_key(const front_t *front);
/* What the plaintext port says of it: {pub, proto} and who vouches for it. BORROWED. */
json_t *identity_claim(const front_t *front);
void identity_take(front_t *front,
                   const masterkey_t *key); /* TAKES what it holds: it is another from now on */

#endif
