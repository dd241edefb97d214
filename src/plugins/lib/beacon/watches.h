/* watches.h - watched files and folders: inotify(7) with folders below, those that are made later, and paths
 * that are not there yet.
 *
 * Layer      plugins/lib/beacon
 * Threads    one
 * Ownership  said per function
 * Errors     a negative errno with *err; a path that can't be watched is logged
 * Tests      tests/unit/plugins/test_beacon_cases.c
 */
#ifndef PLUGINS_LIB_BEACON_WATCHES_H
#define PLUGINS_LIB_BEACON_WATCHES_H

#include <sys/inotify.h>

#include "salt/base.h"

typedef struct watches watches_t;

typedef struct watch_spec {
    const char *path;
    uint32_t mask;          /* IN_... */
    bool recurse;           /* folders below, too */
    bool auto_add;          /* and those that are made in it later */
    const json_t *excludes; /* texts: regular expressions of paths that are not watched; NULL: none */
} watch_spec_t;

/* What happened: `name` is "" for the watched path itself. `root`: the number of the spec. */
typedef struct watch_event {
    size_t root;
    const char *path, *name;
    uint32_t mask, cookie;
} watch_event_t;
typedef void watch_fn(void *cookie, const watch_event_t *event);

watches_t *watches_new(fail_t *err); /* NEW, or NULL with *err */
void watches_destroy(watches_t **self_p);
int watches_fd(const watches_t *self);
/* Watches a path, now or when it is there. Specs are numbered from 0. */
void watches_add(watches_t *self, const watch_spec_t *spec);
/* The path of a spec leads elsewhere now: watch it anew. */
void watches_again(watches_t *self, size_t root);
/* Calls `fn` for what has happened, at most LIMIT_BEACON_READ bytes of it, and goes on with the folders that
 * are not watched yet. */
int watches_read(watches_t *self, watch_fn *fn, void *cookie, fail_t *err);
/* beacon_row_t's again_ms. */
int watches_again_ms(const watches_t *self);

#endif
