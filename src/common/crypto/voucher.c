/* voucher.c - see voucher.h. The signed bytes are a fixed text, the key, and the serial as 8 bytes, big
 * endian; signature and verification by Ed25519. */
#include "common/crypto/voucher.h"

#include <sodium.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "salt/limits.h"
#include "salt/value.h"

#define WHAT      "Halite: the key of this master is\n" /* domain separation: no signature can be reused */
#define SIGNED    (sizeof(WHAT) - 1 + KEY_BYTES + 8)
#define SIG_CHARS sodium_base64_ENCODED_LEN(VOUCHER_SIG_BYTES, sodium_base64_VARIANT_ORIGINAL)

_Static_assert(VOUCHER_SIG_BYTES == crypto_sign_BYTES, "an Ed25519 signature");

static void
signed_bytes(const voucher_t *self, uint8_t out[SIGNED])
{
    uint8_t *p = out;

    memcpy(p, WHAT, sizeof(WHAT) - 1);
    p += sizeof(WHAT) - 1;
    memcpy(p, self->key, KEY_BYTES);
    p += KEY_BYTES;
    for (int shift = 56; shift >= 0; shift -= 8)
        *p++ = (uint8_t) ((uint64_t) self->serial >> shift);
}

void
voucher_make(voucher_t *self, const key_pair_t *signer, const uint8_t key[KEY_BYTES], int64_t serial)
{
    uint8_t bytes[SIGNED], expanded[crypto_sign_SECRETKEYBYTES];

    salt_assert(serial > 0);
    memcpy(self->key, key, KEY_BYTES);
    self->serial = serial;
    signed_bytes(self, bytes);
    (void) sodium_mlock(expanded, sizeof(expanded));
    (void) crypto_sign_seed_keypair(self->signer, expanded, key_pair_secret(signer));
    (void) crypto_sign_detached(self->sig, NULL, bytes, sizeof(bytes), expanded);
    (void) sodium_munlock(expanded, sizeof(expanded)); /* wipes */
}

int64_t
voucher_serial(int64_t last)
{
    int64_t now = clock_wall_us() / 1000;

    return now > last ? now : last + 1;
}

json_t *
voucher_json(const voucher_t *self)
{
    AUTO_FREE char *pub = key_public_pem(self->key);
    AUTO_FREE char *signer = key_public_pem_of(KEY_KIND_SIGN, self->signer);
    char sig[SIG_CHARS];

    sodium_bin2base64(sig, sizeof(sig), self->sig, sizeof(self->sig), sodium_base64_VARIANT_ORIGINAL);
    return json_pack("{s:s, s:I, s:s, s:s}", "pub", pub, "serial", (json_int_t) self->serial, "signer",
                     signer, "sig", sig);
}

int
voucher_parse(const json_t *object, voucher_t *ret_self, fail_t *err)
{
    const char *pub = value_str(object, "pub", ""), *signer = value_str(object, "signer", ""),
               *sig = value_str(object, "sig", "");
    uint8_t bytes[SIGNED];
    voucher_t self = { .serial = value_int(object, "serial", 0) };
    size_t n = 0;
    const char *end = NULL;

    if (key_public_from_pem(pub, strlen(pub), self.key, err) != 0 ||
        key_public_from_pem_of(KEY_KIND_SIGN, signer, strlen(signer), self.signer, err) != 0)
        return -EINVAL;
    if (self.serial <= 0 ||
        sodium_base642bin(self.sig, sizeof(self.sig), sig, strlen(sig), NULL, &n, &end,
                          sodium_base64_VARIANT_ORIGINAL) != 0 ||
        n != sizeof(self.sig) || *end != '\0')
        return fail_set(err, -EINVAL, "it holds no signature");
    signed_bytes(&self, bytes);
    if (crypto_sign_verify_detached(self.sig, bytes, sizeof(bytes), self.signer) != 0)
        return fail_set(err, -EBADMSG, "its signature is wrong");
    *ret_self = self;
    return 0;
}

int
voucher_read(const char *path, voucher_t *ret_self, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    int rc = fs_read(path, LIMIT_KEY_FILE, &text, &why);

    if (rc != 0)
        return fail_set(err, rc, "%s", fail_text(&why));
    json_auto_t *object = value_parse(buf_str(&text), text.len, LIMIT_KEY_FILE, path, err);

    if (object == NULL)
        return -EINVAL;
    rc = voucher_parse(object, ret_self, err);
    if (rc != 0)
        fail_prefix(err, "%s: ", path);
    return rc;
}

int
voucher_write(const voucher_t *self, const char *path, fail_t *err)
{
    json_auto_t *object = voucher_json(self);
    AUTO_FREE char *text = value_dump(object);
    AUTO_FREE char *line = xasprintf("%s\n", text);

    return fs_write_atomic(path, line, strlen(line), 0644, err);
}
