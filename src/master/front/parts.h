/* parts.h - the walk over the table of parts (part.h): start, ticks, reload, end. front.c gives the table.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_parts.c
 */
#ifndef MASTER_FRONT_PARTS_H
#define MASTER_FRONT_PARTS_H

#include "master/front/front.h"

/* In the order of the table. Negative with *err when one could not: then parts_end undoes what has begun. */
int parts_start(front_t *front, fail_t *err);
void parts_tick(front_t *front, int64_t now_ms);
void parts_reload(front_t *front); /* the configuration is another */
/* All are told to stop, then they are destroyed in the reverse order. False: a thread still uses what it was
 * given. */
bool parts_end(front_t *front);

#endif
