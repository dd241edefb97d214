/* clockwatch.c - the part that compares wall and monotonic clock in every tick, and the wall clock with the
 * newest stored event at the start. A step larger than SET_MS puts the clock in doubt, until it steps back or
 * a day has passed. The doubt's end is kept in the store. */
#include "master/front/clockwatch.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "master/front/part.h"
#include "salt/log.h"

#define SET_MS     600000 /* a larger step is not a correction */
#define DOUBT_MS   (24LL * 3600 * 1000)
#define CLOCK_META "clock_doubt" /* key in the store; value: the doubt's end, seconds of the wall clock */
#define HOUR_MS    (3600 * 1000.0)

static clockwatch_t *
clockwatch_own(const front_t *front)
{
    return front->own[PART_clockwatch];
}

static bool
is_step(int64_t by_ms, int64_t limit_ms)
{
    return by_ms >= limit_ms || by_ms <= -limit_ms;
}

/* Write the doubt's end to the store; retried by clockwatch_tick while the queue is full. */
static void
clockwatch_keep(front_t *self, int64_t now_ms)
{
    clockwatch_t *w = clockwatch_own(self);
    int64_t until_ms = clock_wall_us() / 1000 + w->until_ms - now_ms;
    AUTO_FREE char *text = xasprintf("%lld", (long long) (until_ms / 1000));
    w->unkept = (w->until_ms ? store_put_meta(self->store, CLOCK_META, text)
                             : store_del_meta(self->store, CLOCK_META)) == 0;
}

/* Doubt the clock for `for_ms` from now on; 0: trust it. */
static void
doubt(front_t *self, int64_t now_ms, int64_t for_ms)
{
    clockwatch_own(self)->until_ms = for_ms > 0 ? now_ms + for_ms : 0;
    clockwatch_keep(self, now_ms);
}

/* Restore the last run's doubt, and compare the clock with the newest event in the store. */
static int
clockwatch_start(front_t *self, fail_t *err)
{
    int64_t now_ms = clock_mono_ms(), wall_ms = clock_wall_us() / 1000, event_us = 0;
    json_auto_t *kept = store_meta(self->reader, CLOCK_META, err);
    if (kept == NULL || store_event_time(self->reader, &event_us, err) < 0)
        return err->code;
    int64_t left = json_is_string(kept) ? strtoll(json_string_value(kept), NULL, 10) * 1000 - wall_ms : 0;
    int64_t gap = event_us ? wall_ms - event_us / 1000 : 0;
    if (is_step(gap, DOUBT_MS)) {
        log_warning(
            "by the clock the newest event in the store is %.1f hours %s: should the clock be wrong, set "
            "it; nothing counts as old within a day",
            (double) (gap < 0 ? -gap : gap) / HOUR_MS, gap < 0 ? "ahead" : "old");
        doubt(self, now_ms, DOUBT_MS);
    } else if (left > 0) {
        log_warning("the clock had jumped before the master ended: nothing counts as old yet");
        doubt(self, now_ms, left < DOUBT_MS ? left : DOUBT_MS);
    } else if (json_is_string(kept)) {
        doubt(self, now_ms, 0);
    }
    return 0;
}

/* `ahead` is wall minus monotonic time: constant but for corrections. A step back to its last trusted value
 * ends the doubt. */
static void
clockwatch_tick(front_t *self, int64_t now_ms)
{
    clockwatch_t *w = clockwatch_own(self);
    int64_t ahead = clock_wall_us() / 1000 - now_ms, by = w->seen_ms ? ahead - w->seen_ms : 0;
    bool stepped = is_step(by, SET_MS);
    w->ahead_ms = w->until_ms ? w->ahead_ms : w->seen_ms;
    w->seen_ms = ahead;
    if (stepped && w->until_ms && !is_step(ahead - w->ahead_ms, SET_MS)) {
        log_info("the clock is right again");
        doubt(self, now_ms, 0);
    } else if (stepped) {
        log_warning(
            "the clock has jumped by %lld s: nothing counts as old until it is right again, or for a day",
            (long long) (by + (by < 0 ? -500 : 500)) / 1000);
        doubt(self, now_ms, DOUBT_MS);
    } else if (w->until_ms && now_ms >= w->until_ms) {
        log_info("the clock is believed: a day has passed");
        doubt(self, now_ms, 0);
    } else if (w->unkept) {
        clockwatch_keep(self, now_ms);
    }
}

bool
clockwatch_doubts(const front_t *self)
{
    return clockwatch_own(self)->until_ms != 0;
}

const front_part_t part_clockwatch = {
    .name = "clockwatch", .size = sizeof(clockwatch_t), .start = clockwatch_start, .tick = clockwatch_tick
};
