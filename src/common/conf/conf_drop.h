/* conf_drop.h - files that a minion writes beside its configuration, in the folder of default_include.
 *
 * Layer      common/conf
 * Threads    any
 * Ownership  said per function
 * Tests      tests/cases/exec/schedule.*.json, beacons.save.json
 */
#ifndef COMMON_CONF_CONF_DROP_H
#define COMMON_CONF_CONF_DROP_H

#include "salt/base.h"

/* NEW path of such a file. `opts`: conf_file and default_include. */
char *conf_drop_path(const json_t *opts, const char *name);
/* Replaces it, with its folder where that is missing; only its owner may read it, since options may hold
 * secrets. */
int conf_drop_write(const char *path, const char *text, fail_t *err);

#endif
