/* beacon.c - see beacon.h: configuration and clock. What is fired is in beacon_fire.c, changes are in
 * beacon_change.c. */
#include "common/beacon/beacon.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

enum { PACE_MS = 10 }; /* between looks of a beacon with a descriptor */

struct beacons {
    beacons_env_t env;
    beacon_t **items; /* owned */
    size_t n;
};

/* ---- shapes ------------------------------------------------------------------------------------------- */

/* A configuration is a list of mappings, or one mapping, whose keys become the list's items. NEW; NULL: it is
 * neither. */
json_t *
beacon_list(const json_t *given)
{
    json_t *list = json_array(), *v;
    const char *key;
    if (json_is_array(given) || given == NULL || json_is_null(given)) {
        json_array_extend(list, (json_t *) given);
        return list;
    }
    if (!json_is_object(given)) {
        json_decref(list);
        return NULL;
    }
    json_object_foreach ((json_t *) given, key, v)
        json_array_append_new(list, json_pack("{s:O}", key, v));
    return list;
}

/* The items of the list in one mapping; of several with a key the last one counts. NEW. */
json_t *
beacon_dict(const json_t *list)
{
    json_t *dict = json_object(), *one;
    size_t i;
    json_array_foreach (list, i, one)
        if (json_is_object(one))
            json_object_update(dict, one);
    return dict;
}

/* A member of a configuration in either form. BORROWED; the last of several. */
static json_t *
beacon_member(const json_t *given, const char *key)
{
    json_t *found = value_get(given, key), *one;
    size_t i;
    json_array_foreach (given, i, one)
        if (value_get(one, key) != NULL)
            found = value_get(one, key);
    return found;
}

const char *
beacon_module(const char *name, const json_t *given)
{
    json_t *module = beacon_member(given, "beacon_module");
    return json_is_string(module) && *json_string_value(module) != '\0' ? json_string_value(module) : name;
}

/* NEW text of what is wrong, in Salt's words where Salt has them; NULL: nothing. The module's own check comes
 * last, as it may rely on the shape. */
char *
beacon_validate(const beacon_row_t *row, const char *module, const json_t *given)
{
    json_auto_t *list = beacon_list(given);
    json_t *one, *interval = beacon_member(given, "interval");
    size_t i;
    if (list == NULL)
        return xasprintf("Configuration for %s beacon must be a list.", module);
    json_array_foreach (list, i, one)
        if (!json_is_object(one))
            return xasprintf("Configuration for %s beacon must be a list of dictionaries.", module);
    if (interval != NULL && value_truthy(interval) &&
        (!json_is_number(interval) || json_number_value(interval) < 0))
        return xasprintf("Configuration for %s beacon: interval is a number of seconds.", module);
    json_auto_t *dict = beacon_dict(list);
    return row != NULL && row->validate != NULL ? row->validate(list, dict) : NULL;
}

/* NEW list without the keys that are the engine's business; Python's functions get the others, as in Salt. */
static json_t *
beacon_trimmed(const json_t *given, const beacon_row_t *row)
{
    static const char *const keys[] = { "enabled", "interval", "disable_during_state_run" };
    static const char *const more[] = { "beacon_module", "run_once" };
    json_auto_t *list = beacon_list(given);
    json_t *out = json_array(), *one;
    size_t i;
    json_array_foreach (list, i, one) {
        json_t *copy = json_copy(one);
        for (size_t k = 0; k < NELEMS(keys); k++)
            json_object_del(copy, keys[k]);
        for (size_t k = 0; row != NULL && k < NELEMS(more); k++)
            json_object_del(copy, more[k]);
        if (row != NULL && !row->edges)
            json_object_del(copy, "onchangeonly");
        if (json_object_size(copy) > 0 || json_object_size(one) == 0)
            json_array_append_new(out, copy);
        else
            json_decref(copy);
    }
    return out;
}

/* The minion's own configuration of a beacon replaces the pillar's of that name. NEW. */
json_t *
beacons_merge(const json_t *own, const json_t *pillar)
{
    json_t *all = json_is_object(pillar) ? json_copy((json_t *) pillar) : json_object();
    if (json_is_object(own))
        json_object_update(all, (json_t *) own);
    return all;
}

/* ---- configuration ------------------------------------------------------------------------------------ */

static void
beacon_free(const beacons_t *self, beacon_t *beacon)
{
    if (self->env.gone != NULL)
        self->env.gone(self->env.cookie, beacon);
    free(beacon->name);
    free(beacon->module);
    json_decref(beacon->given);
    json_decref(beacon->list);
    json_decref(beacon->config);
    json_decref(beacon->context);
    json_decref(beacon->seen);
    json_decref(beacon->merged);
    free(beacon);
}

beacons_t *
beacons_new(const beacons_env_t *env)
{
    beacons_t *self = xcalloc(1, sizeof(*self));
    self->env = *env;
    return self;
}

void
beacons_destroy(beacons_t **self_p)
{
    beacons_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    for (size_t i = 0; i < self->n; i++)
        beacon_free(self, self->items[i]);
    free(self->items);
    free(self);
}

