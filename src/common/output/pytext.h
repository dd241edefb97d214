/* pytext.h - text as Python's str sees it: lines, white space, width, wrapping.
 *
 * Layer      common/output
 * Threads    any
 * Tests      tests/unit/common/test_output.c
 */
#ifndef COMMON_OUTPUT_PYTEXT_H
#define COMMON_OUTPUT_PYTEXT_H

#include "common/base/buf.h"
#include "salt/base.h"

typedef struct pyline {
    const char *text;
    size_t len;
    size_t with_end; /* length with its line end */
} pyline_t;

/* str.splitlines(): the next line at *pos, which moves behind it. False at the end. */
bool pytext_line(const char **pos, const char *end, pyline_t *ret_line);

/* Bytes of the white-space character at `s`; 0 when there is none. */
size_t pytext_space(const char *s, size_t len);

/* str.rstrip(): the length that stays. */
size_t pytext_rstrip(const char *s, size_t len);
/* str.strip(): moves *s and shortens *len. */
void pytext_strip(const char **s, size_t *len);

/* Append with every ESC replaced by '?', so that data can't drive the terminal. */
void pytext_add_safe(buf_t *out, const char *s, size_t len);

/* textwrap.wrap(): append `text` in lines of at most `width` columns, each but the first behind a newline and
 * `indent` spaces. */
void pytext_wrap(buf_t *out, const char *text, int width, int indent);

#endif
