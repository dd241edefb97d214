/* mysqlusers.h - functions of `mysql` about users and what they may do.
 *
 * Layer      plugins/lib/database
 * Threads    one at a time
 * Ownership  as func_fn
 * Errors     False or [], with the error in the context (mysqlconn.h)
 * Tests      tests/cases/exec/mysql.*.json, tests/t/4230-databases.bats
 */
#ifndef PLUGINS_LIB_DATABASE_MYSQLUSERS_H
#define PLUGINS_LIB_DATABASE_MYSQLUSERS_H

#include "plugins/lib/database/mysqlconn.h"

/* The **connection_args of a function. BORROWED. */
static inline json_t *
mysql_access(const json_t *args)
{
    return value_get(args, "connection_args");
}
/* Whether the plugin is there: its status; "" when not, NULL when the server could not be asked. BORROWED. */
const char *mysql_plugin_state(mysqlconn_t *self, const char *name);
/* True, false, or negative with the error in the context. */
int mysql_has_user(mysqlconn_t *self, const char *user, const char *host);

func_fn mysql_user_exists, mysql_user_create, mysql_user_chpass, mysql_user_remove, mysql_user_info;
func_fn mysql_user_grants, mysql_tokenize_grant, mysql_grant_exists, mysql_grant_add, mysql_grant_revoke;

#endif
