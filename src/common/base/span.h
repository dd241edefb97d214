/* span.h - records which bytes of a text a peer said, and reports a piece that became more than the plain
 * text that it should be.
 *
 * A peer's values are printed into texts that are then read as YAML, JSON or templates. Each of these
 * languages has a check, a pure function of the text and the spans, that every span stays inside the scalar
 * that it was printed into. Otherwise a peer could add keys or commands.
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
    SPAN_QUOTED = 1, /* passed the filter `quote`: a single word for a shell */
    SPAN_TEXT = 2,   /* said as a text: it must not become a list or mapping */
    SPAN_OWN = 4,    /* said by the machine that the result is for: it can only harm itself */
    SPAN_KEPT = SPAN_QUOTED | SPAN_OWN /* flags that values have too */
};

/* The bytes [from, to) of a text. */
typedef struct span {
    size_t from, to;
    unsigned flags;
} span_t;

/* Spans in the order of the text, without overlaps. */
typedef struct spans {
    span_t *v;
    size_t n, cap;
} spans_t;

#define SPANS_INIT   ROW(NULL, 0, 0)
/* spans_auto_t s = SPANS_INIT; frees itself. */
#define spans_auto_t __attribute__((cleanup(spans_free))) spans_t

/* Appends a span. An empty one is dropped; one that touches the last span and has its flags extends it. */
void spans_add(spans_t *self, size_t from, size_t to, unsigned flags);
void spans_free(spans_t *self);

/* The first violation that a check has found. */
typedef struct breakout {
    size_t span;      /* the index of its span */
    size_t at;        /* the byte of the text, within that span */
    const char *what; /* what it became: "a new key", "the end of a quoted text" */
} breakout_t;

/* Records that the span at or before `at` (or else the first one) became `what`. There must be a span.
 * Returns false, for `return breakout_set(...)`. */
bool breakout_set(breakout_t *ret, const spans_t *spans, size_t at, const char *what);

/* True when no span begins or ends inside a UTF-8 character; otherwise *ret names the one that does. */
bool spans_have_characters(const spans_t *spans, const char *text, size_t len, breakout_t *ret);

/* True when a piece [from, to) of the text, such as an escape, lies partly inside the span and partly
 * outside. */
static inline bool
span_cut(const span_t *span, size_t from, size_t to)
{
    bool apart = to <= span->from || from >= span->to;
    bool inside = from >= span->from && to <= span->to;

    return !apart && !inside;
}

#endif
