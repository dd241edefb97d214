/* waitline.h - one line on the terminal while a function of this process works silently: its name and for how
 * long it has been at work. Nothing appears in the first second, nor when the descriptor is not a terminal;
 * the line is erased at the end.
 *
 * Layer      common/cli
 * Threads    a thread of its own draws the line and takes no signals; a forked child has no line
 * Errors     none: without a thread there is no line
 * Tests      tests/unit/common/test_waitline.c
 */
#ifndef COMMON_CLI_WAITLINE_H
#define COMMON_CLI_WAITLINE_H

#include "salt/base.h"

typedef struct waitline waitline_t;

/* Shows that `what` is at work from now on. NEW, or NULL: no line. */
waitline_t *waitline_new(int fd, const char *what);
/* The same with another delay before the line appears. */
waitline_t *waitline_new_after(int fd, const char *what, int64_t delay_ms);
/* Erases the line and ends the thread. Accepts NULL. */
void waitline_destroy(waitline_t **self_p);

/* Shows that step `step` of `of` is at work now, and counts its seconds anew. Accepts NULL. */
void waitline_step(waitline_t *self, size_t step, size_t of, const char *what);

#endif
