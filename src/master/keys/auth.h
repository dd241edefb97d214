/* auth.h - authentication of minions and the lifecycle of their keys; see auth.c.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1100-auth.bats, tests/t/1130-key-life.bats, tests/unit/master/test_front.c
 */
#ifndef MASTER_KEYS_AUTH_H
#define MASTER_KEYS_AUTH_H

#include "master/front/front.h"

/* The minion's key is too old: an accepted one becomes pending, a pending one is deleted. May free `m`. */
void auth_expire(front_t *self, minion_t *m);

#endif
