/* mmine.c - runs mine.update once a master is connected, and then every mine_interval minutes. */
#include "minion/jobs/jobserver.h"

#include "common/base/clock.h"
#include "salt/value.h"

typedef struct mmine {
    jobserver_t *js;
    int64_t next_ms; /* monotonic: the next mine.update; 0: none was run yet */
} mmine_t;

static void
mmine_tick(void *part, int64_t now_ms)
{
    mmine_t *self = part;
    jobserver_t *js = self->js;
    if (now_ms < self->next_ms || !value_bool(js->opts, "mine_enabled", true) || !outbox_is_heard(js->outbox))
        return;
    json_t *pillar = js->pillar;
    bool has = value_truthy(value_get(js->opts, "mine_functions")) ||
               value_get(pillar, "mine_functions") != NULL;
    /* Wait for the pillar: it may name functions. */
    if (!has && pillar == NULL)
        return;
    self->next_ms = now_ms + value_int(js->opts, "mine_interval", 60) * 60000;
    if (!has)
        return;
    char jid[CLOCK_STAMP_LEN];
    clock_jid(jid);
    json_auto_t *job = json_pack("{s:s, s:s, s:[], s:s, s:b}", "jid", jid, "fun", "mine.update", "arg",
                                 "user", "mine_interval", "own",
                                 !value_bool(js->opts, "mine_return_job", false));
    jobserver_job(js, job, -1);
}

static void *
mmine_start(jobserver_t *js, fail_t *err)
{
    mmine_t *self = xcalloc(1, sizeof(*self));
    self->js = js;
    return self;
}

const minion_part_t minion_part_mine = {
    .name = "mine", .start = mmine_start, .destroy = free, .tick = mmine_tick
};
