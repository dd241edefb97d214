/* names.h - lists of names for completion at a prompt: sorted, and of a bounded length.
 *
 * Layer      master; pure
 * Threads    any
 * Limits     LIMIT_NAMES
 * Tests      tests/unit/master/test_front.c
 */
#ifndef MASTER_OPERATORS_NAMES_H
#define MASTER_OPERATORS_NAMES_H

#include "salt/base.h"

/* Of too many the first ones and the last: what those have in common, all have. TAKES; NEW. */
json_t *names_bounded(json_t *all);

#endif
