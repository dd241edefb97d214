/* gzip.h - packs small pieces as gzip does, and unpacks them up to a bound.
 *
 * Layer      common/base; the only user of zlib
 * Threads    any
 * Errors     -EBADMSG: not gzip data, or cut off; -EFBIG: more than the bound
 * Tests      tests/unit/common/test_gzip.c
 */
#ifndef COMMON_BASE_GZIP_H
#define COMMON_BASE_GZIP_H

#include <sys/types.h>

#include "common/base/buf.h"
#include "salt/base.h"

/* Appends `bytes`, packed. */
void gzip_pack(const void *bytes, size_t n, buf_t *out);
/* Appends the unpacked content, at most `limit` bytes. */
int gzip_unpack(const void *bytes, size_t n, size_t limit, buf_t *out, fail_t *err);

/* Unpacks a raw deflate stream, as zip has it, piece by piece. `more` fills `room` and returns the bytes, 0 at
 * the end, or a negative errno; `put` takes unpacked bytes and returns 0 or a negative errno, which ends it. */
typedef ssize_t gzip_more_fn(void *cookie, void *room, size_t cap);
typedef int gzip_put_fn(void *cookie, const void *bytes, size_t n);
int gzip_inflate(gzip_more_fn *more, gzip_put_fn *put, void *cookie);
/* The CRC-32 of zip and gzip, continued from `crc`, which is 0 at first. */
uint32_t gzip_crc32(uint32_t crc, const void *bytes, size_t n);

#endif
