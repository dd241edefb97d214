/* mysqltext.h - texts of MySQL's SQL: quoted names, privileges, grants as the server shows them, versions.
 *
 * Layer      plugins/lib/database; pure
 * Threads    any
 * Ownership  results are NEW
 * Errors     FAIL_INVOCATION naming what is wrong
 * Tests      tests/unit/plugins/test_mysqltext.c
 */
#ifndef PLUGINS_LIB_DATABASE_MYSQLTEXT_H
#define PLUGINS_LIB_DATABASE_MYSQLTEXT_H

#include "common/base/buf.h"
#include "salt/plugin.h"

/* Adds a name in backticks; those in it are doubled, so that it stays one name whatever it holds. */
void mysqltext_name(buf_t *sql, const char *name);
/* "db.table" of a grant, both quoted, "*" as it is; in a database's name before ".*" an underscore is
 * escaped, as it would be a wildcard. Not `escape`: the text itself, when it is names, dots, stars and
 * names in backticks. */
char *mysqltext_object(const char *database, bool escape, fail_t *err);
/* "select, update(a)" as "SELECT, UPDATE (`a`)"; every privilege must be one that servers have. "Invalid
 * grant : 'x'" */
char *mysqltext_privileges(const char *grant, fail_t *err);
/* " REQUIRE X509 AND CIPHER 'x'" of a list of {option: value}; "" of another value. "Invalid SSL option :
 * 'x'" */
char *mysqltext_require(const json_t *options, fail_t *err);

/* A line of SHOW GRANTS as {"user", "host", "grant": [privilege, "SELECT.column"], "database": "`db`.*"}. */
json_t *mysqltext_tokens(const char *grant);
/* Renames privileges in the list that a MariaDB of this version shows by another name. */
void mysqltext_aliases(json_t *privileges, const char *version);
/* True when the tokens of a user's grants (lists of mysqltext_tokens) cover those of a wanted grant: the
 * same user, host and database, and every privilege. Grants on one database count together. */
bool mysqltext_covers(const json_t *grants, const json_t *wanted);

/* <0, 0, >0: the version text ("8.0.36", "10.11.6-MariaDB") against numbers. */
int mysqltext_version(const char *version, int major, int minor, int patch);
/* "*HEX": what mysql_native_password keeps of a password. */
char *mysqltext_native_hash(const char *password);
/* The statements of a script without its comments: list of texts. */
json_t *mysqltext_statements(const char *script);

#endif
