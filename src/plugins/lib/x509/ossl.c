/* ossl.c - keys and signatures by libcrypto. Its functions are found by name when one is needed, so that a
 * minion without certificates does not have the library in memory, and building needs no headers of it: all
 * types are opaque here. */
#include <dlfcn.h>
#include <pthread.h>

#include "common/base/str.h"
#include "common/host/library.h"
#include "plugins/lib/x509/ossl.h"

typedef struct evp_md evp_md_t;
typedef struct evp_md_ctx evp_md_ctx_t;
typedef struct bio bio_t;
typedef struct p8 p8_t;
typedef struct x509_sig x509_sig_t;
typedef struct pkcs12 pkcs12_t;
typedef struct x509 x509_t;
typedef struct sk sk_t;
typedef int pass_fn(char *into, int room, int writing, void *cookie);

/* All functions that are used: name in libcrypto, result, arguments. */
#define OSSL_FUNCTIONS(F)                                                                                    \
    F(RAND_bytes, int, (unsigned char *, int) )                                                              \
    F(ERR_clear_error, void, (void) )                                                                        \
    F(EVP_PKEY_Q_keygen, pkey_t *, (void *, const char *, const char *, ...))                                \
    F(EVP_PKEY_free, void, (pkey_t *) )                                                                      \
    F(EVP_PKEY_get_base_id, int, (const pkey_t *) )                                                          \
    F(EVP_PKEY_get_bits, int, (const pkey_t *) )                                                             \
    F(EVP_PKEY_eq, int, (const pkey_t *, const pkey_t *) )                                                   \
    F(EVP_PKEY2PKCS8, p8_t *, (const pkey_t *) )                                                             \
    F(PKCS8_PRIV_KEY_INFO_free, void, (p8_t *) )                                                             \
    F(i2d_PKCS8_PRIV_KEY_INFO, int, (const p8_t *, unsigned char **) )                                       \
    F(PKCS8_encrypt, x509_sig_t *,                                                                           \
      (int, const void *, const char *, int, unsigned char *, int, int, p8_t *) )                            \
    F(i2d_X509_SIG, int, (const x509_sig_t *, unsigned char **) )                                            \
    F(X509_SIG_free, void, (x509_sig_t *) )                                                                  \
    F(EVP_aes_256_cbc, const void *, (void) )                                                                \
    F(i2d_PUBKEY, int, (const pkey_t *, unsigned char **) )                                                  \
    F(d2i_PUBKEY, pkey_t *, (pkey_t **, const unsigned char **, long) )                                      \
    F(BIO_new_mem_buf, bio_t *, (const void *, int) )                                                        \
    F(BIO_free, int, (bio_t *) )                                                                             \
    F(PEM_read_bio_PrivateKey, pkey_t *, (bio_t *, pkey_t **, pass_fn *, void *) )                           \
    F(d2i_AutoPrivateKey, pkey_t *, (pkey_t **, const unsigned char **, long) )                              \
    F(d2i_PKCS8PrivateKey_bio, pkey_t *, (bio_t *, pkey_t **, pass_fn *, void *) )                           \
    F(EVP_get_digestbyname, const evp_md_t *, (const char *) )                                               \
    F(EVP_MD_CTX_new, evp_md_ctx_t *, (void) )                                                               \
    F(EVP_MD_CTX_free, void, (evp_md_ctx_t *) )                                                              \
    F(EVP_DigestSignInit, int, (evp_md_ctx_t *, void **, const evp_md_t *, void *, pkey_t *) )               \
    F(EVP_DigestSign, int, (evp_md_ctx_t *, unsigned char *, size_t *, const unsigned char *, size_t))       \
    F(EVP_DigestVerifyInit, int, (evp_md_ctx_t *, void **, const evp_md_t *, void *, pkey_t *) )             \
    F(EVP_DigestVerify, int, (evp_md_ctx_t *, const unsigned char *, size_t, const unsigned char *, size_t)) \
    F(EVP_PKEY_CTX_set_rsa_padding, int, (void *, int) )                                                     \
    F(EVP_Digest, int, (const void *, size_t, unsigned char *, unsigned *, const evp_md_t *, void *) )       \
    F(d2i_PKCS12, pkcs12_t *, (pkcs12_t **, const unsigned char **, long) )                                  \
    F(i2d_PKCS12, int, (const pkcs12_t *, unsigned char **) )                                                \
    F(PKCS12_free, void, (pkcs12_t *) )                                                                      \
    F(PKCS12_verify_mac, int, (pkcs12_t *, const char *, int) )                                              \
    F(PKCS12_parse, int, (pkcs12_t *, const char *, pkey_t **, x509_t **, sk_t **) )                         \
    F(PKCS12_create, pkcs12_t *,                                                                             \
      (const char *, const char *, pkey_t *, x509_t *, sk_t *, int, int, int, int, int) )                    \
    F(d2i_X509, x509_t *, (x509_t **, const unsigned char **, long) )                                        \
    F(i2d_X509, int, (const x509_t *, unsigned char **) )                                                    \
    F(X509_free, void, (x509_t *) )                                                                          \
    F(X509_alias_get0, unsigned char *, (x509_t *, int *) )                                                  \
    F(OPENSSL_sk_new_null, sk_t *, (void) )                                                                  \
    F(OPENSSL_sk_push, int, (sk_t *, const void *) )                                                         \
    F(OPENSSL_sk_num, int, (const sk_t *) )                                                                  \
    F(OPENSSL_sk_value, void *, (const sk_t *, int) )                                                        \
    F(OPENSSL_sk_pop_free, void, (sk_t *, void (*)(void *)))

