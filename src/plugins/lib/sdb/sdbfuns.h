/* sdbfuns.h - functions of the module `sdb` and of the runner of that name, with their arguments.
 *
 * Layer      plugins/lib/sdb
 * Threads    a context belongs to one thread
 * Ownership  results are NEW
 * Errors     NULL with *err
 * Tests      tests/t/7335-sdb.bats
 */
#ifndef PLUGINS_LIB_SDB_SDBFUNS_H
#define PLUGINS_LIB_SDB_SDBFUNS_H

#include "common/py/py.h"
#include "salt/plugin.h"

/* An unknown profile gives the address back, or with `strict` an error. */
py_t *sdb_fn_get(call_ctx_t *ctx, py_t *args, fail_t *err);
/* "set" or "delete" by the name of the row. */
py_t *sdb_fn_change(call_ctx_t *ctx, py_t *args, fail_t *err);
/* A value that is there is returned; else one is made, kept and returned. */
py_t *sdb_fn_hash(call_ctx_t *ctx, py_t *args, fail_t *err);

extern const arg_t sdb_get_args[], sdb_uri_args[], sdb_set_args[], sdb_hash_args[];

#endif
