/* driver.h - drivers of stores that are built in: a file and a row of drivers.def each.
 *
 * Layer      plugins/lib/sdb, private to it
 * Threads    as the context
 * Ownership  arguments are BORROWED, results NEW
 * Errors     NULL with *err, or with an exception raised
 * Tests      tests/t/7335-sdb.bats
 */
#ifndef PLUGINS_LIB_SDB_DRIVER_H
#define PLUGINS_LIB_SDB_DRIVER_H

#include "common/py/py.h"
#include "salt/plugin.h"

/* `profile` is the option of the address, `key` what follows it. A value that is not there is None. */
typedef py_t *sdb_get_fn(call_ctx_t *ctx, py_t *profile, const char *key, fail_t *err);
typedef py_t *sdb_set_fn(call_ctx_t *ctx, py_t *profile, const char *key, py_t *value, fail_t *err);

typedef struct sdb_driver {
    const char *name;
    sdb_get_fn *get, *delete; /* NULL: the driver has no such function */
    sdb_set_fn *set;
} sdb_driver_t;

#define DRIVER(name) extern const sdb_driver_t sdb_##name;
#include "plugins/lib/sdb/drivers.def"
#undef DRIVER

#endif
