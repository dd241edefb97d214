/* span.h - parts of a text, by byte: in order, none overlapping another.
 *
 * Layer      common/base; libc only
 * Threads    one at a time
 * Errors     aborts when memory is gone: callers bound the text that they describe
 * Tests      tests/unit/common/test_base.c
 */
#ifndef COMMON_BASE_SPAN_H
#define COMMON_BASE_SPAN_H

#include "salt/base.h"

enum {
    SPAN_QUOTED = 1 << 0 /* quoted for a shell */
};

typedef struct span {
    size_t from, to; /* bytes; [from, to) */
    unsigned flags;  /* SPAN_* */
} span_t;

typedef struct spans {
    span_t *v;
    size_t n, cap;
} spans_t;

/* Adds a span that begins where the last one ends, or later. Empty ones are dropped; one that touches the last and has
 * its flags becomes part of it. */
void spans_add(spans_t *self, size_t from, size_t to, unsigned flags);
void spans_free(spans_t *self);

#endif
