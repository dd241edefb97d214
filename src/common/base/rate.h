/* rate.h - how often something may happen: a bucket of tokens that fills at a steady pace.
 *
 * Layer      common/base; libc only
 * Threads    one at a time
 * Tests      tests/unit/common/test_rate.c
 */
#ifndef COMMON_BASE_RATE_H
#define COMMON_BASE_RATE_H

#include "salt/base.h"

typedef struct rate {
    int per_s, burst;
    double left;   /* tokens */
    int64_t at_ms; /* monotonic: when `left` was right; 0: never used, full */
} rate_t;

/* rate_t r = RATE(10, 50): ten a second, fifty at once. */
#define RATE(per_s_, burst_) ROW(.per_s = (per_s_), .burst = (burst_))

/* Takes one; false when there is none. */
bool rate_spare(rate_t *self, int64_t now_ms);
/* What it cost in the end, beyond the one that was taken: a debt is paid before the next is spared. */
void rate_owe(rate_t *self, double more);

#endif
