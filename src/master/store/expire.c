/* expire.c - jobs and events that are too old, or more than may be kept, are forgotten every
 * loop_interval. */
#include "common/base/clock.h"
#include "master/front/clockwatch.h"
#include "master/front/hooks.h"
#include "master/front/part.h"

static int64_t
s_pause(const front_t *front)
{
    return (int64_t) (conf_float(front->conf, "loop_interval") * 1000);
}

static void
s_tick(front_t *front, int64_t now_ms)
{
    /* What could be looked up before a restart can be after it, for as long as without one. */
    bool all = clockwatch_doubts(front) || now_ms - front->started_ms < s_pause(front);
    store_keep_t keep = { .now_us = clock_wall_us(),
                          .jobs_s = all ? 0 : conf_int(front->conf, "keep_jobs_seconds"),
                          .bytes = (uint64_t) conf_int(front->conf, "keep_jobs_bytes"),
                          .events = LIMIT_EVENT_JOURNAL,
                          .settled = hook_settled(front) };
    store_expire(front->store, &keep);
}

const front_part_t part_expire = { .name = "expire", .tick = s_tick, .pause_ms = s_pause };