#define OSSL_MEMBER(name, result, arguments) result(*name) arguments;
#define OSSL_SYMBOL(name, result, arguments) ROW(#name, offsetof(struct ossl, name)),

static struct ossl {
    OSSL_FUNCTIONS(OSSL_MEMBER)
} lib;
static bool lib_loaded;
static pthread_mutex_t lib_lock = PTHREAD_MUTEX_INITIALIZER;

static const library_symbol_t symbols[] = { OSSL_FUNCTIONS(OSSL_SYMBOL) };

enum {
    NID_RSA = 6,
    NID_EC = 408,
    NID_ED25519 = 1087,
    NID_ED448 = 1088,
    NID_3DES_SHA1 = 146, /* pbeWithSHA1And3-KeyTripleDES-CBC */
    RSA_PADDING_PSS = 6,
    ROUNDS = 20000, /* of PBKDF2, as cryptography has it */
    ROUNDS_COMPAT = 50000,
    RSA_BITS_MIN = 512, /* libcrypto's own bounds */
    RSA_BITS_MAX = 16384,
    PASS_MAX = 1023
};

/* ---- the library -------------------------------------------------------------------------------- */

static const char *const lib_names[] = { "libcrypto.so.3", NULL };

/* Version 3 alone: EVP_PKEY_Q_keygen() is new there. */
static void *
lib_open(struct ossl *into)
{
    return library_open(lib_names, symbols, NELEMS(symbols), into, NULL);
}

/* A look does not keep the library: who lists modules has no use for it. */
const char *
ossl_missing(call_ctx_t *ctx)
{
    struct ossl found;
    void *library = lib_loaded ? NULL : lib_open(&found);

    if (library == NULL && !lib_loaded)
        return "libcrypto of OpenSSL 3 can't be loaded: install the package libssl3 (Debian, Ubuntu) or openssl-libs "
               "(Fedora, RHEL)";
    if (library != NULL)
        (void) dlclose(library);
    return NULL;
}

/* Loads it for good. */
static int
lib_load(fail_t *err)
{
    (void) pthread_mutex_lock(&lib_lock);
    lib_loaded = lib_loaded || lib_open(&lib) != NULL;
    bool ready = lib_loaded;
    (void) pthread_mutex_unlock(&lib_lock);
    if (!ready)
        return fail_kind(err, FAIL_COMMAND, -ENOSYS, "%s", ossl_missing(NULL));
    lib.ERR_clear_error();
    return 0;
}

/* The library stays because lib_load has it open. */
int
ossl_symbols(const library_symbol_t *wanted, size_t n, void *into, fail_t *err)
{
    void *library = lib_load(err) == 0 ? library_open(lib_names, wanted, n, into, err) : NULL;

    if (library != NULL)
        (void) dlclose(library);
    return library != NULL ? 0 : err->code;
}

