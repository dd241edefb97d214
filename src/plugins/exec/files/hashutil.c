/* hashutil.c - execution module `hashutil`: digests, base64 and HMAC signatures (RFC 2104), on top of
 * common/base. Signatures are compared in constant time. Texts are hashed as their UTF-8 bytes. Errors of a
 * wrong input are Python's, whose functions Salt calls. */
#include "salt/plugin.h"

#include "common/base/base64.h"
#include "common/base/buf.h"
#include "common/base/digest.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/crypto/keys.h"
#include "common/data/yaml_scalar.h"

enum { ENCODED_LINE = 76, BLOCK_MAX = 128, DIGEST_MAX = 64 };

/* Text as it is, anything else as Python's str(). NEW. */
static char *
text_arg(const json_t *args, const char *name, size_t *ret_len)
{
    json_t *v = value_get(args, name);
    char *text = value_pystr(v);

    *ret_len = json_is_string(v) ? json_string_length(v) : strlen(text);
    return text;
}

/* ---- digests ------------------------------------------------------------------------------ */

/* The row's or the caller's type: its names are those of Python's hashlib. */
static int
digest_value(const json_t *args, const char *type, json_t **ret_value, fail_t *err)
{
    size_t len;
    AUTO_FREE char *text = text_arg(args, "instr", &len);
    AUTO_FREE char *hex = digest_bytes(type, text, len, err);

    if (hex == NULL)
        return -EINVAL;
    *ret_value = json_string(hex);
    return 0;
}

/* md5_digest and its like: the row's text is the type. */
static int
hashutil_digest_by(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return digest_value(args, ctx_row(ctx)->data.text, ret_value, err);
}

/* Digests that Salt's hashutil.digest knows. Fewer than digest_bytes() has: Salt names three, and others are
 * its error. */
static int
check_checksum(const char *type, fail_t *err)
{
    static const char *const known[] = { "md5", "sha256", "sha512" };

    for (size_t i = 0; i < NELEMS(known); i++) {
        if (strcmp(known[i], type) == 0)
            return 0;
    }
    return fail_kind(err, FAIL_COMMAND, -EINVAL, "Hash func '%s' is not supported.", type);
}

/* The type is an argument here; md5, sha256 and sha512 are known. */
static int
hashutil_digest(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *type = value_str(args, "checksum", "");

    return check_checksum(type, err) == 0 ? digest_value(args, type, ret_value, err) : -EINVAL;
}

/* Only a file counts: Salt asks file.file_exists before. */
static int
hashutil_digest_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "infile", ""), *type = value_str(args, "checksum", "");
    AUTO_FREE char *hex = NULL;

    int there = fs_look(path, err);
    if (there < 0)
        return there;
    if (there == 0 || fs_is_dir(path))
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "File path '%s' not found.", path);
    if (check_checksum(type, err) < 0)
        return -EINVAL;
    int rc = digest_file(path, type, &hex, err);
    if (rc == 0)
        *ret_value = json_string(hex);
    return rc;
}

/* ---- base64 ------------------------------------------------------------------------------- */

/* base64_b64encode has no line breaks, base64_encodestring one each 76 characters and at the end: the row's
 * number. */
static int
hashutil_encode(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    size_t line = (size_t) ctx_row(ctx)->data.number;
    size_t len;
    AUTO_FREE char *text = text_arg(args, "instr", &len);
    AUTO_FREE char *out = base64_encode(text, len, line);

    *ret_value = json_string(out != NULL ? out : "");
    return 0;
}

/* NEW bytes, or NULL with *err. Python ignores characters that are no base64, but not wrong padding. */
static char *
hashutil_decode(const json_t *args, size_t *ret_len, fail_t *err)
{
    size_t len;
    AUTO_FREE char *text = text_arg(args, "instr", &len);
    AUTO_FREE char *why = NULL;
    char *bytes = yaml_from_base64(text, len, ret_len, &why);

    if (bytes == NULL)
        fail_set(err, -EINVAL, "binascii.Error: %s", why);
    return bytes;
}

/* A result is text: a byte that is no UTF-8 becomes U+FFFD, where Salt returns bytes. */
static int
hashutil_base64_decode(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    size_t len;
    AUTO_FREE char *bytes = hashutil_decode(args, &len, err);

    if (bytes == NULL)
        return -EINVAL;
    *ret_value = value_utf8(bytes, len);
    return 0;
}

/* With the line breaks of base64.encodebytes, since the answer is meant for files. */
static int
hashutil_base64_encodefile(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    buf_auto_t bytes = BUF_INIT;
    int rc = fs_read(value_str(args, "fname", ""), LIMIT_FILE_READ, &bytes, err);

    if (rc < 0)
        return rc;
    AUTO_FREE char *out = base64_encode(buf_str(&bytes), bytes.len, ENCODED_LINE);
    *ret_value = json_string(out != NULL ? out : "");
    return 0;
}

