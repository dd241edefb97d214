/* inner.h - the functions that a job calls because its arguments name them (test.cross_test, mine.send, ...):
 * who may not call them may not have them called.
 *
 * Of a function whose row says FN_CALLS (salt/plugin.h) every text in the arguments that has the form of a
 * function's name counts as called: in values and keys, at any depth, in each object of keywords, in what
 * words NAME=VALUE mean, and in each item of a list that is written with commas. The order of words and
 * objects makes no difference then; an argument that looks like a function's name and is none counts too.
 * States, templates and files name functions as well, and are not looked at.
 *
 * Layer      master
 * Threads    any
 * Tests      tests/unit/master/test_inner.c, tests/museum/operators.bats
 */
#ifndef MASTER_OPERATORS_INNER_H
#define MASTER_OPERATORS_INNER_H

#include "common/match/work.h"
#include "common/plugin/registry.h"

/* Adds to the list `names` what calling `fun` with `arg` (as jobs have it) may call; without `modules` (NULL)
 * nothing. 0, or -E2BIG when that takes more than `work`, or a word holds more than LIMIT_INNER_NODES or
 * LIMIT_INNER_TEXT. */
int inner_functions(const registry_t *modules, const char *fun, const json_t *arg, match_work_t *work,
                    json_t *names, fail_t *err);

#endif
