/* presence.c - the events salt/presence/change, when minions come or go, and salt/presence/present, every
 * loop_interval, with the option presence_events as in Salt; and the request `minions`. Changes within one
 * tick make one event, so that a fleet's return is not ten thousand. */
#include "common/base/clock.h"
#include "master/events/bus.h"
#include "master/minions/grace.h"
#include "master/front/part.h"
#include "master/front/request.h"

#include "salt/value.h"

typedef struct presence {
    json_t *all;     /* owned: the connected minions at the last tick; NULL while the option is off */
    int64_t next_ms; /* monotonic */
} presence_t;

/* NEW array of ids in `a` that are not in `b`. */
static json_t *
without(json_t *a, const json_t *b)
{
    json_t *out = json_array(), *unused;
    const char *id;
    json_object_foreach (a, id, unused)
        if (json_object_get(b, id) == NULL)
            json_array_append_new(out, json_string(id));
    return out;
}

/* As in Salt, the set of present minions is compared with the last one; only changes are fired between the
 * intervals. */
static void
presence_tick(front_t *self, int64_t now_ms)
{
    presence_t *own = self->own[PART_presence];
    if (!conf_bool(self->conf, "presence_events")) {
        json_decref(own->all);
        own->all = NULL;
        return;
    }
    json_t *before = own->all != NULL ? own->all : json_object();

    json_t *all = json_object();
    const minion_t *m;
    for (uint32_t i = 0; i < peers_slots(self->peers); i++)
        if ((m = peers_there(self->peers, i)))
            json_object_set_new(all, m->id, json_true());
    own->all = all;

    json_auto_t *fresh = without(own->all, before), *lost = without(before, own->all);
    json_decref(before);
    if (json_array_size(fresh) + json_array_size(lost) > 0) {
        json_t *data = json_pack("{s:O, s:O}", "new", fresh, "lost", lost);
        (void) bus_fire(self, "salt/presence/change", &data);
    }
    if (now_ms < own->next_ms)
        return;
    own->next_ms = now_ms + (int64_t) (conf_float(self->conf, "loop_interval") * 1000);
    json_auto_t *none = json_object();
    json_t *data = json_pack("{s:o}", "present", without(own->all, none));
    (void) bus_fire(self, "salt/presence/present", &data);
}

static void
presence_reload(front_t *self)
{
    ((presence_t *) self->own[PART_presence])->next_ms = 0; /* the interval may have changed */
}

static bool
presence_destroy(front_t *self)
{
    json_decref(((presence_t *) self->own[PART_presence])->all);
    return true;
}

/* ---- the request `minions` ------------------------------------------------------------------- */

/* NEW: a minion's connection, or when it was last here and whether it is expected back. */
static json_t *
presence_one(const front_t *self, const minion_t *m)
{
    if (m->peer != NULL)
        return json_pack("{s:b, s:s, s:I, s:b, s:s}", "connected", true, "address", m->peer->address, "since",
                         (json_int_t) m->peer->since_ms, "subscribed", m->sub_fd >= 0, "halite",
                         *m->release != '\0' ? m->release : m->peer->release);
    json_t *away = json_pack("{s:b}", "connected", false);
    if (m->gone_ms > 0)
        json_object_set_new(away, "gone",
                            json_integer(clock_wall_us() / 1000 - clock_mono_ms() + m->gone_ms));
    if (*m->release != '\0')
        json_object_set_new(away, "halite", json_string(m->release));
    int64_t awaited = grace_awaits_ms(self, m);
    if (awaited > 0)
        json_object_set_new(away, "awaited_ms", json_integer(awaited));
    return away;
}

static json_t *
presence_minions(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    bool keys = value_bool(request, "keys", false);
    json_t *all = json_object();
    minion_t *m;
    for (uint32_t i = 0; i < peers_slots(self->peers); i++) {
        if ((m = peers_by_slot(self->peers, i)) == NULL || (m->state != KEY_ACCEPTED && !keys))
            continue;
        json_t *one = presence_one(self, m);
        if (keys)
            json_object_set_new(one, "key",
                                json_string(m->state == KEY_ACCEPTED  ? "accepted"
                                            : m->state == KEY_PENDING ? "pending"
                                                                      : "rejected"));
        json_object_set_new(all, m->id, one);
    }
    if (keys) {
        /* A connection that waits for acceptance is no minion's yet: it is found among the peers. */
        peer_t *peer;

        for (size_t i = 0; peers_next(self->peers, &i, &peer);) {
            if (peer->state != KEY_PENDING || peer->minion == NULL || peer->is_call)
                continue;
            json_t *one = json_object_get(all, peer->minion->id);
            json_object_set_new(one, "connected", json_true());
            json_object_set_new(one, "address", json_string(peer->address));
            json_object_set_new(one, "since", json_integer(peer->since_ms));
            json_object_set_new(one, "halite", json_string(peer->release));
        }
    }
    return json_pack("{s:o}", "minions", all);
}

const request_row_t request_minions = { .fn = presence_minions };

const front_part_t part_presence = { .name = "presence",
                                     .size = sizeof(presence_t),
                                     .destroy = presence_destroy,
                                     .reload = presence_reload,
                                     .tick = presence_tick };