/* For buffers that held a secret; what a growing buffer left behind is not reached. */
void
ossl_wipe(buf_t *b)
{
    if (b->data != NULL)
        explicit_bzero(b->data, b->cap);
    buf_free(b);
}

/* From libcrypto, so that it is the generator that its keys come from. */
int
ossl_random(uint8_t *out, size_t len, fail_t *err)
{
    if (lib_load(err) != 0)
        return err->code;
    return lib.RAND_bytes(out, (int) len) == 1
               ? 0
               : fail_kind(err, FAIL_COMMAND, -EIO, "libcrypto has no random bytes");
}

/* Appends what one of libcrypto's i2d functions writes; false when it fails. */
#define OSSL_WRITE(out, function, object)                                                                    \
    ({                                                                                                       \
        int size_ = lib.function(object, NULL);                                                              \
        bool good_ = size_ > 0;                                                                              \
        if (good_) {                                                                                         \
            buf_fill(out, '\0', (size_t) size_);                                                             \
            unsigned char *at_ = (unsigned char *) (out)->data + (out)->len - size_;                         \
            good_ = lib.function(object, &at_) == size_;                                                     \
        }                                                                                                    \
        good_;                                                                                               \
    })

/* ---- keys --------------------------------------------------------------------------------------- */

static const char *const type_names[] = { NULL, "rsa", "ec", "ed25519", "ed448" };

const char *
pkey_type_name(pkey_type_t type)
{
    return type_names[type];
}

void
pkey_destroy(pkey_t **self_p)
{
    if (*self_p != NULL)
        lib.EVP_PKEY_free(*self_p);
    *self_p = NULL;
}

/* By OpenSSL's numbers of algorithms, which do not change. */
pkey_type_t
pkey_type(const pkey_t *self)
{
    switch (lib.EVP_PKEY_get_base_id(self)) {
    case NID_RSA:
        return PKEY_RSA;
    case NID_EC:
        return PKEY_EC;
    case NID_ED25519:
        return PKEY_ED25519;
    case NID_ED448:
        return PKEY_ED448;
    default:
        return PKEY_OTHER;
    }
}

int
pkey_bits(const pkey_t *self)
{
    return lib.EVP_PKEY_get_bits(self);
}

bool
pkey_equal(const pkey_t *a, const pkey_t *b)
{
    return lib.EVP_PKEY_eq(a, b) == 1;
}

/* Any size that libcrypto takes, for the module `tls`; x509 asks pkey_make(), which has Salt's three. */
pkey_t *
pkey_make_rsa(json_int_t bits, fail_t *err)
{
    pkey_t *key = NULL;

    if (bits < RSA_BITS_MIN || bits > RSA_BITS_MAX)
        fail_kind(err, FAIL_INVOCATION, -EINVAL,
                  "bits: a key of RSA has from %d to %d bits, not %" JSON_INTEGER_FORMAT, RSA_BITS_MIN,
                  RSA_BITS_MAX, bits);
    else if (lib_load(err) == 0 && (key = lib.EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t) bits)) == NULL)
        fail_kind(err, FAIL_COMMAND, -EIO, "libcrypto could not make a key of RSA");
    return key;
}

/* Salt's sizes and errors. 0 bits: the default. */
pkey_t *
pkey_make(const char *algo, json_int_t bits, fail_t *err)
{
    pkey_t *key = NULL;

    if (lib_load(err) != 0)
        return NULL;
    if (str_eq(algo, "rsa")) {
        bits = bits != 0 ? bits : 2048;
        if (bits != 2048 && bits != 3072 && bits != 4096)
            fail_kind(err, FAIL_INVOCATION, -EINVAL, "RSA key size must be either 2048, 3072 or 4096 bits.");
        else
            key = pkey_make_rsa(bits, err);
    } else if (str_eq(algo, "ec")) {
        bits = bits != 0 ? bits : 256;
        if (bits != 256 && bits != 384 && bits != 521)
            fail_kind(err, FAIL_INVOCATION, -EINVAL, "EC key size must be either 256, 384, 521 bits.");
        else
            key = lib.EVP_PKEY_Q_keygen(NULL, NULL, "EC",
                                        bits == 256   ? "P-256"
                                        : bits == 384 ? "P-384"
                                                      : "P-521");
    } else if (str_eq(algo, "ed25519") || str_eq(algo, "ed448")) {
        key = lib.EVP_PKEY_Q_keygen(NULL, NULL, str_eq(algo, "ed448") ? "ED448" : "ED25519");
    } else {
        fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "Invalid algorithm specified for generating private key: %s. Valid: rsa, ec, ed25519, ed448",
            algo != NULL ? algo : "None");
    }
    if (key == NULL)
        fail_kind(err, FAIL_COMMAND, -EIO, "libcrypto could not make a key of %s", algo);
    return key;
}

