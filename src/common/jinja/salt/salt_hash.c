/* salt_hash.c - Salt's filters for digests, base64, HMAC, UUIDs and random numbers. Digests come from the
 * digest library; HMAC-SHA256 (RFC 2104) and version 5 UUIDs (RFC 4122) are composed here. */
#include "common/base/base64.h"
#include "common/base/digest.h"
#include "common/base/pyrandom.h"
#include "common/base/str.h"
#include "common/data/yaml_scalar.h"
#include "common/jinja/salt/salt_filter.h"

/* Bytes of a str or bytes, BORROWED; NULL raised for other types. */
static const char *
salt_hash_bytes_of(py_t *v, size_t *ret_len)
{
    if (py_is(v, PY_STR) || py_is(v, PY_BYTES))
        return py_text(v, ret_len);
    return py_raise(&py_TypeError, "expected str, bytes, or bytearray not <class '%s'>", py_type_name(v));
}

/* Digest as hexadecimal text; an unknown name is a ValueError. */
static py_t *
digest_of(const char *name, const void *bytes, size_t len)
{
    fail_auto_t err = FAIL_INIT;
    char *hex AUTO_FREE = digest_bytes(name, bytes, len, &err);
    return hex != NULL ? py_strz(hex) : py_raise(&py_ValueError, "%s", fail_text(&err));
}

static py_t *
digest_filter(py_t *v, const char *name)
{
    size_t len;
    const char *bytes = salt_hash_bytes_of(v, &len);
    return bytes != NULL ? digest_of(name, bytes, len) : NULL;
}

JFILTER(md5_digest)
{
    return digest_filter(a[0], "md5");
}

JFILTER(sha1_digest)
{
    return digest_filter(a[0], "sha1");
}

JFILTER(sha256_digest)
{
    return digest_filter(a[0], "sha256");
}

JFILTER(sha512_digest)
{
    return digest_filter(a[0], "sha512");
}

static int
salt_hash_hex_digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static void
from_hex(const char *hex, unsigned char *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char) (salt_hash_hex_digit(hex[2 * i]) << 4 | salt_hash_hex_digit(hex[2 * i + 1]));
}

/* ---- base64 ------------------------------------------------------------------------------------------- */

JFILTER(base64_b64encode)
{
    size_t len;
    const char *bytes = salt_hash_bytes_of(a[0], &len);
    if (bytes == NULL)
        return NULL;
    char *text AUTO_FREE = base64_encode(bytes, len, 0);
    return py_strz(text);
}

/* binascii.a2b_base64: other characters are skipped, padding is required. */
static int
base64_decode(const char *s, size_t len, buf_t *out)
{
    static const py_exc_t error = { "Error", &py_ValueError };
    unsigned bits = 0, n = 0, pads = 0;
    for (size_t i = 0; i < len; i++) {
        char c = s[i];
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const char *at = c != '\0' ? strchr(digits, c) : NULL;
        int v = at != NULL ? (int) (at - digits) : -1;

        if (s[i] == '=' && n % 4 >= 2 && n % 4 + ++pads >= 4)
            return 0;
        if (v < 0)
            continue;
        pads = 0;
        bits = bits << 6 | (unsigned) v;
        if (n++ % 4 != 0)
            buf_putc(out, (char) (bits >> (6 - 2 * ((n - 1) % 4))));
    }
    if (n % 4 == 1)
        return py_raise_int(&error,
                            "Invalid base64-encoded string: number of data characters (%u) cannot be 1 more "
                            "than a multiple of 4",
                            n);
    return n % 4 != 0 ? py_raise_int(&error, "Incorrect padding") : 0;
}

JFILTER(base64_b64decode)
{
    size_t len;
    const char *text = salt_hash_bytes_of(a[0], &len);
    buf_auto_t out = BUF_INIT;
    if (text == NULL || base64_decode(text, len, &out) < 0)
        return NULL;
    AUTO(py) bytes = py_bytes(buf_str(&out), out.len);
    py_t *decoded = jmethod(bytes, "decode", 0);
    if (decoded != NULL || !py_raised_is(&py_UnicodeError))
        return decoded;
    py_clear();
    return STEAL(bytes);
}

/* ---- HMAC --------------------------------------------------------------------------------------------- */

enum { HMAC_BLOCK = 64, HMAC_LEN = 32 };

/* HMAC-SHA256 as hexadecimal text. NEW. */
static py_t *
salt_hash_hmac(py_t *message, py_t *secret)
{
    size_t len, key_len;
    const char *text = salt_hash_bytes_of(message, &len);
    const char *key = text != NULL ? salt_hash_bytes_of(secret, &key_len) : NULL;
    if (key == NULL)
        return NULL;
    unsigned char block[HMAC_BLOCK] = { 0 }, inner[HMAC_LEN];
    if (key_len > HMAC_BLOCK) {
        char *hex AUTO_FREE = digest_bytes("sha256", key, key_len, NULL);
        from_hex(hex, block, HMAC_LEN);
    } else {
        memcpy(block, key, key_len);
    }
    for (size_t i = 0; i < HMAC_BLOCK; i++)
        block[i] ^= 0x36;
    AUTO(digest) d = digest_new("sha256", NULL);
    digest_add(d, block, HMAC_BLOCK);
    digest_add(d, text, len);
    char *hex AUTO_FREE = digest_hex(d);
    from_hex(hex, inner, HMAC_LEN);
    for (size_t i = 0; i < HMAC_BLOCK; i++)
        block[i] ^= 0x36 ^ 0x5c;
    AUTO(digest) outer = digest_new("sha256", NULL);
    digest_add(outer, block, HMAC_BLOCK);
    digest_add(outer, inner, HMAC_LEN);
    char *result AUTO_FREE = digest_hex(outer);
    return py_strz(result);
}

