/* store_db.h - the store's database file: opened, checked, given its tables, moved aside when damaged.
 *
 * Layer      master; included by store*.c only
 * Threads    a connection belongs to one thread
 * Errors     negative errno; -EUCLEAN says that the file is damaged, -EBADMSG that what was to be stored is at fault, so
 *            that no retry helps. The text names the file and what to do
 * Tests      tests/unit/master/test_store.c
 */
#ifndef MASTER_STORE_STORE_DB_H
#define MASTER_STORE_STORE_DB_H

#include <sqlite3.h>

#include "salt/base.h"

#define DB_INCREMENTAL 2 /* of "PRAGMA auto_vacuum": pages that are free can be given back */

/* The writer's connection, tables made if need be. A damaged file is moved aside; *ret_notice (NEW) then says
 * so. */
int db_open_writer(const char *path, sqlite3 **ret_db, char **ret_notice, fail_t *err);
/* The same of a file that is not damaged: what is wrong with it is the error. */
int db_open_file(const char *path, sqlite3 **ret_db, fail_t *err);
/* Which format ours has; -EEXIST: another program's; -EPROTO: a newer master's. */
int db_format(sqlite3 *db, const char *path, int *ret_version, fail_t *err);
/* A connection that can't change anything. */
int db_open_reader(const char *path, sqlite3 **ret_db, fail_t *err);
/* Move `path` and its -wal and -shm aside and begin a new one, which says when that was (STORE_REPLACED).
 * *ret_notice NEW. What is cut short is done by the next db_open_writer. */
int db_set_aside(const char *path, const char *why, char **ret_notice, fail_t *err);
/* Record SQLite's last failure on `db` with advice; returns the errno that stands for it. */
int db_fail(sqlite3 *db, const char *path, fail_t *err);
int db_exec(sqlite3 *db, const char *path, const char *sql, fail_t *err);
int db_prepare(sqlite3 *db, const char *path, const char *sql, sqlite3_stmt **ret_stmt, fail_t *err);
/* Run a statement that changes rows, and reset it: how many, or a negative errno. */
int db_run(sqlite3 *db, const char *path, sqlite3_stmt *stmt, fail_t *err);
/* `text` as a parameter, without a copy: until the statement has run. 0, or a negative errno: the parameter is
 * NULL then, and the statement must not run. */
int db_bind_text(sqlite3 *db, const char *path, sqlite3_stmt *stmt, int at, const char *text, fail_t *err);
/* The first text that a query answers, `arg` (may be NULL) being its ?1: NEW, or NULL when there is none. */
int db_text(sqlite3 *db, const char *path, const char *sql, const char *arg, char **ret_text, fail_t *err);
/* The number that a query answers. */
int db_int(sqlite3 *db, const char *path, const char *sql, int *ret_value, fail_t *err);

#endif
