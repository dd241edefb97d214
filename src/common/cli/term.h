/* term.h - helpers for what is drawn on a terminal: its size and kind, and text that cannot leave its line.
 *
 * Layer      common/cli
 * Threads    any
 * Errors     none: an unknown width counts as 80 columns
 * Tests      tests/unit/common/test_columns.c, tests/unit/common/test_waitline.c,
 * tests/unit/common/test_progress.c, tests/unit/cli/test_live.c
 */
#ifndef COMMON_CLI_TERM_H
#define COMMON_CLI_TERM_H

#include "common/base/buf.h"

/* The width of the terminal behind `fd`, and its height. */
size_t term_columns(int fd);
size_t term_rows(int fd);
/* True when the user's locale (LC_ALL, LC_CTYPE, LANG) is one of UTF-8. */
bool term_utf8(void);
/* True unless TERM says that the terminal is a dumb one, whose cursor can't be moved. */
bool term_moves(void);

/* Columns that the text takes as term_put() shows it. */
size_t term_width(const char *text);
/* Appends as much of the text as fits `room` columns, and returns the columns that it takes. Control characters
 * are made visible (common/base/visible.h), so that a text of a peer cannot move the cursor. */
size_t term_put(buf_t *out, const char *text, size_t room);

#endif
