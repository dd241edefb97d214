/* pgroles.h - functions of `postgres` in files of their own: roles, privileges, clusters.
 *
 * Layer      plugins/lib/database
 * Threads    one at a time
 * Ownership  as func_fn
 * Errors     as pgconn.h
 * Tests      tests/cases/exec/postgres.*.json, tests/t/4230-databases.bats
 */
#ifndef PLUGINS_LIB_DATABASE_PGROLES_H
#define PLUGINS_LIB_DATABASE_PGROLES_H

#include "plugins/lib/database/pgconn.h"

func_fn pg_user_list, pg_role_get, pg_user_exists;
/* Rows: data.text "user" or "group". */
func_fn pg_role_create, pg_role_update, pg_role_remove;

func_fn pg_privileges_list, pg_has_privileges, pg_privileges_grant, pg_privileges_revoke;

func_fn pg_datadir_exists, pg_datadir_init, pg_cluster_create, pg_cluster_exists, pg_cluster_list,
    pg_cluster_remove;

/* True when initdb has made this folder: 1, 0 or negative with *err. */
int pg_is_datadir(const char *path, fail_t *err);
/* The method of pgtext_password() that an argument `encrypted` names. BORROWED; NULL with *err. */
const char *pg_method(const json_t *encrypted, fail_t *err);
/* "YYYY-MM-DD HH:MM:SS" as it is, anything else (infinity) None. NEW. */
json_t *pg_time(const char *text);

#endif
