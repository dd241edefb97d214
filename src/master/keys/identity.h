/* identity.h - the master's own key, and the claim that the hello port publishes.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1110-key-rotation.bats, tests/unit/keyring/test_masterkey.c
 */
#ifndef MASTER_KEYS_IDENTITY_H
#define MASTER_KEYS_IDENTITY_H

#include "master/front/front.h"
#include "keyring/masterkey.h"

/* BORROWED until identity_take or the master's end. */
const masterkey_t *identity_key(const front_t *front);
/* The claim: {pub, proto}, or a voucher of the signing key with proto. BORROWED. */
json_t *identity_claim(const front_t *front);
void identity_take(front_t *front,
                   const masterkey_t *key); /* TAKES its contents: this is the key from now on */

#endif
