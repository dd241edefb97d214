/* noise.h - warnings about what peers do wrong: of many only some are written, and then how many were not.
 *
 * Layer      master
 * Threads    the front loop's
 * Limits     LIMIT_NOISE_RATE, LIMIT_NOISE_BURST
 * Tests      tests/t/1200-hostile-minion.bats
 */
#ifndef MASTER_FRONT_NOISE_H
#define MASTER_FRONT_NOISE_H

#include "master/front/front.h"

void noise_warn(front_t *front, const char *fmt, ...) PRINTF(2, 3);
void noise_unsaid(front_t *front, uint64_t n); /* so many more were not written */

#endif
