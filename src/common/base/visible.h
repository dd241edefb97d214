/* visible.h - tells which characters a reader sees, and replaces the others. Control characters drive a
 * terminal, and invisible ones make different texts look alike or run backwards.
 *
 * Layer      common/base; libc only
 * Threads    any
 * Tests      tests/unit/common/test_visible.c
 */
#ifndef COMMON_BASE_VISIBLE_H
#define COMMON_BASE_VISIBLE_H

#include "common/base/buf.h"
#include "salt/base.h"

/* The form of a control character below a blank; all others become \x9b, \u202e, \U000e0041. */
typedef enum visible_how {
    VISIBLE_CARET, /* ^[ */
    VISIBLE_HEX    /* \x1b */
} visible_how_t;

/* The number of bytes at the start of `s` that may stay as they are: valid UTF-8 without controls (a tab is
 * allowed, a line break is not), marks of direction and invisible characters. */
size_t visible_run(const char *s, size_t len);
/* Appends the replacement of the character at `s`, which is not visible (`len` is not 0). Returns its
 * bytes. */
size_t visible_show(buf_t *out, const char *s, size_t len, visible_how_t how);
/* Applies both to a whole text; line breaks are replaced too. */
void visible_add(buf_t *out, const char *s, size_t len, visible_how_t how);

#endif
