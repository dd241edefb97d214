/* msgpack.h - values as MessagePack and back. Source: https://github.com/msgpack/msgpack/blob/master/spec.md.
 *
 * Layer      common/data
 * Threads    any
 * Tests      tests/unit/common/test_msgpack.c, with bytes of Python's msgpack; tests/fuzz/fuzz_msgpack.c
 */
#ifndef COMMON_DATA_MSGPACK_H
#define COMMON_DATA_MSGPACK_H

#include "common/base/buf.h"
#include "salt/value.h"

/* Appends the value in its shortest form. */
void msgpack_put(buf_t *out, const json_t *v);
/* The value that the bytes are, whole. Binary data is a text; a key of a map must be one. NEW, or NULL with
 * *err: cut off, too deep (LIMIT_JSON_DEPTH), of a type that JSON has not. */
json_t *msgpack_get(const void *bytes, size_t len, fail_t *err);

#endif
