/* term.h - helpers for status lines on a terminal: its width, and text that cannot leave its line.
 *
 * Layer      common/cli
 * Threads    any
 * Errors     none: an unknown width counts as 80 columns
 * Tests      tests/unit/common/test_waitline.c, tests/unit/common/test_progress.c,
 * tests/unit/cli/test_live.c
 */
#ifndef COMMON_CLI_TERM_H
#define COMMON_CLI_TERM_H

#include "common/base/buf.h"

/* The width of the terminal behind `fd`. */
size_t term_columns(int fd);
/* Appends at most `room` characters of the text. Control characters are made visible (common/base/visible.h),
 * so that a text of a peer cannot move the cursor. */
void term_put(buf_t *out, const char *text, size_t room);

#endif
