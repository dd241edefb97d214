/* base64.h - bytes to base64 text. yaml_from_base64 of common/data does the reverse.
 *
 * Layer      common/base; libc only
 * Threads    any
 * Tests      tests/unit/common/test_pyrandom.c
 */
#ifndef COMMON_BASE_BASE64_H
#define COMMON_BASE_BASE64_H

#include "salt/base.h"

/* Encodes bytes; NEW text. `line` 0 makes one line, as Python's b64encode; else a line breaks after `line`
 * characters and at the end, as encodebytes does with 76. */
char *base64_encode(const void *bytes, size_t len, size_t line);

#endif