/* The file is replaced whole; True when it is written. */
static int
hashutil_base64_decodefile(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    size_t len;
    AUTO_FREE char *bytes = hashutil_decode(args, &len, err);

    if (bytes == NULL)
        return -EINVAL;
    int rc = fs_write_atomic(value_str(args, "outfile", ""), bytes, len, 0644, err);
    if (rc == 0)
        *ret_value = json_true();
    return rc;
}

/* ---- signatures --------------------------------------------------------------------------- */

/* The digest of two pieces as bytes; their number. HMAC hashes a pad and a text that need not lie behind one
 * another. */
static size_t
digest_raw(const char *type, const void *a, size_t a_len, const void *b, size_t b_len, unsigned char *out)
{
    AUTO(digest) d = digest_new(type, NULL);
    unsigned byte;
    size_t n = 0;

    salt_assert(d != NULL); /* the caller has checked the name */
    digest_add(d, a, a_len);
    digest_add(d, b, b_len);
    AUTO_FREE char *hex = digest_hex(d);
    for (const char *p = hex; *p != '\0'; p += 2) {
        salt_assert(n < DIGEST_MAX && sscanf(p, "%2x", &byte) == 1);
        out[n++] = (unsigned char) byte;
    }
    return n;
}

/* HMAC of `string` under `shared_secret`; the number of bytes in `out`. */
static size_t
hmac_of_args(const json_t *args, const char *type, unsigned char out[DIGEST_MAX])
{
    size_t text_len, key_len;
    AUTO_FREE char *text = text_arg(args, "string", &text_len);
    AUTO_FREE char *key = text_arg(args, "shared_secret", &key_len);

    /* RFC 2104. `type` is a known digest; the number of bytes in `out`. */
    size_t block = digest_hex_len(type) > DIGEST_MAX ? BLOCK_MAX : BLOCK_MAX / 2;
    unsigned char pad[BLOCK_MAX] = { 0 }, inner[DIGEST_MAX], other[BLOCK_MAX];

    /* A longer key is replaced by its digest, a shorter one is filled up with zeros. */
    if (key_len > block)
        digest_raw(type, key, key_len, "", 0, pad);
    else
        memcpy(pad, key, key_len);
    for (size_t i = 0; i < block; i++) {
        other[i] = pad[i] ^ 0x36;
        pad[i] ^= 0x5c;
    }
    size_t n = digest_raw(type, other, block, text, text_len, inner);
    return digest_raw(type, pad, block, inner, n, out);
}

/* NEW hexadecimal text. */
static char *
to_hex(const unsigned char *bytes, size_t n)
{
    buf_auto_t hex = BUF_INIT;

    for (size_t i = 0; i < n; i++)
        buf_printf(&hex, "%02x", bytes[i]);
    return buf_steal(&hex);
}

/* The challenge is the signature in base64; True when it is the right one. */
static int
hashutil_hmac_signature(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    unsigned char mac[DIGEST_MAX];
    size_t n = hmac_of_args(args, "sha256", mac);
    AUTO_FREE char *text = base64_encode(mac, n, 0);

    *ret_value = json_boolean(key_text_equal(text, value_str(args, "challenge_hmac", "")));
    return 0;
}

/* Hexadecimal digits of HMAC with SHA-256. */
static int
hashutil_hmac_compute(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    unsigned char mac[DIGEST_MAX];
    size_t n = hmac_of_args(args, "sha256", mac);
    AUTO_FREE char *hex = to_hex(mac, n);

    *ret_value = json_string(hex);
    return 0;
}

/* The challenge says its digest: "sha1=0123...". As GitHub's webhooks send it in X-Hub-Signature. */
static int
hashutil_github_signature(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *challenge = value_str(args, "challenge_hmac", ""), *eq = strchr(challenge, '=');
    AUTO_FREE char *type = xstrndup(challenge, eq != NULL ? (size_t) (eq - challenge) : 0);
    unsigned char mac[DIGEST_MAX];

    if (digest_hex_len(type) == 0)
        return fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "challenge_hmac must be a digest's name, '=' and the signature, such as sha1=0123...");
    size_t n = hmac_of_args(args, type, mac);
    AUTO_FREE char *hex = to_hex(mac, n);
    *ret_value = json_boolean(key_text_equal(hex, eq + 1));
    return 0;
}

/* ---- table -------------------------------------------------------------------------------- */

