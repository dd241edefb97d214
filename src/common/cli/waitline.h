/* waitline.h - one line on the terminal while a function of this process works and says nothing: what it is,
 * and for how long. Nothing for the first second, nothing when the descriptor is no terminal; gone
 * afterwards.
 *
 * Layer      common/cli
 * Threads    the line is drawn by a thread of its own, which takes no signals; a child that was forked meanwhile has none
 * Errors     none: without a thread there is no line
 * Tests      tests/unit/common/test_waitline.c
 */
#ifndef COMMON_CLI_WAITLINE_H
#define COMMON_CLI_WAITLINE_H

#include "salt/base.h"

typedef struct waitline waitline_t;

/* `what` is at work from now on. NEW, or NULL: no line. */
waitline_t *waitline_new(int fd, const char *what);
/* The same with another pause before the first line. */
waitline_t *waitline_new_after(int fd, const char *what, int64_t delay_ms);
/* Takes the line away. Accepts NULL. */
void waitline_destroy(waitline_t **self_p);

/* It is at step `step` of `of` now. Accepts NULL. */
void waitline_step(waitline_t *self, size_t step, size_t of, const char *what);

#endif
