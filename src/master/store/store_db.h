/* store_db.h - open the store's database file: create its tables, upgrade and check it, and move it aside
 * when damaged.
 *
 * Layer      master; included by store*.c only
 * Threads    a connection belongs to one thread
 * Errors     negative errno; -EUCLEAN: the file is damaged; -EBADMSG: the row itself can't be stored, so no
 *            retry helps. The text names the file and what to do
 * Tests      tests/unit/master/test_store.c
 */
#ifndef MASTER_STORE_STORE_DB_H
#define MASTER_STORE_STORE_DB_H

#include <sqlite3.h>

#include "salt/base.h"

#define DB_INCREMENTAL 2 /* value of "PRAGMA auto_vacuum" with which free pages can be returned */

/* Open the writer's connection and create missing tables. A damaged file is moved aside and a new one begun;
 * *ret_notice (NEW, else NULL) says so. */
int db_open_writer(const char *path, sqlite3 **ret_db, char **ret_notice, fail_t *err);
/* The same without moving anything: damage is an error. Also for backups. */
int db_open_file(const char *path, sqlite3 **ret_db, fail_t *err);
/* The format of a database of ours; -EEXIST: another program's; -EPROTO: a newer master's. */
int db_format(sqlite3 *db, const char *path, int *ret_version, fail_t *err);
/* A connection that can't change rows. */
int db_open_reader(const char *path, sqlite3 **ret_db, fail_t *err);
/* Move `path` with its -wal and -shm aside and begin a new file that records when (STORE_REPLACED).
 * *ret_notice NEW. If the process dies meanwhile, the next db_open_writer finishes it. */
int db_set_aside(const char *path, const char *why, char **ret_notice, fail_t *err);
/* Record SQLite's last error on `db` (may be NULL) with advice; returns its errno, negative. */
int db_fail(sqlite3 *db, const char *path, fail_t *err);
int db_exec(sqlite3 *db, const char *path, const char *sql, fail_t *err);
/* A statement that is kept for the connection's life; sqlite3_finalize it before the connection is closed. */
int db_prepare(sqlite3 *db, const char *path, const char *sql, sqlite3_stmt **ret_stmt, fail_t *err);
/* Run a statement that changes rows, and reset it: the number of rows, or a negative errno. */
int db_run(sqlite3 *db, const char *path, sqlite3_stmt *stmt, fail_t *err);
/* Bind `text` without copying: it must live until the statement has run. After a failure the parameter is
 * NULL and the statement must not run. */
int db_bind_text(sqlite3 *db, const char *path, sqlite3_stmt *stmt, int at, const char *text, fail_t *err);
/* The text in a query's first row, `arg` (may be NULL) being its ?1: NEW, or NULL without a row. */
int db_text(sqlite3 *db, const char *path, const char *sql, const char *arg, char **ret_text, fail_t *err);
/* The integer in a query's first row. */
int db_int(sqlite3 *db, const char *path, const char *sql, int *ret_value, fail_t *err);

#endif
