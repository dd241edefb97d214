/* expire.c - the part that tells the store, every loop_interval, which jobs and events to keep:
 * keep_jobs_seconds and keep_jobs_bytes of the configuration, and LIMIT_EVENT_JOURNAL. */
#include "common/base/clock.h"
#include "master/front/clockwatch.h"
#include "master/front/hooks.h"
#include "master/front/part.h"

static int64_t
expire_pause(const front_t *front)
{
    return (int64_t) (conf_float(front->conf, "loop_interval") * 1000);
}

static void
expire_tick(front_t *front, int64_t now_ms)
{
    /* For one interval after a start, and while the clock is in doubt, age removes nothing: a job that could
     * be looked up before a restart can be for as long after it. */
    bool all = clockwatch_doubts(front) || now_ms - front->started_ms < expire_pause(front);
    store_keep_t keep = { .now_us = clock_wall_us(),
                          .jobs_s = all ? 0 : conf_int(front->conf, "keep_jobs_seconds"),
                          .bytes = (uint64_t) conf_int(front->conf, "keep_jobs_bytes"),
                          .events = LIMIT_EVENT_JOURNAL,
                          .settled = hook_settled(front) };
    store_expire(front->store, &keep);
}

const front_part_t part_expire = { .name = "expire", .tick = expire_tick, .pause_ms = expire_pause };
