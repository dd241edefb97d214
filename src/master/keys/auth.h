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
/* Makes the tables follow the key files of an id, which an operator may have changed by hand as Salt's users
 * do: removed, moved to another state's folder, or put there before the minion came. True when there was
 * something to follow; the minion may be another one then, or none. */
bool auth_heed(front_t *self, const char *id);

#endif
