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

/* Sort, and keep LIMIT_NAMES: the first ones and the last, so that the common prefix of the result is that of
 * all. TAKES `all`; NEW. */
json_t *names_bounded(json_t *all);

#endif
