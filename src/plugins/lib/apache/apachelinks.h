/* apachelinks.h - the states of Debian's links for Apache: enabled and disabled sites, modules and parts of the
 * configuration, which differ in their words and functions alone.
 *
 * Layer      plugins/lib/apache
 * Tests      tests/cases/state/apache_site.*.json, apache_module.*.json, apache_conf.*.json
 */
#ifndef PLUGINS_LIB_APACHE_APACHELINKS_H
#define PLUGINS_LIB_APACHE_APACHELINKS_H

#include "salt/plugin.h"

/* One state, a row's `.data.ptr`. */
typedef struct apachelinks {
    const char *what;     /* "site" in comments */
    const char *check;    /* the function that tells whether it is enabled */
    const char *change;   /* the one that enables or disables it */
    const char *argument; /* of both */
    bool enables;
} apachelinks_t;

int apachelinks_state(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err);

#endif
