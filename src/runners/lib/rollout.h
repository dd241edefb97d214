/* rollout.h - which minions of a step come next: canaries, batches, and how many failures stop the rest.
 *
 * Pure. Layer      runners/lib
 * Threads    any
 * Tests      tests/unit/runners/test_rollout.c
 */
#ifndef RUNNERS_LIB_ROLLOUT_H
#define RUNNERS_LIB_ROLLOUT_H

#include "salt/base.h"

#define ROLLOUT_ALL SIZE_MAX

typedef struct rollout {
    size_t batch;    /* at one time; ROLLOUT_ALL: no batches */
    size_t canary;   /* before all others; 0: none */
    size_t max_fail; /* more failures than these stop the rest; ROLLOUT_ALL: none does, but canaries
                      * then tolerate none */
} rollout_t;

/* "10", 10, "25%": how many of `of` (a part of one counts as one, else it is cut off, as in Salt). Null or
 * NULL: `dflt`. `what` names the argument. 0, or -EINVAL with *err. */
int rollout_number(const json_t *v, const char *what, size_t of, size_t min, size_t dflt, size_t *ret_n,
                   fail_t *err);

/* Number of minions to begin next when `done` have ended, `failed` of them in vain: 0 and *ret_why NEW when
 * failures stop the rest. */
size_t rollout_next(const rollout_t *self, size_t all, size_t done, size_t failed, char **ret_why);

/* `want` of the ids (sorted array), the same ones for the same `seed`. NEW sorted array. */
json_t *rollout_subset(const json_t *ids, size_t want, const char *seed);

#endif
