/* modbeacon.h - what the argument `beacon` of a state does: a beacon that watches what the state manages.
 *
 * Layer      plugins/lib/salt
 * Threads    any
 * Tests      tests/cases/state/{file,service,pkg}.mod_beacon.json
 */
#ifndef PLUGINS_LIB_SALT_MODBEACON_H
#define PLUGINS_LIB_SALT_MODBEACON_H

#include "salt/state.h"

typedef struct modbeacon {
    const char *state, *beacon; /* modules */
    const char *const *funs;    /* of the state, which it works with; ends with NULL */
    const char *refusal;        /* the end of the sentence about the others */
} modbeacon_t;

/* Rows of mod_beacon's arguments. */
#define MODBEACON_ARGS                                                                                       \
    ARG("name", ARG_STR, ARG_REQUIRED, "What the state manages"),                                            \
        ARG("sfun", ARG_STR, "null", "The function whose beacon this is"),                                   \
        ARG("beacon", ARG_ANY, "null", "Whether a beacon is wanted"),                                        \
        ARG("beacon_data", ARG_ANY, "{}", "Its configuration"),                                              \
        ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Without effect: the state's other arguments")

/* True when a beacon is wanted; else *ret_value is the state's return. */
bool modbeacon_wanted(const modbeacon_t *how, const json_t *args, json_t **ret_value);
/* beacon.present of a beacon "beacon_MODULE_NAME", with these keys. TAKES `keys`. */
int modbeacon_present(call_ctx_t *ctx, const modbeacon_t *how, const json_t *args, json_t *keys,
                      json_t **ret_value, fail_t *err);
/* BORROWED member of beacon_data, or `dflt`, which is TAKEN and kept by nobody else: NEW. */
json_t *modbeacon_data(const json_t *args, const char *key, json_t *dflt);

#endif
