/* py_html.h - html.unescape.
 *
 * Layer      common/py
 * Threads    any
 * Tests      tests/unit/common/test_py_cases.c
 */
#ifndef COMMON_PY_PY_HTML_H
#define COMMON_PY_PY_HTML_H

#include "common/base/buf.h"

/* Appends `text` (UTF-8) with &amp;, &#38; and HTML 5's other 2200 names replaced as Python does. */
void py_html_unescape(buf_t *out, const char *text, size_t len);

#endif
