/* term.h - what lines on a terminal need: its width, and text that can't leave its line.
 *
 * Layer      common/cli
 * Threads    any
 * Errors     none: an unknown width is the usual one
 * Tests      tests/unit/common/test_waitline.c, tests/unit/common/test_progress.c, tests/unit/cli/test_live.c
 */
#ifndef COMMON_CLI_TERM_H
#define COMMON_CLI_TERM_H

#include "common/base/buf.h"

size_t term_columns(int fd);
/* At most `room` characters, whatever the text holds: what would not show is made visible
 * (common/base/visible.h). */
void term_put(buf_t *out, const char *text, size_t room);

#endif
