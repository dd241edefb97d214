/* run_listen.c - chunks that run after all others: `listen`, which is a watch at the end, and beacons.
 *
 * For each listener whose target changed, a copy of its chunk with fun = mod_watch is made, without
 * requisites. The index of run_index.c resolves the names. */
#include "common/base/str.h"
#include "common/state/run_int.h"
#include "salt/state.h"

/* Requisites that are removed from a listener's copy: it runs by itself. */
static const char *const requisites[] = { "onchanges",  "onchanges_any", "onfail",  "onfail_any",
                                          "onfail_all", "onfail_stop",   "prereq",  "prerequired",
                                          "watch",      "watch_any",     "require", "require_any",
                                          "listen" };

typedef struct listening {
    run_t *run;
    json_t *out, *errors;
} listening_t;

static const steps_t *
run_listen_find(const run_t *run, const char *state, const char *name)
{
    AUTO_FREE char *key = xasprintf("%s\x1f%s", state, name);

    return map_get(run->index, key);
}

/* A listener or target that does not exist is a failed return of its own, under the tag that Salt makes up
 * for it; the run goes on. */
static void
run_listen_not_there(const listening_t *self, const char *state, const char *name)
{
    AUTO_FREE char *tag = xasprintf("Listen_Error_|-listen_%s_|-listen_%s_|-Listen_Error", name, state);

    json_object_set_new(self->errors, tag,
                        json_pack("{s:o, s:o, s:b, s:{}}", "comment",
                                  value_fmt("Referenced state %s: %s does not exist", state, name), "name",
                                  value_fmt("listen_%s:%s", state, name), "result", 0, "changes"));
}

/* Make `state`: `name` listen to `to_state`: `to_name`. */
static void
run_listen_to(const listening_t *self, const char *state, const char *name, const char *to_state,
              const char *to_name)
{
    const steps_t *to = run_listen_find(self->run, to_state, to_name), *listeners;

    if (to == NULL) {
        run_listen_not_there(self, to_state, to_name);
        return;
    }
    /* Only a change makes the listeners act. */
    bool changed = false;
    for (size_t i = 0; i < to->n && !changed; i++) {
        const slot_t *slot = self->run->steps[to->v[i]].slot;
        changed = slot->ret != NULL && run_changed(self->run, slot, slot->ret);
    }
    if (!changed)
        return;
    listeners = run_listen_find(self->run, state, name);
    if (listeners == NULL) {
        run_listen_not_there(self, state, name);
    } else {
        /* Appends a chunk for each listener that runs mod_watch. It has no requisites, as those were met
         * by the listener itself. */
        for (size_t i = 0; i < listeners->n; i++) {
            json_t *low = json_copy(self->run->steps[listeners->v[i]].low);
            json_object_set(low, "sfun", value_get(low, "fun"));
            json_object_set_new(low, "fun", json_string("mod_watch"));
            json_object_set_new(low, "__id__", value_fmt("listener_%s", value_str(low, "__id__", "")));
            for (size_t k = 0; k < NELEMS(requisites); k++)
                json_object_del(low, requisites[k]);
            json_array_append_new(self->out, low);
        }
    }
}

/* Handles a chunk's `listen`: each entry makes the chunk a listener of another one. */
static void
of_listen(const listening_t *self, const json_t *low)
{
    json_t *entry, *to;
    const char *key;
    size_t i;

    json_array_foreach (value_get(low, "listen"), i, entry) {
        /* A bare ID or name may be of any state; each match counts. */
        const char *name = json_string_value(entry);
        AUTO_FREE char *bare = name != NULL ? xasprintf("\x1f%s", name) : NULL;
        const steps_t *all = bare != NULL ? map_get(self->run->index, bare) : NULL;
        for (size_t k = 0; all != NULL && k < all->n; k++)
            run_listen_to(self, value_str(low, "state", ""), value_str(low, "__id__", ""),
                          value_str(self->run->steps[all->v[k]].low, "state", ""), name);
        json_object_foreach (entry, key, to) {
            if (json_is_string(to))
                run_listen_to(self, value_str(low, "state", ""), value_str(low, "__id__", ""), key,
                              json_string_value(to));
        }
    }
}

/* Handles a chunk's `listen_in`, which makes other chunks its listeners. */
static void
of_listen_in(const listening_t *self, const json_t *low)
{
    json_t *entry, *who;
    const char *key;
    size_t i;

    json_array_foreach (value_get(low, "listen_in"), i, entry) {
        /* Every state that an ID or name alone names listens to the chunk. */
        const char *name = json_string_value(entry);
        AUTO_FREE char *bare = name != NULL ? xasprintf("\x1f%s", name) : NULL;
        const steps_t *all = bare != NULL ? map_get(self->run->index, bare) : NULL;
        if (bare != NULL && all == NULL)
            run_listen_not_there(self, "id", name);
        for (size_t k = 0; all != NULL && k < all->n; k++) {
            const json_t *from = self->run->steps[all->v[k]].low;
            run_listen_to(self, value_str(from, "state", ""), value_str(from, "__id__", ""),
                          value_str(low, "state", ""), value_str(low, "__id__", ""));
        }
        json_object_foreach (entry, key, who) {
            if (json_is_string(who))
                run_listen_to(self, key, json_string_value(who), value_str(low, "state", ""),
                              value_str(low, "__id__", ""));
        }
    }
}

json_t *
run_listeners(run_t *run, json_t *errors)
{
    listening_t self = { run, json_array(), errors };

    for (size_t i = 0; i < run->n; i++) {
        of_listen(&self, run->steps[i].low);
        of_listen_in(&self, run->steps[i].low);
    }
    return self.out;
}

/* The option `beacon` of a state: afterwards its module's mod_beacon sets up a beacon that watches the same
 * thing. */
json_t *
run_beacons(const json_t *chunks)
{
    json_t *out = json_array(), *chunk;
    size_t i;

    json_array_foreach ((json_t *) chunks, i, chunk) {
        if (value_get(chunk, "beacon") == NULL)
            continue;
        json_t *low = json_copy(chunk);
        json_object_set(low, "sfun", value_get(chunk, "fun"));
        json_object_set_new(low, "fun", json_string("mod_beacon"));
        json_object_set_new(low, "__id__", value_fmt("beacon_%s", value_str(chunk, "__id__", "")));
        json_array_append_new(out, low);
    }
    return out;
}
