/* saltcheck_assert.h - saltcheck's assertions: what a function has returned beside what a test expects of it.
 *
 * Layer      plugins/lib/salt; looks at values only
 * Threads    as py.h
 * Tests      tests/cases/exec/saltcheck.run_test.json
 */
#ifndef PLUGINS_LIB_SALT_SALTCHECK_ASSERT_H
#define PLUGINS_LIB_SALT_SALTCHECK_ASSERT_H

#include "common/py/py_ops.h"

/* A call that was made. All BORROWED. */
typedef struct saltcheck_call {
    const char *fun;
    py_t *args; /* as the test has them */
    py_t *returned;
    bool details; /* output_details: the result shows call and comparison */
    bool print;   /* print_result: texts show the values */
} saltcheck_call_t;

/* NEW text of what is wrong with an assertion (a dict: assertion, expected_return), or NULL: it can be tried. */
char *saltcheck_objection(py_t *group);
/* The value that is expected: expected_return, or expected-return. BORROWED, NULL without one. */
py_t *saltcheck_expected(py_t *group);
/* Tries the assertion of `group`, which may also have assertion_section and assertion_section_delimiter. NEW
 * dict: status ("Pass", or a text that begins with "Fail"), and what `details` adds. `name`: another assertion
 * than the group's own; NULL: that one. A comparison that Python refuses fails with Python's words. */
py_t *saltcheck_assert(const saltcheck_call_t *call, py_t *group, const char *name);

#endif
