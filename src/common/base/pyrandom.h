/* pyrandom.h - Python's `random`: the same seed gives the same numbers, so that a value which Salt once chose
 * for a minion (a minute of the hour) stays the same. Not for secrets.
 *
 * Layer      common/base
 * Threads    one at a time per generator
 * Errors     -EINVAL in Python's words, FAIL_GENERIC with the exception's name in front
 * Tests      tests/unit/common/test_pyrandom.c (answers recorded from Python)
 */
#ifndef COMMON_BASE_PYRANDOM_H
#define COMMON_BASE_PYRANDOM_H

#include "salt/base.h"

typedef struct pyrandom pyrandom_t;

/* random.Random(seed). None or NULL seeds from the system; text, integers, floats and booleans as in Python.
 * NEW, or NULL with *err. */
pyrandom_t *pyrandom_new(const json_t *seed, fail_t *err);
void pyrandom_destroy(pyrandom_t **self_p);

/* A number from 0 to n-1; n > 0. */
uint64_t pyrandom_below(pyrandom_t *self, uint64_t n);
/* random.randint: `low` to `high`, both included. */
int pyrandom_int(pyrandom_t *self, int64_t low, int64_t high, int64_t *ret_value, fail_t *err);
/* random.sample: `k` elements of a list. NEW, or NULL with *err. */
json_t *pyrandom_sample(pyrandom_t *self, const json_t *list, int64_t k, fail_t *err);

#endif
