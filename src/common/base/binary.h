/* binary.h - whether bytes are text, as Salt tells it by the first of them.
 *
 * Layer      common/base; libc only
 * Threads    any
 * Tests      tests/unit/common/test_binary.c
 */
#ifndef COMMON_BASE_BINARY_H
#define COMMON_BASE_BINARY_H

#include "salt/base.h"

enum { BINARY_BLOCK = 2048 }; /* as many bytes of a file decide */

/* True when at most 30 percent of the bytes (or characters with `utf8`) are neither printable ASCII nor in
 * `controls`. */
bool binary_mostly_text(const char *s, size_t len, bool utf8, const char *controls);
/* True when the first BINARY_BLOCK bytes are no UTF-8, have a NUL, or are mostly unusual in texts. */
bool binary_is(const char *s, size_t len);
/* A file that is copied as it is when it is asked for as a template: it can't be read as UTF-8, and is binary. */
bool binary_no_template(const char *s, size_t len);

#endif
