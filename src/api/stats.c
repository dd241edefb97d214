/* stats.c - see stats.h. */
#include "api/stats.h"

#include "api/api.h"
#include "common/base/clock.h"

stats_t *
stats_new(void)
{
    stats_t *self = xcalloc(1, sizeof(*self));

    self->started_ms = clock_mono_ms();
    self->started = api_now();
    return self;
}

void
stats_count(stats_t *self, const request_t *request, int64_t now_ms)
{
    unsigned class = request->status / 100;

    self->requests++;
    self->bytes_in += request->body.len;
    self->by_class[class < NELEMS(self->by_class) ? class : 0]++;
    self->seconds += (double) (now_ms - request->began_ms) / 1000;
}
