/* range.h - the header Range of a request.
 *
 * Format     RFC 9110, 14.2: one range of bytes; several are answered as if there were none
 * Layer      api; pure
 * Threads    any
 * Tests      tests/unit/api/test_api_parts.c, fuzz target tests/fuzz/fuzz_apibody.c
 */
#ifndef API_RANGE_H
#define API_RANGE_H

#include "salt/base.h"

/* 1 and the part of a file of `size` bytes; 0: all of it, also when the text is no range; -ERANGE: nothing of
 * it is there. */
int range_parse(const char *text, uint64_t size, uint64_t *ret_from, uint64_t *ret_len);

#endif
