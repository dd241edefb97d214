/* tallies.c - figures for Prometheus of what minions tell: events of their beacons, and what they had kept in
 * their spools while no master was there, which a hello says. What a minion that is away keeps
 * is not known here. */
#include "common/base/clock.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/net/tags.h"
#include "master/front/figures.h"
#include "master/front/part.h"
#include "salt/value.h"

enum { BEACONS_MAX = 1000 }; /* names; further ones count as "other" */

typedef struct tally {
    uint64_t events, merged;
} tally_t;

typedef struct kept {
    uint64_t returns, events; /* of its last hello */
    int64_t beat_us;          /* wall clock: its last event of a beacon `status`; 0: none */
} kept_t;

typedef struct tallies {
    map_t *beacons; /* name to tally_t */
    map_t *minions; /* id to kept_t */
    kept_t all;     /* of all hellos since the start */
} tallies_t;

static int
tallies_start(front_t *front, fail_t *err)
{
    tallies_t *self = front->own[PART_tallies];

    self->beacons = map_new(free);
    self->minions = map_new(free);
    return 0;
}

static bool
tallies_destroy(front_t *front)
{
    tallies_t *self = front->own[PART_tallies];

    map_destroy(&self->beacons);
    map_destroy(&self->minions);
    return true;
}

/* A beacon that says more than fits tells once a second how many events it has merged: those count as events,
 * too. */
static void
tallies_event(front_t *front, const minion_t *m, const char *tag, const json_t *data, bool bare)
{
    if (!bare)
        return;
    tallies_t *self = front->own[PART_tallies];
    kept_t *kept = map_get(self->minions, m->id);
    /* The row of the beacon that a tag names: salt/beacon/ID/NAME/... */
    const char *name = tag + strlen("salt/beacon/") + strlen(m->id);
    name += *name == '/';
    AUTO_FREE char *text = xstrndup(name, strcspn(name, "/"));
    const char *key = figures_label(text) ? text : "other";
    tally_t *row = map_get(self->beacons, key);

    if (row == NULL && map_len(self->beacons) >= BEACONS_MAX)
        row = map_get(self->beacons, key = "other");
    if (row == NULL)
        map_set(self->beacons, key, row = xcalloc(1, sizeof(*row)));

    json_int_t merged = str_ends(tag, "/merged") ? value_int(data, "merged", 0) : 0;

    row->events += merged > 0 ? 0 : 1;
    row->merged += merged > 0 ? (uint64_t) merged : 0;
    if (kept != NULL && row == map_get(self->beacons, "status"))
        kept->beat_us = clock_wall_us();
}

static uint64_t
tallies_count(const json_t *hello, const char *key)
{
    json_int_t n = value_int(value_get(hello, "kept"), key, 0);
    return n > 0 && n <= INT32_MAX ? (uint64_t) n : 0;
}

static void
tallies_connected(front_t *front, minion_t *m, const json_t *hello, bool rebooted)
{
    tallies_t *self = front->own[PART_tallies];
    kept_t *row = map_get(self->minions, m->id);

    if (row == NULL)
        map_set(self->minions, m->id, row = xcalloc(1, sizeof(*row)));
    row->returns = tallies_count(hello, "returns");
    row->events = tallies_count(hello, "events");
    self->all.returns += row->returns;
    self->all.events += row->events;
}

static void
tallies_forgotten(front_t *front, const char *id)
{
    (void) map_del(((tallies_t *) front->own[PART_tallies])->minions, id);
}

static void
tallies_figures(front_t *front, buf_t *out, bool minions)
{
    const tallies_t *self = front->own[PART_tallies];
    const char *id;
    void *value;

    figures_add_one(out, "halite_spool_returns_total", "counter",
                    "Returns that minions had kept when they connected.", (double) self->all.returns);
    figures_add_one(out, "halite_spool_events_total", "counter",
                    "Events that minions had kept when they connected.", (double) self->all.events);
    const char *name;
    void *counted;
    figures_head(out, "halite_beacon_events_total", "counter", "Events of beacons that came.");
    for (size_t i = 0; map_next(self->beacons, &i, &name, &counted);)
        buf_printf(out, "halite_beacon_events_total{beacon=\"%s\"} %llu\n", name,
                   (unsigned long long) ((const tally_t *) counted)->events);
    figures_head(out, "halite_beacon_merged_total", "counter",
                 "Events that beacons merged, because they came faster than a beacon may fire.");
    for (size_t i = 0; map_next(self->beacons, &i, &name, &counted);)
        buf_printf(out, "halite_beacon_merged_total{beacon=\"%s\"} %llu\n", name,
                   (unsigned long long) ((const tally_t *) counted)->merged);
    if (!minions)
        return;
    figures_head(out, "halite_spool_kept", "gauge", "What a minion had kept when it last connected.");
    for (size_t i = 0; map_next(self->minions, &i, &id, &value);) {
        const kept_t *row = value;
        buf_printf(out, "halite_spool_kept{minion=\"%s\",kind=\"returns\"} %llu\n", id,
                   (unsigned long long) row->returns);
        buf_printf(out, "halite_spool_kept{minion=\"%s\",kind=\"events\"} %llu\n", id,
                   (unsigned long long) row->events);
    }
    figures_head(out, "salt_health_last_heartbeat", "gauge",
                 "When a minion's last event of the beacon status came.");
    for (size_t i = 0; map_next(self->minions, &i, &id, &value);)
        if (((const kept_t *) value)->beat_us > 0)
            buf_printf(out, "salt_health_last_heartbeat{minion=\"%s\"} %lld\n", id,
                       (long long) (((const kept_t *) value)->beat_us / 1000000));
}

const front_part_t part_tallies = { .name = "tallies",
                                    .size = sizeof(tallies_t),
                                    .start = tallies_start,
                                    .destroy = tallies_destroy,
                                    .connected = tallies_connected,
                                    .forgotten = tallies_forgotten,
                                    .minion_event = tallies_event,
                                    .figures = tallies_figures };
