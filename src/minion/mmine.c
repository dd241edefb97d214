/* mmine.c - the minion's mine over time: mine.update when the first master listens, and every mine_interval.
 */
#include "minion/jobserver.h"

#include "common/base/clock.h"
#include "salt/value.h"

/* Whether there is anything to call. */
static bool
s_has_functions(const jobserver_t *self)
{
    return value_truthy(value_get(self->opts, "mine_functions")) ||
           value_get(mpillar_known(self->pillar), "mine_functions");
}

static void
s_update(jobserver_t *self)
{
    char jid[CLOCK_STAMP_LEN];
    clock_jid(jid);
    json_auto_t *job = json_pack("{s:s, s:s, s:[], s:s, s:b}", "jid", jid, "fun", "mine.update", "arg",
                                 "user", "mine_interval", "own",
                                 !value_bool(self->opts, "mine_return_job", false));
    jobserver_job(self, job, -1);
}

void
mmine_tick(jobserver_t *self, int64_t now_ms)
{
    if (now_ms < self->mine_ms || !value_bool(self->opts, "mine_enabled", true) ||
        !outbox_is_heard(self->outbox))
        return;
    bool has = s_has_functions(self);
    /* Its pillar, which may name some, is still on the way. */
    if (!has && !mpillar_known(self->pillar))
        return;
    self->mine_ms = now_ms + value_int(self->opts, "mine_interval", 60) * 60000;
    if (has)
        s_update(self);
}
