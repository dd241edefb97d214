/* dbabsent.h - the states of `postgres` that remove something: looked for, removed, said.
 *
 * Layer      plugins/lib/database
 * Tests      tests/cases/state/postgres_*.absent.json
 */
#ifndef PLUGINS_LIB_DATABASE_DBABSENT_H
#define PLUGINS_LIB_DATABASE_DBABSENT_H

#include "plugins/lib/database/dbstate.h"

typedef struct dbabsent {
    const char *exists, *remove;              /* functions of the module */
    const char *key;                          /* their argument for the name; NULL: "name" */
    const char *what;                         /* "Database" */
    const char *set, *gone, *missing, *stays; /* what follows "WHAT NAME " in the comment; stays: it failed */
} dbabsent_t;

/* Runs it; `more` (BORROWED, may be NULL): further arguments of both functions. */
int dbabsent_run(dbstate_t *self, const dbabsent_t *texts, const json_t *more);

#endif
