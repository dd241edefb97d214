/* grains_plan.h - what grains.set would write for a key, which may be inside others, and why it would not.
 *
 * Layer      plugins/lib/salt
 * Ownership  arguments are BORROWED
 * Tests      tests/cases/exec/grains.set.json, tests/cases/state/grains.*.json
 */
#ifndef PLUGINS_LIB_SALT_GRAINS_PLAN_H
#define PLUGINS_LIB_SALT_GRAINS_PLAN_H

#include "salt/plugin.h"

typedef struct grains_setting {
    const char *delim;
    bool force;       /* write over mappings and lists too */
    bool destructive; /* None removes the key */
} grains_setting_t;

typedef enum grains_plan {
    GRAINS_KEPT,    /* the grain has that value */
    GRAINS_REFUSED, /* *ret_why says why */
    GRAINS_CHANGED  /* *ret_key becomes *ret_value */
} grains_plan_t;

/* Looks at this job's grains and changes nothing. The results of each answer are NEW, the others untouched. */
grains_plan_t grains_plan(call_ctx_t *ctx, const char *path, json_t *value, const grains_setting_t *how,
                          char **ret_key, json_t **ret_value, char **ret_why);

/* Cuts `key` at its last delimiter and returns what follows, or NULL. */
char *grains_cut_last(char *key, const char *delim);

#endif
