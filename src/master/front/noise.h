/* noise.h - rate-limited warnings about peers' faults: only some are written, then the number of the others.
 *
 * Layer      master
 * Threads    the front loop's
 * Limits     LIMIT_NOISE_RATE, LIMIT_NOISE_BURST
 * Tests      tests/t/1200-hostile-minion.bats
 */
#ifndef MASTER_FRONT_NOISE_H
#define MASTER_FRONT_NOISE_H

#include "master/front/front.h"

/* Log a warning, or count it as suppressed. */
void noise_warn(front_t *front, const char *fmt, ...) PRINTF(2, 3);
void noise_unsaid(front_t *front, uint64_t n); /* count `n` lines that the caller suppressed itself */

#endif
