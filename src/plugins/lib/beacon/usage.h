/* usage.h - limits in percent, and percents as psutil rounds them.
 *
 * Layer      plugins/lib/beacon
 * Threads    any
 * Tests      tests/cases/beacon
 */
#ifndef PLUGINS_LIB_BEACON_USAGE_H
#define PLUGINS_LIB_BEACON_USAGE_H

#include "salt/base.h"

/* 63, "63" or "63%". False for other values. */
bool usage_limit(const json_t *given, double *ret_limit);
/* Percent with one digit behind the point; 0 of nothing. */
double usage_percent(double used, double of);

/* For beacons with one limit, `percent`: NEW text why the configuration can't be used, or NULL. `module` is
 * for the text. */
char *usage_validate(const char *module, const json_t *config);
/* Adds {NAME: percent} to `events` when it is not below the limit. */
void usage_event(json_t *events, const json_t *config, const char *name, double percent);

#endif
