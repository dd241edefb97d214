/* yamlquote.h - a text in YAML's double quotes, on one line, as PyYAML writes it.
 *
 * Layer      common/jinja
 * Threads    any
 * Tests      tests/cases/jinja/salt.json
 */
#ifndef COMMON_JINJA_YAMLQUOTE_H
#define COMMON_JINJA_YAMLQUOTE_H

#include "common/base/buf.h"

/* Characters beyond ASCII as escapes, or, when they are printable, as they are. `s` is UTF-8. */
void yaml_quote_ascii(buf_t *out, const char *s, size_t len);
void yaml_quote_text(buf_t *out, const char *s, size_t len);

#endif
