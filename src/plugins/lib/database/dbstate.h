/* dbstate.h - shared by the states of databases: calls of the module's functions with the access arguments
 * of the state.
 *
 * Layer      plugins/lib/database
 * Threads    one at a time
 * Ownership  results are NEW; `more`, as in subcall.h
 * Errors     NULL with *err; what a server said is in the context of the job, for MySQL
 * Tests      tests/cases/state/mysql_*.json, tests/cases/state/postgres_*.json
 */
#ifndef PLUGINS_LIB_DATABASE_DBSTATE_H
#define PLUGINS_LIB_DATABASE_DBSTATE_H

#include "salt/plugin.h"
#include "salt/state.h"

typedef struct dbstate {
    call_ctx_t *ctx;
    json_t *args, *ret; /* BORROWED */
    fail_t *err;
    json_t *access; /* owned: arguments that every function gets */
} dbstate_t;

/* With connection_* of the state's keywords; each function's other arguments follow `fmt` as in subcall.h. */
void dbstate_mysql(dbstate_t *self, call_ctx_t *ctx, json_t *args, json_t *ret, fail_t *err);
/* With maintenance_db, and user, db_user, db_password, db_host, db_port by the names that the functions of
 * `postgres` have: runas, user, password, host, port; or, for functions of schemas, by the state's. */
void dbstate_postgres(dbstate_t *self, call_ctx_t *ctx, json_t *args, json_t *ret, fail_t *err);
void dbstate_schema(dbstate_t *self, call_ctx_t *ctx, json_t *args, json_t *ret, fail_t *err);
/* Ends it with a function's result: a failure that is the world's becomes the state's comment. */
int dbstate_end(dbstate_t *self, int rc);

/* A function of the module. That the server of PostgreSQL can't be reached is an error, as nothing is
 * known then. */
json_t *dbstate_call(dbstate_t *self, const char *fun, const char *fmt, ...);
/* The truth of its answer: 1, 0, or negative with *err. */
int dbstate_ask(dbstate_t *self, const char *fun, const char *fmt, ...);
/* The same with a function's arguments as an object, which is BORROWED. */
int dbstate_ask_with(dbstate_t *self, const char *fun, const json_t *more);

/* Ends the state as failed with MySQL's error, if there is one: true. The comment is "TEXT (ERROR)"; NULL:
 * the error alone. */
bool dbstate_mysql_failed(dbstate_t *self, const char *fmt, ...) PRINTF(2, 3);

#endif
