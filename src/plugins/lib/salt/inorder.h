/* inorder.h - values with their keys in order, as PyYAML writes dictionaries.
 *
 * Layer      plugins/lib/salt
 * Threads    any
 * Tests      tests/cases/exec/schedule.list.json, beacons.list.json
 */
#ifndef PLUGINS_LIB_SALT_INORDER_H
#define PLUGINS_LIB_SALT_INORDER_H

#include "salt/base.h"

/* NEW value, objects at every depth with sorted keys. */
json_t *inorder(const json_t *v);

#endif
