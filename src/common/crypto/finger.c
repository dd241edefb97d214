/* finger.c - digests, and Salt's fingerprints: the digest of a PEM text's body (pem_body()), as "aa:bb:...".
 * The same algorithm as Salt's pem_finger(), so that users can compare the output of both. */
#include <sodium.h>

#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/crypto/keys.h"
#include "common/crypto/pem.h"
#include "salt/limits.h"

typedef int hash_fn(unsigned char *out, const unsigned char *in, unsigned long long len);

static const struct {
    const char *name;
    hash_fn *fn;
    size_t size;
} hashes[] = {
    { "sha256", crypto_hash_sha256, crypto_hash_sha256_BYTES },
    { "sha512", crypto_hash_sha512, crypto_hash_sha512_BYTES },
};

int
key_hash_hex(const char *type, const void *data, size_t len, char *out)
{
    unsigned char digest[crypto_hash_sha512_BYTES];

    _Static_assert(KEY_HEX_MAX == 2 * sizeof(digest) + 1, "the longest digest in hex");
    for (size_t i = 0; i < NELEMS(hashes); i++) {
        if (!str_eq(hashes[i].name, type))
            continue;
        hashes[i].fn(digest, data, len);
        sodium_bin2hex(out, 2 * hashes[i].size + 1, digest, hashes[i].size);
        return 0;
    }
    return -ENOTSUP;
}

int
key_finger_typed(const char *type, const char *pem, size_t len, char out[FINGER_MAX], fail_t *err)
{
    char *body = NULL;
    size_t n = pem_body(pem, len, &body);
    AUTO_FREE char *hex = digest_bytes(type, body, n, err);

    sodium_memzero(body, n);
    free(body);
    if (hex == NULL)
        return -EINVAL;

    /* Convert "aabb" to "aa:bb". */
    n = 0;

    for (size_t i = 0; hex[i] != '\0'; i++) {
        if (i > 0 && i % 2 == 0)
            out[n++] = ':';
        out[n++] = hex[i];
    }
    out[n] = '\0';

    return 0;
}

void
key_finger_pem(const char *pem, size_t len, char out[FINGER_LEN])
{
    char text[FINGER_MAX];
    int rc = key_finger_typed("sha256", pem, len, text, NULL);

    salt_assert(rc == 0 && strlen(text) < FINGER_LEN);
    memcpy(out, text, strlen(text) + 1);
}

void
key_finger_of(key_kind_t kind, const uint8_t key[KEY_BYTES], char out[FINGER_LEN])
{
    char text[PEM_TEXT_MAX];

    pem_write(kind == KEY_KIND_SIGN ? PEM_SIGN_PUBLIC : PEM_PUBLIC, key, text);
    key_finger_pem(text, strlen(text), out);
}

void
key_finger(const uint8_t key[KEY_BYTES], char out[FINGER_LEN])
{
    key_finger_of(KEY_KIND_CURVE, key, out);
}

int
key_finger_file(const char *type, const char *path, char out[FINGER_MAX], fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    int rc = fs_read(path, LIMIT_KEY_FILE, &text, &why);

    out[0] = '\0';
    if (rc == 0)
        rc = key_finger_typed(type, buf_str(&text), text.len, out, err);
    else
        rc = rc == -ENOENT ? 0 : fail_set(err, rc, "%s", fail_text(&why));
    if (text.data != NULL)
        sodium_memzero(text.data, text.len); /* Salt shows the fingerprint of private keys too */
    return rc;
}
