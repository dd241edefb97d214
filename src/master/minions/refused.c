/* refused.c - see refused.h. Wires the pacing of refusals.h to log and bus; what waits is reported by the
 * tick. */
#include "master/minions/refused.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "master/events/bus.h"
#include "master/front/noise.h"
#include "master/front/part.h"
#include "salt/log.h"

static refusals_t *
refused_own(const front_t *front)
{
    return front->own[PART_refused];
}

static void
refused_own_tell(front_t *front, const char *address, const char *reason)
{
    log_warning("%s: %s", address, reason);
    json_t *data = json_pack("{s:s, s:s, s:I}", "address", address, "reason", reason, "refused",
                             (json_int_t) front->counters.refused);
    (void) bus_fire(front, "salt/gate/refused", &data);
}

void
refused_tell(front_t *front, refusal_t kind, const char *address, const char *fmt, ...)
{
    va_list ap;
    front->counters.refused++;
    va_start(ap, fmt);
    AUTO_FREE char *reason = xvasprintf(fmt, ap);
    va_end(ap);
    if (refusals_add(refused_own(front), kind, address, reason, clock_mono_ms()))
        refused_own_tell(front, address, reason);
}

bool
refused_share(front_t *self, peer_t *peer, size_t len)
{
    bool may = minion_may_tell(peer->minion, len, clock_mono_ms());
    if (!may)
        refused_tell(self, REFUSED_MESSAGE, peer->address,
                     "minion %s: events and returns of more than %d KB a second have to wait",
                     peer->minion->id, LIMIT_TOLD_RATE);
    return may;
}

static int
refused_start(front_t *front, fail_t *err)
{
    front->own[PART_refused] = refusals_new();
    return 0;
}

static bool
refused_destroy(front_t *front)
{
    refusals_t *self = refused_own(front);
    refusals_destroy(&self);
    return true;
}

static void
refused_tick(front_t *front, int64_t now_ms)
{
    char *address, *reason;
    while (refusals_due(refused_own(front), now_ms, &address, &reason)) {
        refused_own_tell(front, address, reason);
        free(address);
        free(reason);
    }
    noise_unsaid(front, refusals_unsaid(refused_own(front)));
}

const front_part_t part_refused = {
    .name = "refused", .start = refused_start, .destroy = refused_destroy, .tick = refused_tick
};
