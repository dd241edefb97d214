/* alike.h - what thousands of minions have in common is kept once.
 *
 * Most grains of a fleet are the same: its processors' flags, its system, its paths. A value that equals one
 * seen before becomes that one, and objects with the same names in the same order have these once: a minion's
 * grains then cost a pointer each.
 *
 * Layer      master
 * Threads    one
 * Ownership  values are shared by reference: nobody may change one. Kept objects end before their alike_t.
 * Tests      tests/unit/master/test_alike.c
 */
#ifndef MASTER_KEYS_ALIKE_H
#define MASTER_KEYS_ALIKE_H

#include "salt/value.h"

typedef struct alike alike_t;

typedef struct kept kept_t;

alike_t *alike_new(void);
void alike_destroy(alike_t **self_p);
/* Keeps what `object` is. Of its values those that equal one seen before are replaced by that one. NEW. */
kept_t *alike_keep(alike_t *self, json_t *object);
void kept_destroy(kept_t **self_p);
/* It as an object: BORROWED, and only until another of the same alike_t is looked at. NULL of NULL. */
json_t *kept_view(const kept_t *self);
/* How many values are kept, also such as only one has; how many orders of names. */
size_t alike_len(const alike_t *self);
size_t alike_shapes(const alike_t *self);

#endif
