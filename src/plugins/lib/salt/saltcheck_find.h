/* saltcheck_find.h - which .tst files test a state: those of its SLS and of all that it includes.
 *
 * The files of a/b.sls are salt://a/b/LOCATION/init.tst and salt://a/LOCATION/b.tst, those of a/b/c.sls also
 * salt://a/LOCATION/b/c.tst, where LOCATION is "saltcheck-tests" unless the option saltcheck_test_location says
 * another folder. They are fetched into the minion's cache.
 *
 * Layer      plugins/lib/salt
 * Threads    the context's
 * Errors     *err: a pillar that is broken, a file server that can't be asked
 * Tests      tests/cases/exec/saltcheck.run_state_tests.json, saltcheck.report_highstate_tests.json
 */
#ifndef PLUGINS_LIB_SALT_SALTCHECK_FIND_H
#define PLUGINS_LIB_SALT_SALTCHECK_FIND_H

#include "salt/plugin.h"

typedef struct saltcheck_find saltcheck_find_t;

/* `saltenv` BORROWED while it lives. NEW, or NULL with *err. */
saltcheck_find_t *saltcheck_find_new(call_ctx_t *ctx, const char *saltenv, fail_t *err);
void saltcheck_find_destroy(saltcheck_find_t **self_p);

/* Adds the files of a state, or of tests without one. `all`: every file in the folders that may hold its tests.
 * SLS of which files were found before, for another state, bring none again. 0, also when there are none; 1
 * when the SLS can't be compiled, which is logged; or a negative errno. */
int saltcheck_find_add(saltcheck_find_t *self, const char *state, bool all, fail_t *err);
/* The cached paths of the files that were added since the last time, in the order of their finding. NEW array. */
json_t *saltcheck_find_take(saltcheck_find_t *self);

/* The SLS whose folders hold tests, in the order of their finding. BORROWED array. */
json_t *saltcheck_find_found(const saltcheck_find_t *self);
/* True when the environment has such an SLS. */
bool saltcheck_find_is_state(const saltcheck_find_t *self, const char *name);
/* The salt:// URL of a cached path, for messages. NEW. */
char *saltcheck_find_url(const saltcheck_find_t *self, const char *path);

#endif
