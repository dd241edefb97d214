/* saltcheck_run.h - one of saltcheck's tests: is it one, what does its function return, do its assertions hold?
 *
 * A test that makes no sense, whose function fails or whose values can't be compared, has failed. Salt runs each in a
 * minion of its own, here it runs in the job: a pillar that it is given, and the exit code of its function, end with it.
 *
 * Layer      plugins/lib/salt
 * Threads    the context's
 * Errors     none: they are the test's status
 * Tests      tests/cases/exec/saltcheck.run_test.json
 */
#ifndef PLUGINS_LIB_SALT_SALTCHECK_RUN_H
#define PLUGINS_LIB_SALT_SALTCHECK_RUN_H

#include "common/py/py.h"
#include "salt/plugin.h"

/* The function that sets a test up or clears away after it; it needs no assertion. */
#define SALTCHECK_STATE_APPLY "saltcheck.state_apply"

/* A test, and where it comes from. All BORROWED. */
typedef struct saltcheck_test {
    const char *name;
    const char *from; /* the file's URL; NULL: the caller gave it */
    py_t *test;       /* of any type */
    bool details;     /* what output_details is without a word of the test */
} saltcheck_test_t;

/* Runs it; what is wrong with the test itself goes to the log. NEW {status, duration, ...}. */
json_t *saltcheck_run(call_ctx_t *ctx, const saltcheck_test_t *check);

#endif
