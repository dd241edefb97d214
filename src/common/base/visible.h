/* visible.h - which characters a reader sees, and what stands for the others: controls drive a terminal, and
 * characters that show nothing make two texts look alike or run backwards.
 *
 * Layer      common/base; libc only
 * Threads    any
 * Tests      tests/unit/common/test_visible.c
 */
#ifndef COMMON_BASE_VISIBLE_H
#define COMMON_BASE_VISIBLE_H

#include "common/base/buf.h"
#include "salt/base.h"

/* How a control character below a blank is written; all others are \x9b, \u202e, \U000e0041. */
typedef enum visible_how {
    VISIBLE_CARET, /* ^[ */
    VISIBLE_HEX    /* \x1b */
} visible_how_t;

/* How many bytes at the start of `s` show as they are: valid UTF-8 without controls (a tab is none; a line
 * break is one), marks of direction and characters that show nothing. */
size_t visible_run(const char *s, size_t len);
/* Append what stands for the character at `s`, which does not show (`len` is not 0). Returns its bytes. */
size_t visible_show(buf_t *out, const char *s, size_t len, visible_how_t how);
/* Both, over all of a text: a line break is shown, too. */
void visible_add(buf_t *out, const char *s, size_t len, visible_how_t how);

#endif
