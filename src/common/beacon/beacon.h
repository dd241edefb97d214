/* beacon.h - the engine of beacons: what is configured, when each looks, and what of its events is fired.
 * Pure: whoever owns it looks, and fires.
 *
 * Configuration is {NAME: [{key: value}, ...] or {key: value, ...}}, as in Salt; the minion's wins over the
 * pillar's. Keys of the engine in it: enabled, interval, disable_during_state_run, run_once, beacon_module,
 * and onchangeonly for beacons that have none of their own.
 *
 * Layer      common/beacon
 * Threads    one
 * Ownership  said per function
 * Tests      tests/unit/common/test_beacon.c
 */
#ifndef COMMON_BEACON_BEACON_H
#define COMMON_BEACON_BEACON_H

#include "common/base/rate.h"
#include "salt/plugin.h"

/* A configured beacon. The first part is the configuration; `work` belongs to whoever looks. */
typedef struct beacon {
    char *name, *module;     /* owned */
    json_t *given;           /* owned: as configured */
    json_t *list, *config;   /* owned: without the engine's keys, as look and validate get it */
    const beacon_row_t *row; /* NULL: not built in */
    bool valid, run_once, quiet_in_states, edges;
    int64_t every_ms; /* 0: when its descriptor is readable */
    int64_t due_ms;   /* monotonic; 0: none */
    int64_t last_ms;  /* monotonic: its last look; 0: none yet */
    json_t *context;  /* owned */
    json_t *seen;     /* owned object: keys of the last look's events, for onchangeonly; NULL: no look yet */
    rate_t rate;
    json_t *merged; /* owned {tag: count}: events that were too many; NULL: none */
    size_t n_merged;
    int64_t merged_ms; /* monotonic: when they are told */
    void *work;        /* the owner's, which its `gone` frees */
} beacon_t;

typedef struct beacons beacons_t;

typedef struct beacons_env {
    /* BORROWED row of a built-in module; NULL: there is none. */
    const beacon_row_t *(*row)(void *cookie, const char *module);
    void (*gone)(void *cookie,
                 beacon_t *beacon); /* it is about to be freed: its configuration has gone or changed */
    void *cookie;
} beacons_env_t;

beacons_t *beacons_new(const beacons_env_t *env); /* NEW */
void beacons_destroy(beacons_t **self_p);

/* Takes the minion's and the pillar's beacons, either may be NULL. One whose configuration is as before goes
 * on with its state. What can't be used is logged. */
void beacons_configure(beacons_t *self, const json_t *own, const json_t *pillar, int64_t now_ms);
/* NEW {NAME: configuration}: the pillar's, then the minion's own over it. */
json_t *beacons_merge(const json_t *own, const json_t *pillar);
size_t beacons_count(const beacons_t *self);
beacon_t *beacons_at(const beacons_t *self, size_t i);           /* BORROWED */
beacon_t *beacons_find(const beacons_t *self, const char *name); /* BORROWED, or NULL */

/* NEW text: why a configuration can't be used, in Salt's words; NULL: it can. `row` NULL: only its shape is
 * looked at. */
char *beacon_validate(const beacon_row_t *row, const char *module, const json_t *given);
/* The module that a configuration is for. BORROWED from either. */
const char *beacon_module(const char *name, const json_t *given);
/* NEW list of one-key objects of a list or an object; NULL for other values. null is []. */
json_t *beacon_list(const json_t *given);
/* NEW object of such a list. */
json_t *beacon_dict(const json_t *list);

/* When something is due: a look, or news of merged events. 0: nothing. */
int64_t beacons_next_ms(const beacons_t *self);
/* BORROWED: the next beacon whose look is due, which counts as begun; NULL: none. */
beacon_t *beacons_due(beacons_t *self, int64_t now_ms);
/* Its descriptor is readable: it is due at once, or when its interval is over. */
void beacon_readable(beacon_t *self, int64_t now_ms);

/* NEW [{tag, data}] of what a look found (array of data, TAKEN): with the id, without what onchangeonly
 * leaves out, and no more than LIMIT_BEACON_BURST at once; the rest is counted. Repeats are left out where the row
 * waits on a descriptor (`open`). */
json_t *beacon_events(beacon_t *self, const char *id, json_t *found, int64_t now_ms);
/* NEW {tag, data} that tells how many events were merged, when it is time for it; NULL: nothing to tell. */
json_t *beacon_merged(beacon_t *self, const char *id, int64_t now_ms);
/* Nothing had room for this event of the beacon: it counts as merged, and one that tells of merged events is
 * told again later. */
void beacon_unsent(beacon_t *self, const char *id, const json_t *event, int64_t now_ms);
/* NEW {tag, data} of a failed look. */
json_t *beacon_error(const beacon_t *self, const char *id, const char *text);

/* Changes `own`, the minion's beacons: add, modify, delete, enable, disable, enable_beacon, disable_beacon,
 * reset, as `do` of {do, name, beacon_data} says. NEW {complete, comment, beacons}; NULL: there is no such
 * change. *ret_event: Salt's event. */
json_t *beacons_change(json_t *own, const json_t *pillar, const json_t *request, const char **ret_event);

#endif
