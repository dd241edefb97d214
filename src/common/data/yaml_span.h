/* yaml_span.h - whether what peers said stays inside the scalars of a YAML text that it was printed into.
 *
 * Spans fit when they are atoms: the text in which each of them is replaced by a word has the same tokens, at
 * corresponding places, as the text itself. Then it has the same keys, items, anchors, tags and documents,
 * and what a peer said is part of a scalar, or of a comment. Blanks and line breaks at the ends of a span may
 * be lost, as YAML loses them. A span may be a whole quoted scalar. One that is a whole list or mapping in
 * brackets, as the filter `json` prints one, fits where a value may stand, unless it is marked as SPAN_TEXT.
 *
 * Layer      common/data
 * Threads    any
 * Errors     a text that cannot be read whatever its spans say fits: the loader tells what is wrong with it
 * Tests      tests/unit/common/test_yaml_span.c, fuzz target tests/fuzz/fuzz_spans.c
 */
#ifndef COMMON_DATA_YAML_SPAN_H
#define COMMON_DATA_YAML_SPAN_H

#include "common/base/span.h"

typedef breakout_t yaml_breakout_t;

/* True when all spans, which lie within the text, fit; else *ret names the one that does not. Linear in the
 * text; linear in the spans and their lines when they are words, paths, numbers or addresses
 * (yaml_spans_inert). */
bool yaml_spans_fit(const char *text, size_t len, const spans_t *spans, yaml_breakout_t *ret);

/* True when YAML's structure cannot depend on the spans, judged by their bytes without reading the text as
 * YAML. False is not a verdict: they may still fit. */
bool yaml_spans_inert(const char *text, size_t len, const spans_t *spans);

/* The same as yaml_spans_fit, always by reading the text. There must be a span. */
bool yaml_spans_agree(const char *text, size_t len, const spans_t *spans, yaml_breakout_t *ret);

/* A scalar that has bytes of a span. */
typedef struct yaml_span_place {
    const char *const *
        path; /* the keys that lead to it, outer ones first; lists have none, a key that is not a scalar is "" */
    size_t depth; /* of them; a key's own path is its mapping's */
    bool key;
    const char *text; /* of the scalar; a NUL follows its `len` bytes, and may be among them */
    size_t len;
    size_t at;   /* the first byte of it that is a span's */
    bool quoted; /* all of its spans are SPAN_QUOTED */
} yaml_span_place_t;
typedef void yaml_span_visit_fn(void *cookie, const yaml_span_place_t *place);

/* Visits these scalars in their order, up to where the text cannot be read, or is nested deeper than
 * LIMIT_YAML_DEPTH. The place is BORROWED during the visit. Whether that was the text's end. */
bool yaml_spans_walk(const char *text, size_t len, const spans_t *spans, yaml_span_visit_fn *visit,
                     void *cookie);

#endif
