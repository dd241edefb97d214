/* issue.h - what is to be issued, from a call's arguments: to compare with what is there, or to sign.
 *
 * Arguments are Salt's of x509.create_certificate, create_csr and create_crl, in one object with the
 * subject's parts (CN, O, ...) and the extensions; the older module's names are made the newer ones by
 * issue_compat().
 *
 * Layer      plugins/lib/x509
 * Ownership  issue_t owns all that it has: issue_free
 * Errors     negative with *err in Salt's words
 * Tests      tests/cases/exec/x509.create_*.json, tests/cases/state/x509.*.json
 */
#ifndef PLUGINS_LIB_X509_ISSUE_H
#define PLUGINS_LIB_X509_ISSUE_H

#include "plugins/lib/x509/ext.h"
#include "plugins/lib/x509/xdoc.h"

typedef struct issue {
    xdoc_kind_t kind;
    pkey_t *signer;              /* NULL: a ca_server signs */
    pkey_t *key;                 /* the private key of private_key; NULL: none */
    xdoc_t *ca, *csr;            /* NULL: none */
    buf_t spki, subject, issuer; /* DER */
    buf_t serial;                /* bytes */
    bool serial_given;
    json_t *subject_name, *issuer_name, *extensions;
    json_t *revoked; /* as an xdoc_t's */
    int64_t from, until;
    char *digest; /* Salt's name */
} issue_t;
#define issue_auto_t __attribute__((cleanup(issue_free))) issue_t
void issue_free(issue_t *self);

/* `now`: the certificate that is there, whose number a self-signed one keeps for its authorityKeyIdentifier;
 * NULL. `remote`: another minion signs. */
int issue_cert(const json_t *args, const xdoc_t *now, bool remote, issue_t *out, fail_t *err);
int issue_csr(const json_t *args, issue_t *out, fail_t *err);
int issue_crl(const json_t *args, issue_t *out, fail_t *err);
/* Appends a random number of 159 bits, as cryptography makes it. */
int issue_serial(buf_t *out, fail_t *err);
/* Appends the signed document's DER. */
int issue_sign(const issue_t *self, buf_t *out, fail_t *err);

/* Names of the older module: long names, algorithm, bits; what has no effect any more is dropped. Changes
 * `args`. */
void issue_compat(json_t *args);
/* A call's declared arguments (without None) and its further ones in one object. NEW. */
json_t *issue_args(const json_t *args);

/* x509_signing_policies of pillar or configuration; with `ca_server` (NULL: none) that minion's. *ret_policy
 * NEW object. */
int policy_get(call_ctx_t *ctx, const json_t *name, const json_t *ca_server, json_t **ret_policy,
               fail_t *err);
/* The same of this minion only. NEW object. */
json_t *policy_own(call_ctx_t *ctx, const json_t *name);
/* Lays the policy over the arguments. */
void policy_merge(const json_t *policy, json_t *args);
/* x509.sign_remote_certificate of a ca_server. *ret_data NEW. */
int policy_ask(call_ctx_t *ctx, const json_t *ca_server, const json_t *policy, const json_t *args,
               bool only_policy, json_t **ret_data, fail_t *err);

/* A private key that `source` names; `pass` None: no passphrase. */
pkey_t *issue_key(const json_t *source, const json_t *pass, const char **ret_encoding,
                  pkey_trouble_t *ret_trouble, fail_t *err);
/* A public key, or that of a certificate, private key or request. */
pkey_t *issue_public(const json_t *source, const json_t *pass, fail_t *err);
/* How a certificate is to be kept. */
typedef struct encoding {
    const char *name; /* pem, der, pkcs7_pem, pkcs7_der, pkcs12 */
    json_t *append;   /* list, or one certificate; NULL: none */
    pkey_t *key;      /* of PKCS#12 */
    const json_t *pass, *friendly;
    bool compat;
} encoding_t;
/* Appends the certificate as it is to be kept. */
int encode_cert(const buf_t *der, const encoding_t *how, buf_t *out, fail_t *err);
/* PEM or DER of a request or list. */
int encode_doc(xdoc_kind_t kind, const buf_t *der, const char *encoding, buf_t *out, fail_t *err);
int encode_key(pkey_t *key, const char *encoding, const json_t *pass, bool compat, buf_t *out, fail_t *err);
/* A text as JSON: itself, or base64 when the encoding is binary. NEW. */
json_t *encoded_value(const buf_t *bytes, const char *encoding);

#endif
