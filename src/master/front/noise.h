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
#include "salt/log.h"

/* Log a warning of the caller's place in the source, or count it as suppressed. */
void noise_warn_at(front_t *front, const log_site_t *site, const char *fmt, ...) PRINTF(3, 4);
#define noise_warn(front, ...)                                                                               \
    noise_warn_at(front, &(const log_site_t){ __FILE__, __func__, __LINE__ }, __VA_ARGS__)
void noise_unsaid(front_t *front, uint64_t n); /* count `n` lines that the caller suppressed itself */

#endif
