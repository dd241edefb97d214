/* mrest.c - returns free memory to the system after a second without anything to do. */
#include "common/base/memory.h"
#include "minion/jobs/jobserver.h"

#define REST_MS 1000 /* idle for so long */

typedef struct mrest {
    const jobserver_t *js;
    int64_t after_ms; /* js->busy_ms at the last time: do it once per idle period */
} mrest_t;

static int64_t
mrest_next_ms(void *part)
{
    mrest_t *self = part;
    return self->js->busy_ms == self->after_ms ? 0 : self->js->busy_ms + REST_MS;
}

static void
mrest_tick(void *part, int64_t now_ms)
{
    mrest_t *self = part;
    int64_t when = mrest_next_ms(self);
    if (when == 0 || now_ms < when)
        return;
    self->after_ms = self->js->busy_ms;
    memory_rest();
}

static void *
mrest_start(jobserver_t *js, fail_t *err)
{
    mrest_t *self = xcalloc(1, sizeof(*self));
    self->js = js;
    return self;
}

const minion_part_t minion_part_rest = {
    .name = "rest", .start = mrest_start, .destroy = free, .tick = mrest_tick, .next_ms = mrest_next_ms
};
