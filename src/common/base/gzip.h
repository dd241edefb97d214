/* gzip.h - packs small pieces as gzip does, and unpacks them up to a bound.
 *
 * Layer      common/base; the only user of zlib
 * Threads    any
 * Errors     -EBADMSG: not gzip data, or cut off; -EFBIG: more than the bound
 * Tests      tests/unit/common/test_gzip.c
 */
#ifndef COMMON_BASE_GZIP_H
#define COMMON_BASE_GZIP_H

#include "common/base/buf.h"
#include "salt/base.h"

/* Appends `bytes`, packed. */
void gzip_pack(const void *bytes, size_t n, buf_t *out);
/* Appends the unpacked content, at most `limit` bytes. */
int gzip_unpack(const void *bytes, size_t n, size_t limit, buf_t *out, fail_t *err);

#endif
