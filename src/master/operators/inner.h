/* inner.h - the functions that a job calls because its arguments name them (test.cross_test, mine.send, ...):
 * who may not call them may not have them called.
 *
 * Which arguments of which functions name others is the column `calls` of their rows (salt/plugin.h). States,
 * templates and files name functions too, and are not looked at.
 *
 * Layer      master
 * Threads    any
 * Tests      tests/unit/master/test_inner.c, tests/museum/operators.bats
 */
#ifndef MASTER_OPERATORS_INNER_H
#define MASTER_OPERATORS_INNER_H

#include "common/plugin/registry.h"

/* NEW list of the names of functions that calling `fun` with `arg` (as jobs have it) calls. When one of those
 * calls others in its turn, every text among the arguments counts as a name. Without `modules` (NULL) none does. */
json_t *inner_functions(const registry_t *modules, const char *fun, const json_t *arg);

#endif
