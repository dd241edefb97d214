/* live.h - what a runner does now, on the terminal: an orchestration as a tree of its steps, with marks,
 * minions and times; where another long runner is; or for how long one has run. Nothing for the first half
 * second (of one that says nothing, for a second), nothing when the descriptor is not a terminal, and on one
 * whose cursor can't be moved only the tree at the end.
 *
 * Layer      cli
 * Threads    one
 * Errors     none: a terminal that can't be written to is left alone
 * Tests      tests/unit/cli/test_live.c, tests/t/6000-orchestrate.bats, tests/t/8110-pictures.bats
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "salt/base.h"

typedef struct live live_t;

/* With `utf8` marks and branches are drawn, else ASCII says the same. NEW */
live_t *live_new(int fd, bool utf8, bool colour);
void live_destroy(live_t **self_p); /* takes the lines away. Accepts NULL */

/* A runner's function begins. */
void live_begin(live_t *self, const char *fun, int64_t now_ms);
/* A push of kind "progress". */
void live_take(live_t *self, const json_t *push, int64_t now_ms);
/* Draw what has changed; call it every live_pause() ms at least. */
void live_draw(live_t *self, int64_t now_ms);
/* -1: nothing to draw. */
int live_pause(const live_t *self);
/* Take the lines away before other output; the next live_draw() puts them back. */
void live_clear(live_t *self);
/* Draw the tree as it ended, to stay; nothing when there was no orchestration. */
void live_rest(live_t *self, int64_t now_ms);
/* NEW text with the command that resumes a failed orchestration; NULL when none failed, or without a
 * terminal. */
char *live_hint(const live_t *self);

/* The lines, no longer than `columns` and at most `rows` or so. NEW. Pure. */
char *live_text(const live_t *self, int64_t now_ms, size_t columns, size_t rows);

#endif
