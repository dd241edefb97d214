/* span.h - which bytes of a text a peer said, and what such a piece becomes where it is not the plain text
 * that it should be.
 *
 * A peer's values are printed into texts that are read as YAML, JSON or templates. Each of these has a check,
 * a pure function of the text and the spans, that says whether every span stays inside the scalar that it was
 * printed into.
 *
 * Layer      common/base; pure
 * Threads    one at a time per list
 * Ownership  a list owns its spans; texts are BORROWED
 * Tests      tests/unit/common/test_yaml_span.c, fuzz target tests/fuzz/fuzz_spans.c
 */
#ifndef COMMON_BASE_SPAN_H
#define COMMON_BASE_SPAN_H

#include "salt/base.h"

enum {
    SPAN_QUOTED = 1, /* went through the filter `quote`, which makes one word for a shell of it */
    SPAN_TEXT = 2,   /* said as a text: one that looks like a list or mapping is none */
    SPAN_OWN = 4,    /* said by the machine that the result is for, which can only harm itself */
    SPAN_KEPT = SPAN_QUOTED | SPAN_OWN /* flags that values have too */
};

/* Bytes [from, to) of a text. */
typedef struct span {
    size_t from, to;
    unsigned flags;
} span_t;

/* In the order of the text, without overlaps. */
typedef struct spans {
    span_t *v;
    size_t n, cap;
} spans_t;

#define SPANS_INIT   ROW(NULL, 0, 0)
/* spans_auto_t s = SPANS_INIT; frees itself. */
#define spans_auto_t __attribute__((cleanup(spans_free))) spans_t

/* One more, behind the others; an empty one is dropped, and one that touches the last and has its flags
 * makes that longer. */
void spans_add(spans_t *self, size_t from, size_t to, unsigned flags);
void spans_free(spans_t *self);

/* The first thing that is not as it should be. */
typedef struct breakout {
    size_t span;      /* the index of its span */
    size_t at;        /* the byte of the text, which lies in that span */
    const char *what; /* what it became: "a new key", "the end of a quoted text" */
} breakout_t;

/* Records what the span at or before `at` became (the first one when there is none). There must be a span.
 * false, for `return breakout_set(...)`. */
bool breakout_set(breakout_t *ret, const spans_t *spans, size_t at, const char *what);

/* Whether no span begins or ends within a character of UTF-8; else *ret says which one does. */
bool spans_have_characters(const spans_t *spans, const char *text, size_t len, breakout_t *ret);

/* Whether a piece [from, to) of the text, such as an escape, has bytes inside of the span and others
 * outside of it. */
static inline bool
span_cut(const span_t *span, size_t from, size_t to)
{
    bool apart = to <= span->from || from >= span->to;
    bool inside = from >= span->from && to <= span->to;

    return !apart && !inside;
}

#endif
