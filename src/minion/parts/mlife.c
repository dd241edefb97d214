/* mlife.c - ping_interval: fires minion_ping every so many minutes while a master is connected. */
#include "minion/jobs/jobserver.h"

#include "salt/value.h"

typedef struct mlife {
    jobserver_t *js;
    int64_t next_ms; /* monotonic; 0: not counting yet */
} mlife_t;

/* The first interval starts with the first tick that finds a master, without a ping. */
static void
mlife_tick(void *part, int64_t now_ms)
{
    mlife_t *self = part;
    int64_t every = (int64_t) (value_num(self->js->opts, "ping_interval", 0) * 60000);
    if (every <= 0)
        self->next_ms = 0;
    if (every <= 0 || now_ms < self->next_ms || !outbox_is_heard(self->js->outbox))
        return;
    bool first = self->next_ms == 0;
    self->next_ms = now_ms + every;
    json_auto_t *text = json_string("ping");
    if (!first)
        jobserver_event(self->js, "minion_ping", text, NULL);
}

static int64_t
mlife_next_ms(void *part)
{
    mlife_t *self = part;
    return outbox_is_heard(self->js->outbox) ? self->next_ms : 0;
}

static void *
mlife_start(jobserver_t *js, fail_t *err)
{
    mlife_t *self = xcalloc(1, sizeof(*self));
    self->js = js;
    return self;
}

const minion_part_t minion_part_life = {
    .name = "life", .start = mlife_start, .destroy = free, .tick = mlife_tick, .next_ms = mlife_next_ms
};
