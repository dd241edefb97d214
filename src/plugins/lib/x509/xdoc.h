/* xdoc.h - certificates, requests (PKCS#10) and revocation lists as parsed documents (RFC 5280, RFC 2986),
 * from DER, PEM, PKCS#7 and PKCS#12, by path, text, hexadecimal or base64.
 *
 * Layer      plugins/lib/x509
 * Ownership  an xdoc_t is NEW (xdoc_destroy) and owns its bytes; its der_t members are BORROWED from them
 * Errors     NULL or negative with *err in Salt's words
 * Tests      tests/cases/exec/x509.read_*.json
 */
#ifndef PLUGINS_LIB_X509_XDOC_H
#define PLUGINS_LIB_X509_XDOC_H

#include "plugins/lib/x509/der.h"
#include "plugins/lib/x509/ossl.h"

typedef enum xdoc_kind { XDOC_CERT, XDOC_CSR, XDOC_CRL } xdoc_kind_t;

/* A signature's algorithm. */
typedef struct sigalg {
    const char *oid, *name;
    const char *digest; /* libcrypto's name; NULL: the key decides, or (PSS) its parameters */
    pkey_type_t type;
} sigalg_t;

typedef struct xdoc {
    xdoc_kind_t kind;
    buf_t der;
    der_t tbs, signature, sig_params;
    char *sig_oid;
    int version;                         /* 1 to 3 */
    der_t serial;                        /* without leading zeros */
    der_t issuer_der, subject_der, spki; /* with their tags */
    json_t *issuer, *subject;            /* dn.h */
    int64_t from, until;                 /* a list's: last and next update */
    json_t *extensions;                  /* [{"oid", "critical", "value": hexadecimal}] */
    json_t *revoked; /* a list's: [{"serial": hexadecimal, "date": seconds, "extensions"}] */
} xdoc_t;

/* How a certificate was kept. */
typedef struct xkept {
    const char *encoding; /* pem, der, pkcs7_pem, pkcs7_der, pkcs12 */
    xdoc_t **chain;       /* owned: further certificates */
    size_t n_chain;
    char *name; /* owned: PKCS#12's friendly name; NULL: none */
} xkept_t;
#define xkept_auto_t __attribute__((cleanup(xkept_free))) xkept_t
void xkept_free(xkept_t *self);

void xdoc_destroy(xdoc_t **self_p);
xdoc_t *xdoc_parse(xdoc_kind_t kind, const void *der, size_t len);
/* What a user names: a path, PEM, hexadecimal, base64, or py_wire's bytes. `pass` is for PKCS#12; `kept` may
 * be NULL. */
xdoc_t *xdoc_load(xdoc_kind_t kind, const json_t *source, const char *pass, xkept_t *kept, fail_t *err);
/* The bytes that `source` names; appends. */
int xdoc_bytes(const json_t *source, buf_t *out, fail_t *err);
/* The path when `source` is that of a file; NULL. */
const char *xdoc_path(const json_t *source);
/* True when the key made the signature. */
bool xdoc_signed_by(const xdoc_t *self, const pkey_t *key);
/* The document's public key. NEW, or NULL with *err. */
pkey_t *xdoc_key(const xdoc_t *self, fail_t *err);
/* An extension of it, BORROWED; NULL: it has none. */
json_t *xdoc_extension(const xdoc_t *self, const char *oid);

/* The algorithm for a key and Salt's name of a digest ("sha256"); NULL with *err. */
const sigalg_t *sigalg_for(const pkey_t *key, const char *digest, fail_t *err);
const sigalg_t *sigalg_of(const xdoc_t *doc);
/* libcrypto's name of the digest that signed; NULL: none apart from the key's. BORROWED. */
const char *xdoc_digest(const xdoc_t *self);
/* Salt's name to libcrypto's; NULL with *err. */
const char *digest_name(const char *salts, fail_t *err);
void sigalg_write(const sigalg_t *alg, buf_t *out);

/* PEM of bytes; appends. */
void pem_armour(const char *label, const void *der, size_t len, buf_t *out);
/* Finds the next block at *at, moves *at behind it and appends its bytes; *ret_label NEW. False: there is
 * none. */
bool pem_next(const char **at, char **ret_label, buf_t *out);

#endif
