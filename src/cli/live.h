/* live.h - lines on the terminal that say what a runner does now: a line for each running step of an
 * orchestration, where another long one is, or for how long it has run. Nothing for the first half second (of
 * one that says nothing, for a second), nothing when the descriptor is not a terminal.
 *
 * Layer      cli
 * Threads    one
 * Errors     none: a terminal that can't be written to is left alone
 * Tests      tests/unit/cli/test_live.c, tests/t/6000-orchestrate.bats
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "salt/base.h"

typedef struct live live_t;

live_t *live_new(int fd);           /* NEW */
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
/* NEW text that names the failed steps of an orchestration, their reasons and the command that resumes it;
 * NULL when no step failed. */
char *live_hint(const live_t *self);

/* The lines, no longer than `columns`. NEW. Pure. */
char *live_text(const live_t *self, int64_t now_ms, size_t columns);

#endif
