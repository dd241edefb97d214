/* pem.c - PEM and DER of X25519 and Ed25519 keys.
 *
 * The DER of these keys (RFC 8410) is a fixed prefix and 32 bytes, so it is compared instead of parsed: no
 * ASN.1 parser is needed. Exactly one key with its two armour lines is accepted; copies of secrets are
 * wiped. */
#include "common/crypto/pem.h"

#include <sodium.h>

#include "salt/limits.h"

#define DER_MAX  48 /* the longer prefix and the key */
#define B64_MAX  (sodium_base64_ENCODED_LEN(DER_MAX, sodium_base64_VARIANT_ORIGINAL))
#define B64_LINE 64 /* RFC 7468 */
#define BLANKS   " \t\r\n\v\f"

typedef struct pem_shape {
    const char *begin, *end;
    const char *noun;
    uint8_t prefix[16];
    size_t prefix_len;
} pem_shape_t;

#define PUBLIC_LINES    "-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----"
#define PRIVATE_LINES   "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
#define PUBLIC_DER(oid) ROW(0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, oid, 0x03, 0x21, 0x00)
#define PRIVATE_DER(oid)                                                                                     \
    ROW(0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, oid, 0x04, 0x22, 0x04, 0x20)
#define X25519  0x6e /* the last byte of the algorithm's object identifier */
#define ED25519 0x70

static const pem_shape_t shapes[] = {
    [PEM_PUBLIC] = { PUBLIC_LINES, "X25519 public", PUBLIC_DER(X25519), 12 },
    [PEM_PRIVATE] = { PRIVATE_LINES, "X25519 private", PRIVATE_DER(X25519), 16 },
    [PEM_SIGN_PUBLIC] = { PUBLIC_LINES, "Ed25519 public", PUBLIC_DER(ED25519), 12 },
    [PEM_SIGN_PRIVATE] = { PRIVATE_LINES, "Ed25519 private", PRIVATE_DER(ED25519), 16 },
};

void
pem_write(pem_kind_t kind, const uint8_t key[KEY_BYTES], char out[PEM_TEXT_MAX])
{
    const pem_shape_t *s = &shapes[kind];
    uint8_t der[DER_MAX];
    char b64[B64_MAX];

    memcpy(der, s->prefix, s->prefix_len);
    memcpy(der + s->prefix_len, key, KEY_BYTES);
    sodium_bin2base64(b64, sizeof(b64), der, s->prefix_len + KEY_BYTES, sodium_base64_VARIANT_ORIGINAL);
    int n = snprintf(out, PEM_TEXT_MAX, "%s\n%s\n%s\n", s->begin, b64, s->end);
    salt_assert(strlen(b64) <= B64_LINE && n > 0 && n < PEM_TEXT_MAX);
    sodium_memzero(der, sizeof(der));
    sodium_memzero(b64, sizeof(b64));
}

static bool
pem_is_blank(char c)
{
    return c != '\0' && strchr(BLANKS, c) != NULL;
}

/* Narrow [*from, *to) by the white space at its ends. */
static void
trim(const char **from, const char **to)
{
    while (*from < *to && pem_is_blank(**from))
        ++*from;
    while (*from < *to && pem_is_blank((*to)[-1]))
        --*to;
}

static bool
take_front(const char **from, const char *to, const char *text)
{
    size_t n = strlen(text);

    if ((size_t) (to - *from) < n || memcmp(*from, text, n) != 0)
        return false;
    *from += n;
    return true;
}

static bool
pem_take_back(const char *from, const char **to, const char *text)
{
    size_t n = strlen(text);

    if ((size_t) (*to - from) < n || memcmp(*to - n, text, n) != 0)
        return false;
    *to -= n;
    return true;
}

/* Decode the base64 body, and compare length and prefix. */
static bool
der_read(const pem_shape_t *s, const char *body, size_t len, uint8_t out[KEY_BYTES])
{
    uint8_t der[DER_MAX];
    size_t n = 0;
    const char *end = NULL;
    bool ok = sodium_base642bin(der, sizeof(der), body, len, "\r\n", &n, &end,
                                sodium_base64_VARIANT_ORIGINAL) == 0 &&
              end == body + len && n == s->prefix_len + KEY_BYTES &&
              memcmp(der, s->prefix, s->prefix_len) == 0;

    if (ok)
        memcpy(out, der + s->prefix_len, KEY_BYTES);
    sodium_memzero(der, sizeof(der));
    return ok;
}

int
pem_read(pem_kind_t kind, const char *pem, size_t len, uint8_t out[KEY_BYTES], fail_t *err)
{
    const pem_shape_t *s = &shapes[kind];
    const char *from = pem, *to = pem + len;

    if (len > LIMIT_KEY_FILE)
        return fail_set(err, -EINVAL, "a key is at most %d bytes long, this has %zu", LIMIT_KEY_FILE, len);
    trim(&from, &to);
    if (from == to)
        return fail_set(err, -EINVAL, "the key is empty");
    if (!take_front(&from, to, s->begin) || from == to || (*from != '\n' && *from != '\r'))
        return fail_set(err, -EINVAL, "it does not start with the line '%s'", s->begin);
    if (!pem_take_back(from, &to, s->end) || to[-1] != '\n')
        return fail_set(err, -EINVAL, "it does not end with the line '%s'", s->end);
    trim(&from, &to);
    if (!der_read(s, from, (size_t) (to - from), out))
        return fail_set(err, -EINVAL,
                        "it does not hold an %s key (RFC 8410); RSA keys of other Salt "
                        "versions can't be used, make a new one",
                        s->noun);
    return 0;
}

/* Keep the lines between the first and last that are not blank; Salt drops the armour lines without looking
 * at them. */
size_t
pem_body(const char *pem, size_t len, char **ret_body)
{
    char *body = xcalloc(1, len + 1);
    size_t n = 0, first_end = 0, last_start = 0;
    bool seen = false;

    for (const char *p = pem, *end = pem + len; p < end;) {
        const char *nl = memchr(p, '\n', (size_t) (end - p));
        const char *next = nl != NULL ? nl + 1 : end, *a = p, *b = next;

        trim(&a, &b);
        if (a < b) {
            last_start = n;
            for (const char *c = p; c < next; c++)
                if (*c != '\r' || c + 1 == next || c[1] != '\n')
                    body[n++] = *c;
            if (!seen)
                first_end = n;
            seen = true;
        }
        p = next;
    }
    n = last_start > first_end ? last_start - first_end : 0;
    memmove(body, body + first_end, n);
    *ret_body = body;
    return n;
}