/* libcrypto asks for a passphrase only when a key has one: `was` tells the encrypted from the plain. */
typedef struct asked {
    const char *pass;
    bool was;
} asked_t;

/* libcrypto's callback: the length, or -1 for no passphrase, which makes the reading fail. */
static int
give_pass(char *into, int room, int writing, void *cookie)
{
    asked_t *asked = cookie;
    size_t len = asked->pass != NULL ? strlen(asked->pass) : 0;

    asked->was = true;
    if (asked->pass == NULL || room < 0 || len > (size_t) room)
        return -1;
    memcpy(into, asked->pass, len);
    return (int) len;
}

/* Sets what Salt says of a key that is none, or NULL for a key. */
static pkey_t *
key_failed(pkey_trouble_t trouble, bool pem, pkey_trouble_t *ret_trouble, fail_t *err)
{
    static const char *const texts[] = { "", "", "Private key is encrypted. Please provide a password.",
                                         "Private key is unencrypted",
                                         "Bad decrypt - is the password correct?" };

    *ret_trouble = trouble;
    if (trouble != PKEY_BROKEN)
        fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s", texts[trouble]);
    else if (pem)
        fail_kind(err, FAIL_COMMAND, -EINVAL, "Could not load PEM-encoded private key");
    else
        fail_kind(err, FAIL_INVOCATION, -EINVAL,
                  "Could not deserialize binary data, neither as DER nor PKCS#12.");
    return NULL;
}

/* By PEM, or by PKCS#8 in DER, which ask for the passphrase when they need it. */
static pkey_t *
key_asking(const buf_t *bytes, const char *pass, bool pem, pkey_trouble_t *ret_trouble, fail_t *err)
{
    asked_t asked = { pass, false };
    bio_t *bio = lib.BIO_new_mem_buf(bytes->data, (int) bytes->len);
    pkey_t *key = bio == NULL ? NULL
                  : pem       ? lib.PEM_read_bio_PrivateKey(bio, NULL, give_pass, &asked)
                              : lib.d2i_PKCS8PrivateKey_bio(bio, NULL, give_pass, &asked);

    (void) lib.BIO_free(bio);
    if (key != NULL && pass != NULL && !asked.was) {
        pkey_destroy(&key);
        return key_failed(PKEY_PLAIN, pem, ret_trouble, err);
    }
    if (key == NULL && (pem || asked.was))
        return key_failed(!asked.was     ? PKEY_BROKEN
                          : pass == NULL ? PKEY_ENCRYPTED
                                         : PKEY_WRONG,
                          pem, ret_trouble, err);
    return key;
}

/* PEM by its armour; else DER, with or without a passphrase; else PKCS#12. A passphrase for a key that has
 * none is an error, as in Salt. */
pkey_t *
pkey_read(const buf_t *bytes, const char *pass, const char **ret_encoding, pkey_trouble_t *ret_trouble,
          fail_t *err)
{
    pkey_trouble_t unused;
    const char *encoding = "pem";
    const unsigned char *at = (const unsigned char *) buf_str(bytes);

    ret_trouble = ret_trouble != NULL ? ret_trouble : &unused;
    *ret_trouble = PKEY_READ;
    if (lib_load(err) != 0)
        return NULL;
    bool pem = strstr(buf_str(bytes), "-----BEGIN") != NULL;
    pkey_t *key = pem ? key_asking(bytes, pass, true, ret_trouble, err) : NULL;
    if (!pem) {
        encoding = "der";
        key = lib.d2i_AutoPrivateKey(NULL, &at, (long) bytes->len);
        if (key == NULL)
            key = key_asking(bytes, pass, false, ret_trouble, err);
        else if (pass != NULL) {
            pkey_destroy(&key);
            return key_failed(PKEY_PLAIN, false, ret_trouble, err);
        }
    }
    if (key == NULL && *ret_trouble == PKEY_READ) {
        p12_auto_t p12 = { .key = NULL };
        encoding = "pkcs12";
        pkey_trouble_t trouble = PKEY_BROKEN;
        (void) p12_read(bytes, pass, &p12, &trouble);
        key = STEAL(p12.key);
        if (key == NULL)
            return key_failed(trouble, false, ret_trouble, err);
    }
    if (ret_encoding != NULL)
        *ret_encoding = encoding;
    return key;
}

