/* base64.h - bytes to base64 text. The way back is yaml_from_base64 of common/data.
 *
 * Layer      common/base; libc only
 * Threads    any
 * Tests      tests/unit/common/test_pyrandom.c
 */
#ifndef COMMON_BASE_BASE64_H
#define COMMON_BASE_BASE64_H

#include "salt/base.h"

/* NEW text. `line` 0: one piece, as Python's b64encode; else a line break after so many characters and at the
 * end, as encodebytes does with 76. */
char *base64_encode(const void *bytes, size_t len, size_t line);

#endif
