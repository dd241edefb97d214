/* beacon.h - for the author of a plug-in that watches something: what a look gets, and what it costs.
 *
 * Layer      any code may use it; part of salt/plugin.h
 * Threads    the job server's, which a look must not keep waiting; with `calls` a child's
 * Ownership  everything in a look is BORROWED
 * Tests      tests/unit/plugins/test_beacon_cases.c, tests/cases/beacon
 */
#ifndef SALT_BEACON_H
#define SALT_BEACON_H

#include "salt/base.h"

struct call_ctx;

/* Input of a beacon's function when the beacon is due: its configuration, and what it kept of its last
 * time. */
typedef struct beacon_look {
    const char *root;     /* "" except in tests: prefix of the host's files */
    const char *name;     /* of the instance; the module's unless `beacon_module` says otherwise */
    json_t *list;         /* the configuration as a list of one-key objects, without the engine's keys */
    json_t *config;       /* the same as one object: later items win */
    json_t *opts;         /* the minion's configuration */
    json_t *context;      /* object of this instance alone, kept from look to look */
    json_t *events;       /* array, to append events to: data, whose "tag" becomes the end of the tag */
    void *own;            /* what open() returned; NULL without one */
    struct call_ctx *ctx; /* to call functions with; only with `calls` */
    int64_t mono_ms;      /* monotonic; 0 in a test that brings no clock */
} beacon_look_t;

typedef struct beacon_row {
    /* NEW text: why the configuration can't be used, in Salt's words; NULL: it can. That it is a list, and a
     * list of objects, is known already. */
    char *(*validate)(const json_t *list, const json_t *config);
    /* Negative with *err: the failure becomes an event. */
    int (*look)(beacon_look_t *look, fail_t *err);
    int every_s; /* seconds between looks when no `interval` is configured; with open(): 0, when there is something */
    bool calls; /* runs programs or functions, or may wait: looks in a child with a deadline */
    bool edges; /* has an `onchangeonly` of its own */
    const char *
        key; /* what tells events of one look apart for the engine's `onchangeonly`: a member; NULL: the tag */
    /* A descriptor that becomes readable when there is something to see; look() then takes it. NEW, or NULL
     * with *err. */
    void *(*open)(beacon_look_t *look, fail_t *err);
    int (*fd)(const void *own);
    /* `copied`: in a forked process, which frees its copies and leaves what belongs to the first one. */
    void (*close)(void *own, bool copied);
    /* Milliseconds until another look, whether the descriptor is readable by then or not: 0 when more waits
     * than one look took, after the other work of the process; -1, or NULL here: only when it is readable. */
    int (*again_ms)(const void *own);
} beacon_row_t;

#endif
