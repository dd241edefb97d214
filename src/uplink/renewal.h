/* renewal.h - this minion gets a new key: made beside the present one (minion_next.pem), told to every master
 * on connections of the present one, and when all of them have it on their disks, put in its place. Until the
 * files are changed the present key is the minion's, afterwards the new one; a master takes either as long as
 * it has not seen the new one. What was cut short goes on when the masters are connected again.
 *
 * Layer      minion
 * Threads    the networking process's
 * Errors     negative errno with the file
 * Tests      tests/unit/uplink/test_renewal.c, tests/t/1130-key-life.bats
 */
#ifndef UPLINK_RENEWAL_H
#define UPLINK_RENEWAL_H

#include "common/crypto/keys.h"
#include "salt/base.h"

typedef struct renewal renewal_t;

renewal_t *renewal_new(const char *pki_dir, int masters); /* NEW; goes on with one that is under way */
void renewal_destroy(renewal_t **self_p);

int renewal_begin(renewal_t *self, fail_t *err); /* 0 also when one is under way */
/* The question is due for those who have not answered, as they are connected. */
void renewal_soon(renewal_t *self);
/* NEW body of `rekey` when it is due, and not again for a while; else NULL. */
json_t *renewal_question(renewal_t *self, int64_t now_ms);
bool renewal_answered_by(const renewal_t *self, int master);
void renewal_answered(renewal_t *self, int master, const json_t *body); /* a `rekeyed` of that master */

/* NEW: when every master has the new key, it is the minion's now, on the disk too. NULL: not yet; or with
 * *err, it can't be put in place, and is not tried again before the next renewal_begin. */
key_pair_t *renewal_take(renewal_t *self, fail_t *err);

#endif
