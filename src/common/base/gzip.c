/* gzip.c - see gzip.h. */
#include "common/base/gzip.h"

#include <zlib.h>

#define GZIP_BITS (15 + 16) /* the largest window; + 16 selects gzip's header */
#define STEP      (64 * 1024)

void
gzip_pack(const void *bytes, size_t n, buf_t *out)
{
    z_stream z = { 0 };
    salt_assert(deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_BITS, 8, Z_DEFAULT_STRATEGY) ==
                Z_OK);
    z.next_in = (Bytef *) bytes;
    z.avail_in = (uInt) n;
    int rc;
    do {
        buf_reserve(out, STEP);
        z.next_out = (Bytef *) out->data + out->len;
        z.avail_out = STEP;
        rc = deflate(&z, Z_FINISH);
        out->len += STEP - z.avail_out;
    } while (rc == Z_OK);
    (void) deflateEnd(&z);
    salt_assert(rc == Z_STREAM_END);
}

int
gzip_unpack(const void *bytes, size_t n, size_t limit, buf_t *out, fail_t *err)
{
    z_stream z = { 0 };
    size_t start = out->len;
    salt_assert(inflateInit2(&z, GZIP_BITS) == Z_OK);
    z.next_in = (Bytef *) bytes;
    z.avail_in = (uInt) n;
    int rc;
    do {
        buf_reserve(out, STEP);
        z.next_out = (Bytef *) out->data + out->len;
        z.avail_out = STEP;
        rc = inflate(&z, Z_NO_FLUSH);
        out->len += STEP - z.avail_out;
    } while (rc == Z_OK && out->len - start <= limit);
    (void) inflateEnd(&z);
    if (out->len - start > limit)
        return fail_set(err, -EFBIG, "gzip: more than %zu bytes", limit);
    return rc == Z_STREAM_END ? 0 : fail_set(err, -EBADMSG, "gzip: damaged data");
}

/* Inflates what `z` has as input. Z_OK: more input is wanted. */
static int
gzip_drain(z_stream *z, char *room, gzip_put_fn *put, void *cookie, int *ret_rc)
{
    int rc;

    do {
        z->next_out = (Bytef *) room;
        z->avail_out = STEP;
        rc = inflate(z, Z_NO_FLUSH);
        *ret_rc = put(cookie, room, STEP - z->avail_out);
    } while (rc == Z_OK && *ret_rc == 0 && z->avail_out == 0);
    return rc == Z_BUF_ERROR ? Z_OK : rc;
}

int
gzip_inflate(gzip_more_fn *more, gzip_put_fn *put, void *cookie)
{
    AUTO_FREE char *in = xcalloc(1, STEP), *out = xcalloc(1, STEP);
    z_stream z = { 0 };
    int state = Z_OK, rc = 0;

    salt_assert(inflateInit2(&z, -MAX_WBITS) == Z_OK);
    while (state == Z_OK && rc == 0) {
        ssize_t n = more(cookie, in, STEP);
        if (n <= 0) {
            rc = n < 0 ? (int) n : -EBADMSG;
            break;
        }
        z.next_in = (Bytef *) in;
        z.avail_in = (uInt) n;
        state = gzip_drain(&z, out, put, cookie, &rc);
    }
    (void) inflateEnd(&z);
    return rc != 0 ? rc : state == Z_STREAM_END ? 0 : -EBADMSG;
}

uint32_t
gzip_crc32(uint32_t crc, const void *bytes, size_t n)
{
    return (uint32_t) crc32_z(crc, bytes, n);
}
