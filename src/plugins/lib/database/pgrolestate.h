/* pgrolestate.h - the states of roles: postgres_user and postgres_group differ in words and in a few
 * arguments.
 *
 * Layer      plugins/lib/database
 * Tests      tests/cases/state/postgres_user.*.json, tests/cases/state/postgres_group.*.json
 */
#ifndef PLUGINS_LIB_DATABASE_PGROLESTATE_H
#define PLUGINS_LIB_DATABASE_PGROLESTATE_H

#include "plugins/lib/database/dbstate.h"

/* Rows: data.text "user" or "group". */
func_fn pgrole_present, pgrole_absent;

#endif