/* PKCS#8: with a passphrase by PBES2 with AES-256-CBC, as cryptography writes it. */
int
pkey_write(const pkey_t *self, const char *pass, buf_t *out, fail_t *err)
{
    p8_t *plain = lib.EVP_PKEY2PKCS8(self);
    x509_sig_t *locked = NULL;
    bool good = plain != NULL;

    if (good && pass != NULL) {
        locked = lib.PKCS8_encrypt(-1, lib.EVP_aes_256_cbc(), pass, (int) strlen(pass), NULL, 0, ROUNDS,
                                   plain);
        good = locked != NULL && OSSL_WRITE(out, i2d_X509_SIG, locked);
        lib.X509_SIG_free(locked);
    } else if (good) {
        good = OSSL_WRITE(out, i2d_PKCS8_PRIV_KEY_INFO, plain);
    }
    lib.PKCS8_PRIV_KEY_INFO_free(plain);
    return good ? 0 : fail_kind(err, FAIL_COMMAND, -EIO, "libcrypto could not write the private key");
}

/* NULL when it is no key that libcrypto knows, or there is no libcrypto. */
pkey_t *
pkey_read_public(const void *der, size_t len)
{
    const unsigned char *at = der;
    fail_auto_t why = FAIL_INIT;

    return lib_load(&why) == 0 ? lib.d2i_PUBKEY(NULL, &at, (long) len) : NULL;
}

/* SubjectPublicKeyInfo. */
int
pkey_write_public(const pkey_t *self, buf_t *out, fail_t *err)
{
    return OSSL_WRITE(out, i2d_PUBKEY, self)
               ? 0
               : fail_kind(err, FAIL_COMMAND, -EIO, "Could not serialize parameter to DER");
}

/* ---- signatures --------------------------------------------------------------------------------- */

/* The first call tells how much room the signature may need, the second how much it has. */
int
pkey_sign(const pkey_t *self, const char *digest, const void *data, size_t len, buf_t *out, fail_t *err)
{
    evp_md_ctx_t *ctx = lib.EVP_MD_CTX_new();
    const evp_md_t *md = digest != NULL ? lib.EVP_get_digestbyname(digest) : NULL;
    size_t room = 0, start = out->len;
    bool good = ctx != NULL && (digest == NULL || md != NULL) &&
                lib.EVP_DigestSignInit(ctx, NULL, md, NULL, (pkey_t *) self) == 1 &&
                lib.EVP_DigestSign(ctx, NULL, &room, data, len) == 1;

    if (good) {
        buf_fill(out, '\0', room);
        good = lib.EVP_DigestSign(ctx, (unsigned char *) out->data + start, &room, data, len) == 1;
        out->len = start + room;
    }
    lib.EVP_MD_CTX_free(ctx);
    return good ? 0
                : fail_kind(err, FAIL_COMMAND, -EIO, "libcrypto could not sign by %s",
                            digest != NULL ? digest : "the key");
}

/* RSASSA-PSS needs to be named, as its padding is no part of the key. */
bool
pkey_verify(const pkey_t *self, const char *digest, bool pss, const void *data, size_t len, const void *sig,
            size_t sig_len)
{
    evp_md_ctx_t *ctx = lib.EVP_MD_CTX_new();
    const evp_md_t *md = digest != NULL ? lib.EVP_get_digestbyname(digest) : NULL;
    void *how = NULL;
    bool good = ctx != NULL && (digest == NULL || md != NULL) &&
                lib.EVP_DigestVerifyInit(ctx, &how, md, NULL, (pkey_t *) self) == 1 &&
                (!pss || lib.EVP_PKEY_CTX_set_rsa_padding(how, RSA_PADDING_PSS) == 1) &&
                lib.EVP_DigestVerify(ctx, sig, sig_len, data, len) == 1;

    lib.EVP_MD_CTX_free(ctx);
    return good;
}