static const arg_t instr_args[] = {
    ARG("instr", ARG_ANY, ARG_REQUIRED, "A text"),
    ARGS_END,
};
static const arg_t digest_args[] = {
    ARG("instr", ARG_ANY, ARG_REQUIRED, "A text"),
    ARG("checksum", ARG_STR, "\"md5\"", "md5, sha256 or sha512"),
    ARGS_END,
};
static const arg_t digest_file_args[] = {
    ARG("infile", ARG_STR, ARG_REQUIRED, "Path of a file"),
    ARG("checksum", ARG_STR, "\"md5\"", "md5, sha256 or sha512"),
    ARGS_END,
};
static const arg_t fname_args[] = {
    ARG("fname", ARG_STR, ARG_REQUIRED, "Path of a file"),
    ARGS_END,
};
static const arg_t decodefile_args[] = {
    ARG("instr", ARG_ANY, ARG_REQUIRED, "Base64 text"),
    ARG("outfile", ARG_STR, ARG_REQUIRED, "Path of the file to write"),
    ARGS_END,
};
static const arg_t signature_args[] = {
    ARG("string", ARG_ANY, ARG_REQUIRED, "The signed text"),
    ARG("shared_secret", ARG_ANY, ARG_REQUIRED, "The secret that both sides know"),
    ARG("challenge_hmac", ARG_STR, ARG_REQUIRED, "The signature to check"),
    ARGS_END,
};
static const arg_t compute_args[] = {
    ARG("string", ARG_ANY, ARG_REQUIRED, "The text to sign"),
    ARG("shared_secret", ARG_ANY, ARG_REQUIRED, "The secret that both sides know"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "base64_b64decode", hashutil_base64_decode, instr_args, FN_READONLY,
      "Decode a base64 text. Bytes that are not UTF-8 are replaced." CLI_EXAMPLE(
          "salt '*' hashutil.base64_b64decode 'Z2V0IHNhbHRlZA=='") },
    { "base64_b64encode", hashutil_encode, instr_args, FN_READONLY,
      "Encode a text as base64 without line breaks." CLI_EXAMPLE(
          "salt '*' hashutil.base64_b64encode 'get salted'"),
      .data.number = 0 },
    { "base64_decodefile", hashutil_base64_decodefile, decodefile_args, 0,
      "Decode a base64 text into a file." CLI_EXAMPLE(
          "salt '*' hashutil.base64_decodefile instr='Z2V0IHNhbHRlZAo=' outfile='/path/to/binary_file'") },
    { "base64_decodestring", hashutil_base64_decode, instr_args, FN_READONLY,
      "Decode a base64 text. Bytes that are not UTF-8 are replaced." CLI_EXAMPLE(
          "salt '*' hashutil.base64_decodestring instr='Z2V0IHNhbHRlZAo='") },
    { "base64_encodefile", hashutil_base64_encodefile, fname_args, FN_READONLY,
      "Return a file's content as base64 in lines of 76 characters." CLI_EXAMPLE(
          "salt '*' hashutil.base64_encodefile /path/to/binary_file") },
    { "base64_encodestring", hashutil_encode, instr_args, FN_READONLY,
      "Encode a text as base64 in lines of 76 characters." CLI_EXAMPLE(
          "salt '*' hashutil.base64_encodestring 'get salted'"),
      .data.number = ENCODED_LINE },
    { "digest", hashutil_digest, digest_args, FN_READONLY,
      "Return the digest of a text." CLI_EXAMPLE("salt '*' hashutil.digest 'get salted'") },
    { "digest_file", hashutil_digest_file, digest_file_args, FN_READONLY,
      "Return the digest of a file." CLI_EXAMPLE("salt '*' hashutil.digest_file /path/to/file") },
    { "github_signature", hashutil_github_signature, signature_args, FN_READONLY,
      "Whether the signature of a GitHub webhook is right." CLI_EXAMPLE(
          "salt '*' hashutil.github_signature '{\"ref\":....} ' 'shared secret' "
          "challenge_hmac='sha1=bc6550fc290acf5b42283fa8deaf55cea0f8c206'") },
    { "hmac_compute", hashutil_hmac_compute, compute_args, FN_READONLY,
      "Return the HMAC with SHA-256 of a text." CLI_EXAMPLE(
          "salt '*' hashutil.hmac_compute 'get salted' 'shared secret'") },
    { "hmac_signature", hashutil_hmac_signature, signature_args, FN_READONLY,
      "Whether a base64 HMAC with SHA-256 is the right one for a text." CLI_EXAMPLE(
          "salt '*' hashutil.hmac_signature 'get salted' 'shared secret' "
          "'eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ='") },
    { "md5_digest", hashutil_digest_by, instr_args, FN_READONLY,
      "Return the MD5 of a text." CLI_EXAMPLE("salt '*' hashutil.md5_digest 'get salted'"),
      .data.text = "md5" },
    { "sha256_digest", hashutil_digest_by, instr_args, FN_READONLY,
      "Return the SHA-256 of a text." CLI_EXAMPLE("salt '*' hashutil.sha256_digest 'get salted'"),
      .data.text = "sha256" },
    { "sha512_digest", hashutil_digest_by, instr_args, FN_READONLY,
      "Return the SHA-512 of a text." CLI_EXAMPLE("salt '*' hashutil.sha512_digest 'get salted'"),
      .data.text = "sha512" },
};

PLUGIN(exec, hashutil, .doc = "Digests, base64 and signatures", FUNCS(funcs));
