/* top.h - the parts of top-file handling: merge strategies and targets.
 *
 * Layer      common/state, private to top*.c
 * Threads    the renderer's
 * Tests      tests/unit/common/test_state_compile.c, tests/cases/state-compile
 */
#ifndef COMMON_STATE_TOP_H
#define COMMON_STATE_TOP_H

#include "common/state/high.h"

/* What top_file_merging_strategy lacks of the options that it needs; NULL: nothing. */
const char *highstate_strategy_problem(const highstate_t *high);
/* `tops` is {environment: [top file, ...]}, and is used up. NEW {environment: {target: entries}}. */
py_t *highstate_merge(const highstate_t *high, py_t *tops, json_t *errors);
/* NEW {environment: [SLS, ...]} of the targets that are this minion. */
json_t *highstate_match(highstate_t *high, py_t *top);

#endif
