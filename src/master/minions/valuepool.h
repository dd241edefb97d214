/* valuepool.h - intern what thousands of minions have in common.
 *
 * Most grains of a fleet are equal: the processor's flags, the system, paths. A value that equals one seen
 * before is replaced by that one, and objects with the same names in the same order share them: a minion's
 * grains then cost one pointer each.
 *
 * Layer      master
 * Threads    one
 * Ownership  values are shared by reference: never modify one. Destroy kept_t before their valuepool_t.
 * Tests      tests/unit/master/test_valuepool.c
 */
#ifndef MASTER_MINIONS_VALUEPOOL_H
#define MASTER_MINIONS_VALUEPOOL_H

#include "salt/value.h"

typedef struct valuepool valuepool_t;

typedef struct kept kept_t;

valuepool_t *valuepool_new(void);
void valuepool_destroy(valuepool_t **self_p);
/* Intern the values of `object`, replacing them in it, and keep the result. NEW; `object` stays the
 * caller's. */
kept_t *valuepool_keep(valuepool_t *self, json_t *object);
void kept_destroy(kept_t **self_p);
/* The object as it was kept: BORROWED, valid until the next kept_view of the same valuepool_t. NULL for
 * NULL. */
json_t *kept_view(const kept_t *self);
/* Number of interned values, unused ones included, and of shapes; for tests. */
size_t valuepool_len(const valuepool_t *self);
size_t valuepool_shapes(const valuepool_t *self);

#endif