/* `name` as libcrypto names it. */
int
ossl_digest(const char *name, const void *data, size_t len, buf_t *out, fail_t *err)
{
    unsigned char bytes[64];
    unsigned n = 0;

    if (lib_load(err) != 0)
        return err->code;
    const evp_md_t *md = lib.EVP_get_digestbyname(name);
    if (md == NULL || lib.EVP_Digest(data, len, bytes, &n, md, NULL) != 1)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "libcrypto has no digest %s", name);
    buf_add(out, bytes, n);
    return 0;
}

/* ---- PKCS#12 ------------------------------------------------------------------------------------ */

void
p12_free(p12_t *self)
{
    pkey_destroy(&self->key);
    buf_free(&self->cert);
    for (size_t i = 0; i < self->n_more; i++)
        buf_free(&self->more[i]);
    free(self->more);
    free(self->name);
}

static void
free_cert(void *cert)
{
    lib.X509_free(cert);
}

/* The certificates become DER again, as those of all other sources are. 0, or negative with *ret_trouble. */
int
p12_read(const buf_t *bytes, const char *pass, p12_t *out, pkey_trouble_t *ret_trouble)
{
    const unsigned char *at = (const unsigned char *) buf_str(bytes);
    fail_auto_t why = FAIL_INIT;
    x509_t *cert = NULL;
    sk_t *more = NULL;
    int len = 0;

    *ret_trouble = PKEY_BROKEN;
    if (lib_load(&why) != 0)
        return why.code;
    pkcs12_t *p12 = lib.d2i_PKCS12(NULL, &at, (long) bytes->len);
    if (p12 == NULL)
        return -EINVAL;
    int rc = lib.PKCS12_parse(p12, pass, &out->key, &cert, &more) == 1 ? 0 : -EINVAL;
    if (rc != 0)
        *ret_trouble = pass == NULL ? PKEY_ENCRYPTED : PKEY_WRONG;
    lib.PKCS12_free(p12);
    if (cert != NULL && OSSL_WRITE(&out->cert, i2d_X509, cert)) {
        const unsigned char *alias = lib.X509_alias_get0(cert, &len);
        out->name = alias != NULL ? xstrndup((const char *) alias, (size_t) len) : NULL;
    }
    int n = more != NULL ? lib.OPENSSL_sk_num(more) : 0;
    out->more = n > 0 ? xcalloc((size_t) n, sizeof(*out->more)) : NULL;
    for (int i = 0; i < n; i++, out->n_more++)
        (void) OSSL_WRITE(&out->more[i], i2d_X509, (const x509_t *) lib.OPENSSL_sk_value(more, i));
    if (more != NULL)
        lib.OPENSSL_sk_pop_free(more, free_cert);
    lib.X509_free(cert);
    return rc;
}

/* `compat` is 3DES with SHA-1, which old readers need; otherwise libcrypto's default, AES. */
int
p12_write(const p12_t *self, const char *pass, bool compat, buf_t *out, fail_t *err)
{
    const unsigned char *at = (const unsigned char *) buf_str(&self->cert);
    x509_t *cert = self->cert.len > 0 ? lib.d2i_X509(NULL, &at, (long) self->cert.len) : NULL;
    sk_t *more = lib.OPENSSL_sk_new_null();

    for (size_t i = 0; i < self->n_more; i++) {
        at = (const unsigned char *) buf_str(&self->more[i]);
        x509_t *one = lib.d2i_X509(NULL, &at, (long) self->more[i].len);
        if (one != NULL)
            (void) lib.OPENSSL_sk_push(more, one);
    }
    int pbe = pass == NULL ? -1 : compat ? NID_3DES_SHA1 : 0;
    pkcs12_t *made = lib.PKCS12_create(pass, self->name, self->key, cert, more, pbe, pbe,
                                       compat ? ROUNDS_COMPAT : ROUNDS, 1, 0);
    bool good = made != NULL && OSSL_WRITE(out, i2d_PKCS12, made);

    lib.PKCS12_free(made);
    lib.OPENSSL_sk_pop_free(more, free_cert);
    lib.X509_free(cert);
    return good ? 0 : fail_kind(err, FAIL_COMMAND, -EIO, "libcrypto could not write PKCS#12");
}
