/* grainsid.h - the grain `id`: whose grains they are. It is the id that belongs to the minion's key, whatever
 * a configuration, a file or a message says; every other grain is what the minion claims.
 *
 * Layer      common/base
 * Threads    any
 * Tests      tests/unit/common/test_base.c, tests/museum/identity.bats
 */
#ifndef COMMON_BASE_GRAINSID_H
#define COMMON_BASE_GRAINSID_H

#include "salt/value.h"

/* Whether `grains` say that they are of `id`. */
bool grains_are_of(const json_t *grains, const char *id);
/* From now on they do: `grains` is an object, changed in place. */
void grains_set_id(json_t *grains, const char *id);

#endif
