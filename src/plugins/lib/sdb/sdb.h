/* sdb.h - values that stand in a store of secrets: "sdb://PROFILE/KEY". The profile is an option of the
 * configuration, or of the pillar, and names the driver: a row of drivers.def, or a file in Python, a user's in _sdb,
 * which precedes a row of its name, or one of Salt's own.
 *
 * Layer      plugins/lib/sdb
 * Threads    a context belongs to one thread
 * Ownership  results are NEW
 * Errors     NULL with *err: the driver is not there, or failed
 * Tests      tests/t/7335-sdb.bats, tests/t/3090-python-kinds.bats
 */
#ifndef PLUGINS_LIB_SDB_SDB_H
#define PLUGINS_LIB_SDB_SDB_H

#include "common/py/py.h"
#include "salt/plugin.h"

/* The value at the address. What is none, or whose profile is not configured, is the result itself; `strict`:
 * an error. */
py_t *sdb_get(call_ctx_t *ctx, py_t *uri, bool strict, fail_t *err);
/* Call the driver's function `fun` ("set", "delete") with the key and, unless it is NULL, the value. False
 * for what is no address of a configured profile. */
py_t *sdb_change(call_ctx_t *ctx, const char *fun, py_t *uri, py_t *value, fail_t *err);

#endif
