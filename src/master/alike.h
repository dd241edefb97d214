/* alike.h - what thousands of minions have in common is kept once.
 *
 * Most grains of a fleet are the same: its processors' flags, its system, its paths. A value that equals one seen
 * before becomes that one; a minion's grains then cost little more than the names of them.
 *
 * Layer      master
 * Threads    one
 * Ownership  values are shared by reference: nobody may change one
 * Tests      tests/unit/master/test_alike.c
 */
#ifndef MASTER_ALIKE_H
#define MASTER_ALIKE_H

#include "salt/value.h"

typedef struct alike alike_t;

alike_t *alike_new(void);
void alike_destroy(alike_t **self_p);
/* Takes the place of every value in `object` by the one that is kept: it equals what it was. */
void alike_share(alike_t *self, json_t *object);
/* How many values are kept, also such as only one has. */
size_t alike_len(const alike_t *self);

#endif
