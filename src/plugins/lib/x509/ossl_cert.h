/* ossl_cert.h - certificates as libcrypto itself shows and judges them: the texts of extensions, short names of
 * attributes, and whether an authority stands behind them.
 *
 * Layer      plugins/lib/x509
 * Ownership  results are NEW; certificates and lists are given in DER
 * Errors     negative errno or NULL with *err
 * Tests      tests/cases/exec/tls.cert_info.json, tls.validate.json
 */
#ifndef PLUGINS_LIB_X509_OSSL_CERT_H
#define PLUGINS_LIB_X509_OSSL_CERT_H

#include "common/base/buf.h"
#include "salt/plugin.h"

/* {"basicConstraints": "CA:FALSE", ...}: short names, and the texts that `openssl x509 -text` prints. */
json_t *cert_extension_texts(const buf_t *der, fail_t *err);
/* {"C": "US", ...} of a name of dn.h: of equal attributes the last. */
json_t *cert_name_members(const json_t *name, fail_t *err);
/* [["C", "US"], ...]: all attributes in their order. */
json_t *cert_name_pairs(const json_t *name, fail_t *err);
/* Asks for a chain to the authority's certificate, with a revocation list for each link; `crl` may be empty.
 * *ret_valid; when false also *ret_why and *ret_at, the certificate that is the reason (may stay empty). */
int cert_verify(const buf_t *cert, const buf_t *ca, const buf_t *crl, bool *ret_valid, char **ret_why,
                buf_t *ret_at, fail_t *err);

#endif
