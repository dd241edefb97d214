/* jsonread.h - parses JSON to jansson's values, the same ones as jansson's own reader, in a quarter of its
 * time.
 *
 * jansson's reader decodes each byte for itself. When its buffer can't grow, it writes beyond the end (2.14):
 * a peer's text in a process without memory must not cause that.
 *
 * Stricter than RFC 8259, as jansson with JSON_REJECT_DUPLICATES, JSON_DECODE_ANY and JSON_ALLOW_NUL: no key
 * twice in an object, no \u0000 in a key, no half of a surrogate pair, no integer beyond 64 bits and no
 * number beyond a double.
 *
 * Layer      common/base; pure
 * Threads    any
 * Tests      tests/unit/common/test_jsonread.c, fuzz target tests/fuzz/fuzz_plainjson.c
 */
#ifndef COMMON_BASE_JSONREAD_H
#define COMMON_BASE_JSONREAD_H

#include "salt/base.h"
#include "salt/value.h"

/* The reason why a text is refused, static words, and the byte where it is. */
typedef struct json_bad {
    const char *why; /* NULL: the text is fine, but memory for the value is gone */
    size_t at;
} json_bad_t;

/* Parses the whole text, nested at most LIMIT_JSON_DEPTH deep. NEW, or NULL with *ret_bad. */
json_t *json_read(const char *text, size_t len, json_bad_t *ret_bad);
/* The same with LIMIT_FRAME_DEPTH. */
json_t *json_read_frame(const char *text, size_t len, json_bad_t *ret_bad);

/* True when parsing this text makes at most `most` values; the text need not be JSON. Keys do not count, and
 * an empty container may count as two. */
bool json_few(const char *text, size_t len, size_t most);

#endif
