/* tag.c - see tag.h. Wraps libsodium's crypto_onetimeauth (Poly1305), whose state must be aligned to 64
 * bytes. */
#include "common/crypto/tag.h"

#include <sodium.h>

struct tag {
    crypto_onetimeauth_state state;
};

void
tag_key(char key[TAG_KEY_HEX + 1])
{
    uint8_t raw[crypto_onetimeauth_KEYBYTES];
    randombytes_buf(raw, sizeof(raw));
    (void) sodium_bin2hex(key, TAG_KEY_HEX + 1, raw, sizeof(raw));
}

tag_t *
tag_new(const char *key)
{
    uint8_t raw[crypto_onetimeauth_KEYBYTES];
    size_t n = 0;
    const char *end = NULL;
    if (sodium_hex2bin(raw, sizeof(raw), key, strlen(key), NULL, &n, &end) != 0 || n != sizeof(raw) ||
        *end != '\0')
        return NULL;
    /* libsodium requires an aligned state. */
    tag_t *self = aligned_alloc(64, (sizeof(*self) + 63) / 64 * 64);
    if (self == NULL)
        salt_no_memory(sizeof(*self));
    (void) crypto_onetimeauth_init(&self->state, raw);
    return self;
}

void
tag_destroy(tag_t **self_p)
{
    free(STEAL(*self_p));
}

void
tag_add(tag_t *self, const void *bytes, size_t n)
{
    (void) crypto_onetimeauth_update(&self->state, bytes, n);
}

void
tag_end(tag_t *self, char hex[TAG_HEX + 1])
{
    uint8_t raw[crypto_onetimeauth_BYTES];
    (void) crypto_onetimeauth_final(&self->state, raw);
    (void) sodium_bin2hex(hex, TAG_HEX + 1, raw, sizeof(raw));
}
