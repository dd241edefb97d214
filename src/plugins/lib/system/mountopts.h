/* mountopts.h - which options of a mount differ from those that it has: some are never shown by the kernel,
 * some under another name, some need no remount.
 *
 * Layer      plugins/lib/system
 * Threads    any
 * Ownership  arguments BORROWED, results NEW
 * Tests      tests/cases/state/mount.mounted.json
 */
#ifndef PLUGINS_LIB_SYSTEM_MOUNTOPTS_H
#define PLUGINS_LIB_SYSTEM_MOUNTOPTS_H

#include "salt/value.h"

/* The options of `opts` (list) that the mount `active` (mount.active's member) does not have. `args`: the
 * arguments of mount.mounted that widen what is looked over. */
json_t *mountopts_changed(const json_t *opts, const json_t *active, const json_t *args);
/* A list, or a text with commas, as a list; None as an empty one. */
json_t *mountopts_list(const json_t *opts);

#endif
