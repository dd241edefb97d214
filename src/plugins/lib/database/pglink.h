/* pglink.h - a connection to a PostgreSQL server. The client library, libpq, is loaded when the first one is
 * made.
 *
 * Values are sent apart from the statement, as texts, so that no value is SQL. Each answer has a deadline.
 *
 * Layer      plugins/lib/database
 * Threads    one at a time per connection
 * Ownership  results are NEW
 * Errors     negative errno with the server's text: -EBADMSG when the server refuses the values themselves
 *            (SQLSTATE classes 22, 23 and 54), -EIO for whatever else it or the network says, -ETIMEDOUT. A
 *            connection that failed with another one than -EBADMSG may be broken: pglink_is_bad()
 * Source     libpq of PostgreSQL 14 and later
 * Tests      tests/t/5310-postgres.bats
 */
#ifndef PLUGINS_LIB_DATABASE_PGLINK_H
#define PLUGINS_LIB_DATABASE_PGLINK_H

#include "salt/base.h"
#include "salt/value.h"

typedef struct pglink pglink_t;

/* `settings`: {libpq's keyword: text}. NEW, or NULL with *err. */
pglink_t *pglink_open(const json_t *settings, fail_t *err);
void pglink_destroy(pglink_t **self_p);
bool pglink_is_bad(const pglink_t *self);

/* One statement with values for $1, $2, ...; NULL is None. *ret_rows (NULL pointer: not wanted): arrays of
 * texts and nulls; *ret_count (the same): rows that were changed. */
int pglink_run(pglink_t *self, const char *sql, const char *const *values, size_t n, json_t **ret_rows,
               long long *ret_count, fail_t *err);
/* Queue a statement whose answer is read by pglink_await(), so that many need one way to the server and
 * back. */
int pglink_queue(pglink_t *self, const char *sql, const char *const *values, size_t n, fail_t *err);
/* Waits for all that are queued; after the first that failed none has been run. */
int pglink_await(pglink_t *self, fail_t *err);

#endif
