/* pgconn.h - psql, as the functions of `postgres` run it: one statement, or rows of a query.
 *
 * The password goes by the environment of that one psql. A statement with a password in it goes by its
 * standard input, and errors do not quote it.
 *
 * Layer      plugins/lib/database
 * Threads    one at a time
 * Ownership  results are NEW; texts of the arguments are BORROWED
 * Errors     negative with *err when psql can't be run; that the server refuses is an
 *            answer, and in the log
 * Tests      tests/cases/exec/postgres.*.json, tests/t/4230-databases.bats
 */
#ifndef PLUGINS_LIB_DATABASE_PGCONN_H
#define PLUGINS_LIB_DATABASE_PGCONN_H

#include "common/host/prog.h"
#include "plugins/lib/database/pgtext.h"

typedef struct pgconn {
    call_ctx_t *ctx;
    const char *runas, *db;              /* BORROWED */
    char *user, *host, *port, *password; /* owned */
} pgconn_t;

/* Reads user, host, port, maintenance_db, password and runas of the arguments, and the options postgres.*
 * for what they leave out. */
void pgconn_of(pgconn_t *self, call_ctx_t *ctx, const json_t *args);
/* The same for functions of schemas: dbname, user (on the machine), db_user, db_password, db_host,
 * db_port. */
void pgconn_of_schema(pgconn_t *self, call_ctx_t *ctx, const json_t *args);
void pgconn_free(pgconn_t *self);
#define pgconn_auto_t __attribute__((cleanup(pgconn_free))) pgconn_t

/* Runs SQL: 1, 0 when the server refuses it, or negative with *err. `secret`: there is a password in it.
 * TAKES `sql`. */
int pgconn_run(pgconn_t *self, char *sql, bool secret, fail_t *err);
/* The same, as {"pid", "retcode", "stdout", "stderr"}; statements of which all or none are done. BORROWED
 * `sql`. */
json_t *pgconn_script(pgconn_t *self, const char *sql, fail_t *err);
/* The rows of a SELECT as objects of texts; none when the server refuses it. `write`: it changes
 * something. TAKES `sql`. */
json_t *pgconn_query(pgconn_t *self, char *sql, bool write, fail_t *err);
/* The server's version, "15.4 (Debian ...)"; "" when it does not answer. */
char *pgconn_version(pgconn_t *self, fail_t *err);

/* Why the last psql of the job found no server. NEW; NULL: it found one. */
char *pg_error_take(call_ctx_t *ctx);
/* An option, as text. NEW; NULL: not set, or empty. */
char *pg_option(call_ctx_t *ctx, const char *name);
/* The path of a program of PostgreSQL, on PATH or in postgres.bins_dir. NEW; NULL: it is not there. */
char *pg_program(call_ctx_t *ctx, const char *name);
/* The reason why the module can't be used: there is no psql. */
const char *pg_missing(call_ctx_t *ctx);
/* The same for states, in Salt's words. */
const char *pg_states_missing(call_ctx_t *ctx);
/* Milliseconds that a program may take: the option postgres.timeout. */
int pg_timeout_ms(call_ctx_t *ctx);

#endif
