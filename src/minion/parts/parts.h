/* parts.h - the table of the job server's parts, from parts.def.
 *
 * Layer      wiring; main_minion.c and tests only
 * Threads    any; constant data
 * Tests      tests/unit/minion/test_parts.c
 */
#ifndef MINION_PARTS_PARTS_H
#define MINION_PARTS_PARTS_H

#include "minion/parts/part.h"

/* Ends with NULL. */
extern const minion_part_t *const minion_parts[];

#endif
