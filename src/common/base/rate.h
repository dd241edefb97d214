/* rate.h - limits how often something may happen: a bucket of tokens that fills at a steady pace.
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
    int64_t at_ms; /* monotonic time that `left` belongs to; 0: never used, so full */
} rate_t;

/* rate_t r = RATE(10, 50): ten a second, fifty at once. */
#define RATE(per_s_, burst_) ROW(.per_s = (per_s_), .burst = (burst_))

/* Takes a token; false when there is none. */
bool rate_spare(rate_t *self, int64_t now_ms);
/* Charges further tokens, once the real cost is known. The bucket may get a debt, which is paid before the
 * next token. */
void rate_owe(rate_t *self, double more);

#endif
