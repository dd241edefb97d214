/* grainsid.h - the grain `id`, which names the owner of grains. It is the id of the minion's key, whatever a
 * configuration, a file or a message says; all other grains are claims of the minion.
 *
 * Layer      common/base
 * Threads    any
 * Tests      tests/unit/common/test_base.c, tests/museum/identity.bats
 */
#ifndef COMMON_BASE_GRAINSID_H
#define COMMON_BASE_GRAINSID_H

#include "salt/value.h"

/* True when `grains` name `id` as their owner. */
bool grains_are_of(const json_t *grains, const char *id);
/* Makes `id` the owner of `grains`, an object, which is changed in place. */
void grains_set_id(json_t *grains, const char *id);

#endif
