/* parts.h - start, tick, reload and end the parts (part.h) of front->parts, which front.c sets.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_parts.c
 */
#ifndef MASTER_FRONT_PARTS_H
#define MASTER_FRONT_PARTS_H

#include "master/front/front.h"

/* Start all in order. Negative with *err at the first failure; parts_end undoes those started. */
int parts_start(front_t *front, fail_t *err);
/* Tick each part that is due. `now_ms`: monotonic. */
void parts_tick(front_t *front, int64_t now_ms);
void parts_reload(front_t *front); /* call after conf was replaced */
/* Stop all, then destroy them in reverse order. False: a thread still uses what it was given. */
bool parts_end(front_t *front);

#endif
