/* keyfolders.h - key files that operators change by hand; see keyfolders.c.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1100-auth.bats
 */
#ifndef MASTER_KEYS_KEYFOLDERS_H
#define MASTER_KEYS_KEYFOLDERS_H

#include "master/front/front.h"

/* Call before minions are chosen: who has a key is what the folders say now. */
void keyfolders_look(front_t *front);

#endif
