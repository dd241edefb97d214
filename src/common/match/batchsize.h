/* batchsize.h - --batch, `batch`: how many minions have a job at one time, as a number or a part of all.
 *
 * Pure. Layer      common/match
 * Threads    any
 * Tests      tests/unit/common/test_match.c
 */
#ifndef COMMON_MATCH_BATCHSIZE_H
#define COMMON_MATCH_BATCHSIZE_H

#include "salt/base.h"

/* "3", 3, "10%" or "%10" of `n` minions. A part is at least one minion, and its fraction is cut off. -1 for a
 * malformed size. Blanks around the number do not count, as in Python's int() and float(). */
long batch_size(const json_t *size, size_t n);

#endif
