/* renewal.h - gives this minion a new key pair without losing a master.
 *
 * The next key is made beside the present one (minion_next.pem), sent to every master on a connection that
 * proves the present key, and put in its place when all have stored it. A master accepts both keys until it
 * has seen the new one, so an interruption at any point leaves a key that works. minion_next.pem marks a
 * renewal under way: the next start goes on with it.
 *
 * Layer      uplink
 * Threads    the networking process's
 * Errors     negative errno with the file
 * Tests      tests/unit/uplink/test_renewal.c, tests/t/1130-key-life.bats
 */
#ifndef UPLINK_RENEWAL_H
#define UPLINK_RENEWAL_H

#include "common/crypto/keys.h"
#include "salt/base.h"

typedef struct renewal renewal_t;

renewal_t *renewal_new(const char *pki_dir, int masters); /* NEW; goes on with a renewal under way */
void renewal_destroy(renewal_t **self_p);

/* 0, also when one is under way; -EIO with *err: the key can't be made. */
int renewal_begin(renewal_t *self, fail_t *err);
/* Makes the question due at once: a master has connected that may not have answered. */
void renewal_soon(renewal_t *self);
/* NEW body of `rekey` when the question is due, and not again for 30 s; else NULL. */
json_t *renewal_question(renewal_t *self, int64_t now_ms);
bool renewal_answered_by(const renewal_t *self, int master);
/* Handles a master's `rekeyed`; a refusal ends the renewal and deletes the next key. */
void renewal_answered(renewal_t *self, int master, const json_t *body);

/* NEW key pair once every master has confirmed it: the files are changed, and it is this minion's key. NULL:
 * not yet; or with *err, the files can't be changed, and nothing is tried before the next renewal_begin. */
key_pair_t *renewal_take(renewal_t *self, fail_t *err);

#endif
