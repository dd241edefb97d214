/* presence.c - salt/presence/change when a minion comes or goes, salt/presence/present every loop_interval;
 * both only with the option presence_events. Changes within one turn of the timer are told together, so that
 * a fleet's return is not ten thousand events. */
#include "master/bus.h"

#include "salt/value.h"

/* The one in a slot, BORROWED; NULL when none is connected there. */
static const minion_t *
s_there(const front_t *self, uint32_t slot)
{
    const minion_t *m = peers_by_slot(self->peers, slot);
    return m && m->state == KEY_ACCEPTED && m->peer ? m : NULL;
}

/* Who is connected now: {id: true}. NEW. */
static json_t *
s_present(const front_t *self)
{
    json_t *all = json_object();
    const minion_t *m;
    for (uint32_t i = 0; i < peers_slots(self->peers); i++)
        if ((m = s_there(self, i)))
            json_object_set_new(all, m->id, json_true());
    return all;
}

size_t
presence_count(const front_t *self)
{
    size_t n = 0;
    for (uint32_t i = 0; i < peers_slots(self->peers); i++)
        n += s_there(self, i) != NULL;
    return n;
}

/* Ids of `a` that are not in `b`. NEW array. */
static json_t *
s_without(json_t *a, const json_t *b)
{
    json_t *out = json_array(), *unused;
    const char *id;
    json_object_foreach (a, id, unused)
        if (!json_object_get(b, id))
            json_array_append_new(out, json_string(id));
    return out;
}

void
presence_tick(front_t *self, int64_t now_ms)
{
    if (!conf_bool(self->conf, "presence_events")) {
        json_decref(self->present);
        self->present = NULL;
        return;
    }
    json_t *before = self->present ? self->present : json_object();
    self->present = s_present(self);
    json_auto_t *fresh = s_without(self->present, before), *lost = s_without(before, self->present);
    json_decref(before);
    if (json_array_size(fresh) + json_array_size(lost) > 0) {
        json_t *data = json_pack("{s:O, s:O}", "new", fresh, "lost", lost);
        (void) bus_fire(self, "salt/presence/change", &data);
    }
    if (now_ms < self->present_next_ms)
        return;
    self->present_next_ms = now_ms + (int64_t) (conf_float(self->conf, "loop_interval") * 1000);
    json_auto_t *none = json_object();
    json_t *data = json_pack("{s:o}", "present", s_without(self->present, none));
    (void) bus_fire(self, "salt/presence/present", &data);
}
