/* noise.c - a token bucket for warnings about peers' faults, so that hostile peers can't fill the log;
 * suppressed lines are counted and reported when the bucket has a token again. */
#include "master/front/noise.h"

#include "common/base/clock.h"
#include "common/base/rate.h"
#include "common/base/str.h"
#include "master/front/part.h"

typedef struct noise {
    rate_t lines;
    uint64_t unsaid; /* suppressed lines */
} noise_t;

static noise_t *
noise_own(const front_t *front)
{
    return front->own[PART_noise];
}

void
noise_warn_at(front_t *front, const log_site_t *site, const char *fmt, ...)
{
    va_list ap;
    noise_t *self = noise_own(front);
    if (!rate_spare(&self->lines, clock_mono_ms())) {
        self->unsaid++;
        return;
    }
    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    if (log_wanted(LEVEL_WARNING, site->file))
        log_write(LEVEL_WARNING, site, "%s", text);
}

void
noise_unsaid(front_t *front, uint64_t n)
{
    noise_own(front)->unsaid += n;
}

static int
noise_start(front_t *front, fail_t *err)
{
    noise_own(front)->lines = (rate_t) RATE(LIMIT_NOISE_RATE, LIMIT_NOISE_BURST);
    return 0;
}

static void
noise_tick(front_t *front, int64_t now_ms)
{
    noise_t *self = noise_own(front);
    if (self->unsaid == 0 || !rate_spare(&self->lines, now_ms))
        return;
    log_warning("%llu more refusals were not written here", (unsigned long long) self->unsaid);
    self->unsaid = 0;
}

const front_part_t part_noise = {
    .name = "noise", .size = sizeof(noise_t), .start = noise_start, .tick = noise_tick
};
