/* auth.h - who may be here: hello, acceptance, and the life of a minion's key.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1100-auth.bats, tests/t/1130-key-life.bats, tests/unit/master/test_front.c
 */
#ifndef MASTER_KEYS_AUTH_H
#define MASTER_KEYS_AUTH_H

#include "master/front/front.h"

/* Its key is too old: it waits again, or is forgotten when it does already. May end `m`. */
void auth_expire(front_t *self, minion_t *m);

#endif
