/* utf8.h - one code point at a time, and what Python considers printable.
 *
 * Layer      common/base; libc only
 * Threads    any
 * Tests      tests/unit/common/test_value.c
 */
#ifndef COMMON_BASE_UTF8_H
#define COMMON_BASE_UTF8_H

#include "salt/base.h"

/* The bytes of the code point at the start of `s` (1 to 4); 0 when `len` is 0 or the bytes are not valid
 * UTF-8 (overlong forms and surrogates included). */
size_t utf8_next(const char *s, size_t len, uint32_t *ret_cp);
/* Writes a code point's bytes (1 to 4). Surrogates are allowed, as Python's texts may hold them. */
size_t utf8_encode(uint32_t cp, char out[4]);
bool utf8_valid(const char *s, size_t len);
/* The number of code points; an invalid byte counts as one. */
size_t utf8_count(const char *s, size_t len);
/* Python's str.isprintable() for one character (Unicode 14). */
bool utf8_printable(uint32_t cp);

#endif
