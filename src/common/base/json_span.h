/* json_span.h - whether what peers said stays inside the texts of a JSON document that it was printed into.
 *
 * Layer      common/base; pure
 * Threads    any
 * Errors     a document that is no JSON whatever its spans say fits: the loader tells what is wrong with it
 * Tests      tests/unit/common/test_text_span.c, fuzz target tests/fuzz/fuzz_spans.c
 */
#ifndef COMMON_BASE_JSON_SPAN_H
#define COMMON_BASE_JSON_SPAN_H

#include "common/base/span.h"

/* Whether each span, which lie within the text, is inside of one string, neither ending it nor having half
 * of an escape, or is one complete value, which is no list or object where it is SPAN_TEXT; else *ret says
 * which one does not. Linear. */
bool json_spans_fit(const char *text, size_t len, const spans_t *spans, breakout_t *ret);

#endif
