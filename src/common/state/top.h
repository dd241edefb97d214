/* top.h - the parts of top-file handling: merge strategies and targets.
 *
 * Layer      common/state, private to top*.c
 * Threads    the renderer's
 * Tests      tests/unit/common/test_state_compile.c, tests/cases/state-compile
 */
#ifndef COMMON_STATE_TOP_H
#define COMMON_STATE_TOP_H

#include "common/state/high.h"

/* Check that top_file_merging_strategy has the options that it needs. The error text, or NULL. */
const char *highstate_strategy_problem(const highstate_t *high);
/* Merge. `tops` is {environment: [top file, ...]} and is consumed. NEW {environment: {target: entries}}. */
py_t *highstate_merge(const highstate_t *high, py_t *tops, json_t *errors);
/* Match. NEW {environment: [SLS, ...]} of the targets that match this minion. */
json_t *highstate_match(highstate_t *high, py_t *top);

#endif
