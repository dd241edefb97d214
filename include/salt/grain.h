/* grain.h - for the author of a plug-in that finds out grains: what it gets, and what it costs.
 *
 * Layer      any code may use it; part of salt/plugin.h
 * Threads    a function runs in one thread
 * Tests      tests/unit/plugins/test_grains.c
 */
#ifndef SALT_GRAIN_H
#define SALT_GRAIN_H

#include "salt/base.h"
#include "salt/value.h"

typedef enum grain_cost {
    GRAIN_CHEAP, /* reads files under /proc, /sys, /etc: gathered at start, under a millisecond */
    GRAIN_SLOW   /* runs programs or asks the network: gathered once in the background and cached on disk */
} grain_cost_t;

typedef struct grain_ctx {
    const char *root; /* "" except in tests: prefix of every path read */
    json_t *opts;     /* BORROWED configuration */
    json_t *grains;   /* BORROWED: results of earlier producers, which run in file name order */
} grain_ctx_t;

/* Adds this producer's keys to `out`. A failure loses only this producer's grains. */
typedef int grain_fn(grain_ctx_t *ctx, json_t *out, fail_t *err);

#endif