JFILTER(hmac_compute)
{
    return salt_hash_hmac(a[0], a[1]);
}

JFILTER(hmac_signature)
{
    size_t len;
    AUTO(py) hex = salt_hash_hmac(a[0], a[1]);
    const char *challenge = hex != NULL ? salt_hash_bytes_of(a[2], &len) : NULL;
    if (challenge == NULL)
        return NULL;
    unsigned char bytes[HMAC_LEN];
    from_hex(py_cstr(hex), bytes, HMAC_LEN);
    char *expected AUTO_FREE = base64_encode(bytes, HMAC_LEN, 0);
    return py_bool(strlen(expected) == len && memcmp(expected, challenge, len) == 0);
}

/* ---- UUID, chance, files ------------------------------------------------------------------------------ */

/* uuid5 in Salt's own namespace. */
JFILTER(uuid_)
{
    static const unsigned char space[16] = { 0x91, 0x63, 0x3e, 0xbf, 0x1c, 0x86, 0x5e, 0x33,
                                             0x93, 0x5a, 0x28, 0x06, 0x1f, 0x4b, 0x48, 0x0e };
    size_t len;
    const char *bytes = salt_hash_bytes_of(a[0], &len);
    if (bytes == NULL)
        return NULL;
    AUTO(digest) d = digest_new("sha1", NULL);
    digest_add(d, space, sizeof(space));
    digest_add(d, bytes, len);
    char *hex AUTO_FREE = digest_hex(d);
    unsigned char u[16];
    from_hex(hex, u, sizeof(u));
    u[6] = (unsigned char) ((u[6] & 0x0f) | 0x50);
    u[8] = (unsigned char) ((u[8] & 0x3f) | 0x80);
    return py_strf("%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2],
                   u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

JFILTER(random_hash)
{
    int64_t size;
    if (a[0] != NULL && py_is(a[0], PY_STR))
        return py_raise(&py_TypeError, "can only concatenate str (not \"int\") to str");
    if (jindex(a[0], 9999999999, &size) < 0)
        return NULL;
    if (size < 0)
        return py_raise(&py_ValueError, "empty range for randrange() (0, %lld, %lld)", (long long) size + 1,
                        (long long) size + 1);
    AUTO(pyrandom) random = pyrandom_new(NULL, NULL);
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long) pyrandom_below(random, (uint64_t) size + 1));
    const char *type = a[1] != NULL && py_is(a[1], PY_STR) && py_cstr(a[1])[0] != '\0' ? py_cstr(a[1])
                                                                                       : "md5";
    return digest_of(type, text, strlen(text));
}

JFILTER(get_hash)
{
    char *hex = NULL;
    fail_auto_t err = FAIL_INIT;
    if (!py_is(a[0], PY_STR))
        return py_raise(&py_TypeError, "expected str, bytes or os.PathLike object, not %s",
                        py_type_name(a[0]));
    if (digest_file(py_cstr(a[0]), a[1] != NULL ? py_cstr(a[1]) : "sha256", &hex, &err) < 0) {
        static const py_exc_t not_found = { "FileNotFoundError", NULL };
        return py_raise(&not_found, "%s", fail_text(&err));
    }
    py_t *v = py_strz(hex);
    free(hex);
    return v;
}

static const jfilter_t rows[] = {
    { JROW("base64_decode", base64_b64decode, JP("instr"), 1, 1, 0), 0, "From base64." },
    { JROW("base64_encode", base64_b64encode, JP("instr"), 1, 1, 0), 0, "To base64." },
    { JROW("file_hashsum", get_hash, JP("path", "form", "chunk_size"), 1, 3, 0), JF_WORLD,
      "Digest of a file." },
    { JROW("hmac", hmac_signature, JP("string", "shared_secret", "challenge_hmac"), 3, 3, 0), 0,
      "Whether a signature is right." },
    { JROW("hmac_compute", hmac_compute, JP("string", "shared_secret"), 2, 2, 0), 0, "A signature." },
    { JROW("md5", md5_digest, JP("instr"), 1, 1, 0), 0, "MD5 of a text." },
    { JROW("rand_str", random_hash, JP("size", "hash_type"), 0, 2, 0), JF_WORLD,
      "Digest of a random number." },
    { JROW("random_hash", random_hash, JP("size", "hash_type"), 0, 2, 0), JF_WORLD,
      "Digest of a random number." },
    { JROW("sha1", sha1_digest, JP("instr"), 1, 1, 0), 0, "SHA-1 of a text." },
    { JROW("sha256", sha256_digest, JP("instr"), 1, 1, 0), 0, "SHA-256 of a text." },
    { JROW("sha512", sha512_digest, JP("instr"), 1, 1, 0), 0, "SHA-512 of a text." },
    { JROW("uuid", uuid_, JP("val"), 1, 1, 0), 0, "A UUID made of a text." },
};

const jfilter_table_t jfilters_salt_hash = JTABLE(rows);
