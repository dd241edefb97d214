/* rules_int.h - internals shared by rules.c (configuration) and rules_fire.c (events).
 *
 * Layer      common/reactor
 * Threads    one at a time
 * Tests      tests/unit/common/test_reactor.c
 */
#ifndef COMMON_REACTOR_RULES_INT_H
#define COMMON_REACTOR_RULES_INT_H

#include "common/reactor/rules.h"

typedef enum when { WHEN_TAG, WHEN_ANY, WHEN_ALL, WHEN_NOT_ALL } when_t;
typedef enum throttle { THROTTLE_NONE, THROTTLE_WITHIN, THROTTLE_AFTER } throttle_t;

typedef struct cond {
    char *tag;     /* glob */
    json_t *match; /* {path: value or values}; NULL: any */
} cond_t;

typedef struct rule {
    char *key; /* "": Salt's form */
    when_t when;
    cond_t *conds;
    size_t n_conds;
    json_t *files;  /* [text] */
    json_t *groups; /* {group: its state}; NULL for Salt's form */
    size_t bytes;   /* upper bound of their size since the last count */
    json_t *by;     /* [path] of fields; NULL: all events are one group */
    int64_t within_us;
    throttle_t throttle;
    int64_t throttle_us;
} rule_t;

struct rules {
    rule_t *rule;
    size_t n;
    int64_t next_due; /* 0: none */
};

bool cond_fits(const cond_t *cond, const char *tag, const json_t *data);

#endif
