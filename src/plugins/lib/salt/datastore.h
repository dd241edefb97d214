/* datastore.h - what modules keep on this minion between jobs: the module `data`, and the mine without a
 * master.
 *
 * Layer      plugins/lib/salt
 * Ownership  said per function
 * Errors     a negative errno with *err
 * Tests      tests/cases/exec/data.*.json, mine.*.json
 */
#ifndef PLUGINS_LIB_SALT_DATASTORE_H
#define PLUGINS_LIB_SALT_DATASTORE_H

#include "salt/plugin.h"

/* NEW object; empty when nothing was ever kept, or when what was kept makes no sense. NULL when it can't
 * be read. */
json_t *datastore_load(call_ctx_t *ctx, fail_t *err);
/* Replaces all of it. `data` BORROWED object. */
int datastore_save(call_ctx_t *ctx, json_t *data, fail_t *err);
/* Sets one key. `value` BORROWED. */
int datastore_set(call_ctx_t *ctx, const char *key, json_t *value, fail_t *err);
int datastore_clear(call_ctx_t *ctx, fail_t *err);

#endif
