/* json_span.h - checks that pieces which peers said stay inside the strings of the JSON document that they
 * were printed into.
 *
 * Layer      common/base; pure
 * Threads    any
 * Errors     a document that is not JSON whatever its spans hold passes: the loader reports that
 * Tests      tests/unit/common/test_text_span.c, fuzz target tests/fuzz/fuzz_spans.c
 */
#ifndef COMMON_BASE_JSON_SPAN_H
#define COMMON_BASE_JSON_SPAN_H

#include "common/base/span.h"

/* True when every span either lies inside one string, without ending it or cutting an escape, or is one
 * complete value; with SPAN_TEXT that value may not be a list or object. Otherwise *ret names the first span
 * that fails. The spans must lie within the text. Linear. */
bool json_spans_fit(const char *text, size_t len, const spans_t *spans, breakout_t *ret);

#endif
