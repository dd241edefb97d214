/* ossl.h - keys and signatures by OpenSSL's libcrypto 3, which is loaded when the first of these functions is
 * called.
 *
 * Certificates, requests and lists are read and written by the files beside this one; libcrypto only makes,
 * reads and writes keys, signs and verifies, and knows PKCS#12.
 *
 * Layer      plugins/lib/x509
 * Threads    one at a time per key
 * Ownership  pkey_t is NEW (pkey_destroy); bytes of private keys are in buf_t of the caller, who wipes them:
 *            buf_wiped_t
 * Errors     negative errno with *err in Salt's words; never with bytes of a key or a passphrase
 * Tests      tests/cases/exec/x509.*.json
 */
#ifndef PLUGINS_LIB_X509_OSSL_H
#define PLUGINS_LIB_X509_OSSL_H

#include "common/base/buf.h"
#include "salt/plugin.h"

typedef struct pkey pkey_t; /* libcrypto's EVP_PKEY */
typedef enum pkey_type { PKEY_OTHER, PKEY_RSA, PKEY_EC, PKEY_ED25519, PKEY_ED448 } pkey_type_t;

/* buf_wiped_t b = BUF_INIT; is wiped and freed. */
#define buf_wiped_t __attribute__((cleanup(ossl_wipe))) buf_t
void ossl_wipe(buf_t *b);

/* A reason why libcrypto can't be loaded, or NULL; it does not stay loaded. */
const char *ossl_missing(call_ctx_t *ctx);
/* Further functions of libcrypto by name into *into, for as long as the process lives. */
struct library_symbol;
int ossl_symbols(const struct library_symbol *symbols, size_t n, void *into, fail_t *err);
int ossl_random(uint8_t *out, size_t len, fail_t *err);
/* "rsa", "ec", "ed25519", "ed448"; NULL for any other. */
const char *pkey_type_name(pkey_type_t type);

/* A new key of RSA with any number of bits that libcrypto takes. */
pkey_t *pkey_make_rsa(json_int_t bits, fail_t *err);
/* A new key; `bits` 0: 2048 of RSA, 256 of EC. */
pkey_t *pkey_make(const char *algo, json_int_t bits, fail_t *err);
void pkey_destroy(pkey_t **self_p);
pkey_type_t pkey_type(const pkey_t *self);
int pkey_bits(const pkey_t *self);
bool pkey_equal(const pkey_t *a, const pkey_t *b);

/* Why a private key could not be read, for callers that go on. */
typedef enum pkey_trouble {
    PKEY_READ,
    PKEY_BROKEN,    /* not a key */
    PKEY_ENCRYPTED, /* no passphrase was given */
    PKEY_PLAIN,     /* a passphrase was given for nothing */
    PKEY_WRONG      /* another passphrase */
} pkey_trouble_t;

/* A private key in PEM, DER or PKCS#12; `pass` NULL: none. *ret_encoding (may be NULL): "pem", "der",
 * "pkcs12". */
pkey_t *pkey_read(const buf_t *bytes, const char *pass, const char **ret_encoding,
                  pkey_trouble_t *ret_trouble, fail_t *err);
/* PKCS#8 in DER, encrypted by the passphrase unless it is NULL. Appends. */
int pkey_write(const pkey_t *self, const char *pass, buf_t *out, fail_t *err);

/* SubjectPublicKeyInfo in DER. */
pkey_t *pkey_read_public(const void *der, size_t len);
int pkey_write_public(const pkey_t *self, buf_t *out, fail_t *err);

/* `digest`: libcrypto's name, NULL for Edwards curves. Appends the signature. */
int pkey_sign(const pkey_t *self, const char *digest, const void *data, size_t len, buf_t *out, fail_t *err);
/* `pss`: RSASSA-PSS with a salt of any length. */
bool pkey_verify(const pkey_t *self, const char *digest, bool pss, const void *data, size_t len,
                 const void *sig, size_t sig_len);
/* Appends the digest of some bytes. */
int ossl_digest(const char *name, const void *data, size_t len, buf_t *out, fail_t *err);

/* PKCS#12: a key, its certificate (DER; NULL: none) and others. `compat`: for programs that know only 3DES
 * and SHA-1. */
typedef struct p12 {
    pkey_t *key;
    buf_t cert;  /* DER; empty: none */
    buf_t *more; /* DER of the others */
    size_t n_more;
    char *name; /* friendly name; NULL: none */
} p12_t;
void p12_free(p12_t *self);
#define p12_auto_t __attribute__((cleanup(p12_free))) p12_t
int p12_read(const buf_t *bytes, const char *pass, p12_t *out, pkey_trouble_t *ret_trouble);
int p12_write(const p12_t *self, const char *pass, bool compat, buf_t *out, fail_t *err);

#endif
