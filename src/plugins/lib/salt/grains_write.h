/* grains_write.h - change what is written in CONFDIR/grains, and what this job sees of it.
 *
 * Layer      plugins/lib/salt
 * Threads    one at a time; two minions' processes that write at once: the later one wins, whole
 * Ownership  values are BORROWED
 * Errors     FAIL_COMMAND when the file cannot be written, or the grain is `id`
 * Tests      tests/cases/exec/grains.*.json
 */
#ifndef PLUGINS_LIB_SALT_GRAINS_WRITE_H
#define PLUGINS_LIB_SALT_GRAINS_WRITE_H

#include "salt/plugin.h"

/* The grain `id` is refused, but for its removal from the file.
 * grains.setvals: lays `grains` over the file and over ctx_grains; a None is a key to remove when
 * `destructive`. Then the minion is asked to gather its grains again. *ret_value is NEW: the grains, or a
 * text when the file is not YAML. */
int grains_write(call_ctx_t *ctx, json_t *grains, bool destructive, bool refresh_pillar, json_t **ret_value,
                 fail_t *err);

#endif
