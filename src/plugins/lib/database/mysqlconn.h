/* mysqlconn.h - a connection to a MySQL or MariaDB server, as the functions of `mysql` use it.
 *
 * The client library, libmariadb or libmysqlclient, is loaded when the first connection is made. Values go
 * into a statement by the library's own escaping for the connection's character set, names by mysqltext.h.
 * The server's wish to read a local file is refused unless `client_flags` has local_files.
 *
 * Layer      plugins/lib/database
 * Threads    one at a time per connection
 * Ownership  connections: mysqlconn_destroy; results are the connection's until its next
 *            statement
 * Errors     "MySQL Error NUMBER: TEXT" in the context of the job ("mysql.error"), as Salt
 *            keeps it, and in the log
 * Source     MySQL's C API; the structures are those of libmariadb 3 and libmysqlclient 21
 * Tests      tests/cases/exec/mysql.*.json, tests/t/4230-databases.bats
 */
#ifndef PLUGINS_LIB_DATABASE_MYSQLCONN_H
#define PLUGINS_LIB_DATABASE_MYSQLCONN_H

#include "salt/plugin.h"

typedef struct mysqlconn mysqlconn_t;

/* The reason why no connection can be made at all: the library is missing. NULL: it is there. */
const char *mysqlconn_missing(call_ctx_t *ctx);

/* Connects by the connection_* arguments of `kwargs`, and by the options mysql.* for what they leave out;
 * a given connection_default_file leaves the options out. NEW; NULL with the error in the context. */
mysqlconn_t *mysqlconn_open(call_ctx_t *ctx, const json_t *kwargs);
void mysqlconn_destroy(mysqlconn_t **self_p);

/* Runs one statement. In `sql`, ? stands for a value, ~ for a name and $ for text that is SQL already:
 * each takes a `const char *`. 0, or -1 with the error in the context. */
int mysqlconn_run(mysqlconn_t *self, const char *sql, ...);
/* The same for a statement of the user, without any placeholder. */
int mysqlconn_run_text(mysqlconn_t *self, const char *sql);
/* The statement that follows has a password in it: an error's text does not show the statement. */
void mysqlconn_secret(mysqlconn_t *self);
/* A statement that is longer than the server takes fails here from now on, as error 1153: the server ends the
 * connection, and its transaction, with that error. 0, or -1 with the error in the context. */
int mysqlconn_bound(mysqlconn_t *self);
/* Every value of the next results is text or None, as mysql.query returns them. */
void mysqlconn_as_text(mysqlconn_t *self);

/* Of the last statement. BORROWED: rows as lists, names of columns; the number of rows it returned or
 * changed. */
json_t *mysqlconn_rows(const mysqlconn_t *self);
json_t *mysqlconn_columns(const mysqlconn_t *self);
json_int_t mysqlconn_count(const mysqlconn_t *self);
/* The rows as objects by the names of the columns. NEW array. */
json_t *mysqlconn_dicts(const mysqlconn_t *self);
/* A value of the first row. BORROWED; NULL: there is no row. */
json_t *mysqlconn_first(const mysqlconn_t *self, size_t column);

/* The server's version, "10.11.6-MariaDB-0+deb12u1", asked once. BORROWED; "" with the error in the
 * context. */
const char *mysqlconn_version(mysqlconn_t *self);

/* Sets the error, and takes it: NEW string, NULL when there is none. */
void mysql_error_set(call_ctx_t *ctx, const char *fmt, ...) PRINTF(2, 3);
json_t *mysql_error_take(call_ctx_t *ctx);
/* BORROWED; "" when there is none. */
const char *mysql_error_text(call_ctx_t *ctx);

#endif
