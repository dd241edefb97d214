/* htpasswd.c - see system.h: the hashes of Apache's password files. $apr1$ is Poul-Henning Kamp's MD5 crypt
 * with another magic word (Apache httpd, "Password Formats"; FreeBSD's crypt-md5.c): it isn't in libcrypt. */
#include <crypt.h>

#include "auth/system.h"
#include "common/base/base64.h"
#include "common/base/buf.h"
#include "common/base/digest.h"
#include "common/base/str.h"

#define MD5_BYTES 16
#define APR1      "$apr1$"
#define SALT_MAX  8

/* The digest of all that is in the buffer, as bytes. */
static void
htpasswd_digest(const char *type, const buf_t *in, uint8_t *out, size_t n)
{
    AUTO_FREE char *hex = digest_bytes(type, in->data, in->len, NULL);

    for (size_t i = 0; hex != NULL && i < n; i++) {
        unsigned byte = 0;
        (void) sscanf(hex + 2 * i, "%2x", &byte);
        out[i] = (uint8_t) byte;
    }
}

static void
apr1_first(const char *password, const char *salt, size_t salt_len, uint8_t out[MD5_BYTES])
{
    size_t len = strlen(password);
    buf_auto_t in = BUF_INIT, inner = BUF_INIT;

    buf_puts(&inner, password);
    buf_add(&inner, salt, salt_len);
    buf_puts(&inner, password);
    htpasswd_digest("md5", &inner, out, MD5_BYTES);
    buf_puts(&in, password);
    buf_puts(&in, APR1);
    buf_add(&in, salt, salt_len);
    for (size_t left = len; left > 0; left -= left < MD5_BYTES ? left : MD5_BYTES)
        buf_add(&in, out, left < MD5_BYTES ? left : MD5_BYTES);
    for (size_t bits = len; bits > 0; bits >>= 1)
        buf_putc(&in, (bits & 1) != 0 ? '\0' : password[0]);
    htpasswd_digest("md5", &in, out, MD5_BYTES);
}

/* A thousand rounds, each of which mixes password, salt and the last digest in an order that its number
 * says. */
static void
apr1_rounds(const char *password, const char *salt, size_t salt_len, uint8_t digest[MD5_BYTES])
{
    for (int round = 0; round < 1000; round++) {
        buf_auto_t in = BUF_INIT;
        if ((round & 1) != 0)
            buf_puts(&in, password);
        else
            buf_add(&in, digest, MD5_BYTES);
        if (round % 3 != 0)
            buf_add(&in, salt, salt_len);
        if (round % 7 != 0)
            buf_puts(&in, password);
        if ((round & 1) != 0)
            buf_add(&in, digest, MD5_BYTES);
        else
            buf_puts(&in, password);
        htpasswd_digest("md5", &in, digest, MD5_BYTES);
    }
}

/* NEW "$apr1$SALT$HASH". */
static char *
apr1(const char *password, const char *salt, size_t salt_len)
{
    static const char letters[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    static const uint8_t order[][3] = {
        { 0, 6, 12 }, { 1, 7, 13 }, { 2, 8, 14 }, { 3, 9, 15 }, { 4, 10, 5 }
    };
    uint8_t digest[MD5_BYTES] = { 0 };
    buf_t out = BUF_INIT;

    apr1_first(password, salt, salt_len, digest);
    apr1_rounds(password, salt, salt_len, digest);
    buf_printf(&out, APR1 "%.*s$", (int) salt_len, salt);
    for (size_t i = 0; i <= NELEMS(order); i++) {
        bool last = i == NELEMS(order);
        uint32_t bits = last ? digest[11]
                             : (uint32_t) digest[order[i][0]] << 16 | (uint32_t) digest[order[i][1]] << 8 |
                                   digest[order[i][2]];
        for (int k = 0; k < (last ? 2 : 4); k++, bits >>= 6)
            buf_putc(&out, letters[bits & 0x3f]);
    }
    return buf_steal(&out);
}

static bool
apr1_verify(const char *password, const char *hash)
{
    const char *salt = hash + strlen(APR1);
    size_t len = strcspn(salt, "$");
    AUTO_FREE char *made = apr1(password, salt, len < SALT_MAX ? len : SALT_MAX);

    return auth_same(made, hash);
}

static bool
sha_verify(const char *password, const char *hash)
{
    uint8_t bytes[20] = { 0 };
    buf_auto_t in = BUF_INIT;

    buf_puts(&in, password);
    htpasswd_digest("sha1", &in, bytes, sizeof(bytes));
    AUTO_FREE char *made = base64_encode(bytes, sizeof(bytes), 0);
    return auth_same(made, hash);
}

bool
htpasswd_verify(const char *password, const char *hash)
{
    struct crypt_data *space;

    if (str_starts(hash, "{SHA}"))
        return sha_verify(password, hash + strlen("{SHA}"));
    if (str_starts(hash, APR1))
        return apr1_verify(password, hash);
    /* A password in the clear is too short to be a hash: DES's have 13 characters. */
    space = xcalloc(1, sizeof(*space));
    const char *made = crypt_r(password, hash, space);
    bool right = made != NULL && *made != '*' && strlen(made) >= 13 && auth_same(made, hash);
    explicit_bzero(space, sizeof(*space));
    free(space);
    return right;
}
