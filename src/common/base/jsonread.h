/* jsonread.h - JSON as a value of jansson's: the one that jansson's reader makes of it, at a quarter of what
 * that takes.
 *
 * jansson's reader decodes each byte for itself; and where its buffer can't grow it goes on behind the end of
 * it (2.14), which a peer's text in a process without memory must not bring about.
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

/* What is wrong with a text: static words, and at which byte. */
typedef struct json_bad {
    const char *why; /* NULL: nothing; there was no memory for the value */
    size_t at;
} json_bad_t;

/* The whole text as a value, nested at most LIMIT_JSON_DEPTH deep. NEW, or NULL with *ret_bad. */
json_t *json_read(const char *text, size_t len, json_bad_t *ret_bad);
/* The same with LIMIT_FRAME_DEPTH. */
json_t *json_read_frame(const char *text, size_t len, json_bad_t *ret_bad);

/* Whether readers make no more than so many values of this text, which may be no JSON. Keys are none. An
 * empty container may count for two. */
bool json_few(const char *text, size_t len, size_t most);

#endif