/* NEW beacon of a configuration; one that can't be used is logged, and never looks. */
static beacon_t *
beacon_make(const beacons_t *self, const char *name, json_t *given, int64_t now_ms)
{
    beacon_t *beacon = xcalloc(1, sizeof(*beacon));
    beacon->name = xstrdup(name);
    beacon->module = xstrdup(beacon_module(name, given));
    /* Changes are made in place, and a beacon outlives the configuration that it was made of: it shares no part
     * with it. */
    beacon->given = json_deep_copy(given);
    beacon->row = self->env.row(self->env.cookie, beacon->module);
    beacon->context = json_object();
    beacon->rate = (rate_t) RATE(LIMIT_BEACON_RATE, LIMIT_BEACON_BURST);
    AUTO_FREE char *why = beacon_validate(beacon->row, beacon->module, given);
    if (why != NULL) {
        log_error("Beacon %s configuration invalid, not running.\n%s", name, why);
        beacon->list = json_array();
        beacon->config = json_object();
        return beacon;
    }

    json_t *interval = beacon_member(given, "interval");
    double every_s = json_number_value(interval);
    if (every_s <= 0)
        every_s = beacon->row != NULL ? beacon->row->every_s : 1;
    beacon->valid = true;
    beacon->list = beacon_trimmed(beacon->given, beacon->row);
    beacon->config = beacon_dict(beacon->list);
    beacon->every_ms = clock_us_of(every_s) / 1000;
    beacon->run_once = value_truthy(beacon_member(given, "run_once"));
    beacon->quiet_in_states = value_truthy(beacon_member(given, "disable_during_state_run"));
    beacon->edges = beacon->row != NULL && !beacon->row->edges &&
                    value_truthy(beacon_member(given, "onchangeonly"));
    beacon->due_ms = now_ms;
    return beacon;
}

void
beacons_configure(beacons_t *self, const json_t *own, const json_t *pillar, int64_t now_ms)
{
    json_auto_t *all = beacons_merge(own, pillar);
    json_t *enabled = value_get(all, "enabled"), *given;
    const char *name;
    size_t n = 0;
    bool off = enabled != NULL && !value_truthy(enabled);
    beacon_t **items = xcalloc(json_object_size(all) + 1, sizeof(*items));
    json_object_foreach (all, name, given) {
        json_t *on = beacon_member(given, "enabled");
        if (off || str_eq(name, "enabled") || (on != NULL && !value_truthy(on)))
            continue;
        /* A beacon of the same name and configuration goes on as it is: with its time and what it saw. */
        beacon_t *kept = NULL;
        for (size_t i = 0; i < self->n && kept == NULL; i++)
            if (self->items[i] != NULL && str_eq(self->items[i]->name, name) &&
                json_equal(self->items[i]->given, given))
                kept = STEAL(self->items[i]);
        items[n++] = kept != NULL ? kept : beacon_make(self, name, given, now_ms);
    }

    for (size_t i = 0; i < self->n; i++)
        if (self->items[i] != NULL)
            beacon_free(self, self->items[i]);
    free(self->items);
    self->items = items;
    self->n = n;
}

size_t
beacons_count(const beacons_t *self)
{
    return self->n;
}

beacon_t *
beacons_at(const beacons_t *self, size_t i)
{
    return self->items[i];
}

beacon_t *
beacons_find(const beacons_t *self, const char *name)
{
    for (size_t i = 0; i < self->n; i++)
        if (str_eq(self->items[i]->name, name))
            return self->items[i];
    return NULL;
}

/* ---- the clock ---------------------------------------------------------------------------------------- */

/* The earlier of two times, 0 meaning none. */
static int64_t
beacon_sooner(int64_t a, int64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

int64_t
beacons_next_ms(const beacons_t *self)
{
    int64_t next = 0;
    for (size_t i = 0; i < self->n; i++)
        if (self->items[i]->valid)
            next = beacon_sooner(next, beacon_sooner(self->items[i]->due_ms, self->items[i]->merged_ms));
    return next;
}

/* The one that is due longest, so that a busy one starves no other. A beacon with a descriptor is not due
 * again by time: beacon_readable() wakes it. */
beacon_t *
beacons_due(beacons_t *self, int64_t now_ms)
{
    beacon_t *first = NULL;
    for (size_t i = 0; i < self->n; i++) {
        beacon_t *beacon = self->items[i];
        bool due = beacon->valid && beacon->due_ms != 0 && beacon->due_ms <= now_ms;
        if (due && (first == NULL || beacon->due_ms < first->due_ms))
            first = beacon;
    }
    if (first == NULL)
        return NULL;
    first->last_ms = now_ms;
    first->due_ms = first->row != NULL && first->row->open != NULL ? 0 : now_ms + first->every_ms;
    return first;
}

/* Not before its interval is over, or a moment without one: what changes all the time would keep the minion busy,
 * with a look for each change. */
void
beacon_readable(beacon_t *self, int64_t now_ms)
{
    int64_t when = self->last_ms + (self->every_ms > PACE_MS ? self->every_ms : PACE_MS);
    self->due_ms = when > now_ms ? when : now_ms;
}
