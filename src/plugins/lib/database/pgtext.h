/* pgtext.h - texts of PostgreSQL: quoted names and values, passwords as the server keeps them, access
 * lists, CSV.
 *
 * Layer      plugins/lib/database; pure
 * Threads    any
 * Ownership  results are NEW
 * Source     RFC 5802, RFC 7677 (SCRAM-SHA-256); PostgreSQL: aclitem, COPY
 * Tests      tests/unit/plugins/test_pgtext.c
 */
#ifndef PLUGINS_LIB_DATABASE_PGTEXT_H
#define PLUGINS_LIB_DATABASE_PGTEXT_H

#include "common/base/buf.h"
#include "salt/plugin.h"

/* Adds SQL: in `fmt`, ? stands for a value, ~ for a name, $ for text that is SQL already; each takes a
 * `const char *`. */
void pgtext_add(buf_t *sql, const char *fmt, ...);
/* The same as a text of its own. */
char *pgtext_sql(const char *fmt, ...);

/* Rows of COPY ... WITH CSV HEADER as objects by the names of the first row. */
json_t *pgtext_csv(const char *text);
/* The elements of an array's text, "{a,\"b c\"}". */
json_t *pgtext_array(const char *text);
/* {privilege: may it be granted to others} of the letters in an aclitem: "r*w". */
json_t *pgtext_letters(const char *letters);
/* {role: {privilege: ...}} of the text of an access list; "public" is everybody. */
json_t *pgtext_acl(const char *text);
/* The letters that an object of this type has: "arwdDxt" for a table; NULL for another type. BORROWED. */
const char *pgtext_letters_of(const char *object_type);

/* How a password is kept: `method` is md5, scram-sha-256, or "" as it is. A password that is a hash of
 * that kind already stays. NULL with *err for another method. */
char *pgtext_password(const char *role, const char *password, const char *method, fail_t *err);
/* True when the server's text is what the method makes of this password. */
bool pgtext_verifies(const char *role, const char *password, const char *kept, const char *method);
/* SCRAM-SHA-256$ITERATIONS:SALT$STORED:SERVER of a password; at most 64 bytes of salt. */
char *pgtext_scram(const char *password, const uint8_t *salt, size_t len, unsigned iterations);

/* <0, 0, >0: version texts, number by number. */
int pgtext_version(const char *a, const char *b);

#endif
