/* saltcheck_report.h - what the tests of several states have come to, as saltcheck returns it.
 *
 * Results are {state: {test: {status, duration, ...}}}; a state without tests has {}.
 *
 * Layer      plugins/lib/salt; looks at values only
 * Threads    any
 * Tests      tests/cases/exec/saltcheck.run_state_tests.json, tests/unit/plugins/test_saltcheck_report.c
 */
#ifndef PLUGINS_LIB_SALT_SALTCHECK_REPORT_H
#define PLUGINS_LIB_SALT_SALTCHECK_REPORT_H

#include "salt/value.h"

/* True when a test has failed. */
bool saltcheck_failed(const json_t *results);
/* NEW array: an object {state: tests} for each state, sorted by name, and {"TEST RESULTS": counts and time}.
 * `only_fails`: tests that passed or were skipped are left out. */
json_t *saltcheck_list(json_t *results, bool only_fails);
/* NEW string: the same as one suite of JUnit's XML, as the Python package junit_xml writes it. States without
 * tests are not in it. */
json_t *saltcheck_junit(json_t *results);
/* Seconds with four digits behind the point, as Python's round() has them. */
double saltcheck_seconds(double seconds);

#endif
