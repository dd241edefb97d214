/* alike.h - intern what thousands of minions have in common.
 *
 * Most grains of a fleet are equal: the processor's flags, the system, paths. A value that equals one seen
 * before is replaced by that one, and objects with the same names in the same order share them: a minion's
 * grains then cost one pointer each.
 *
 * Layer      master
 * Threads    one
 * Ownership  values are shared by reference: never modify one. Destroy kept_t before their alike_t.
 * Tests      tests/unit/master/test_alike.c
 */
#ifndef MASTER_KEYS_ALIKE_H
#define MASTER_KEYS_ALIKE_H

#include "salt/value.h"

typedef struct alike alike_t;

typedef struct kept kept_t;

alike_t *alike_new(void);
void alike_destroy(alike_t **self_p);
/* Intern the values of `object`, replacing them in it, and keep the result. NEW; `object` stays the
 * caller's. */
kept_t *alike_keep(alike_t *self, json_t *object);
void kept_destroy(kept_t **self_p);
/* The object as it was kept: BORROWED, valid until the next kept_view of the same alike_t. NULL for NULL. */
json_t *kept_view(const kept_t *self);
/* Number of interned values, unused ones included, and of shapes; for tests. */
size_t alike_len(const alike_t *self);
size_t alike_shapes(const alike_t *self);

#endif
