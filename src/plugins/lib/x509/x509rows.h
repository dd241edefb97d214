/* x509rows.h - rows of arguments that functions and states of x509 share.
 *
 * Layer      plugins/lib/x509
 */
#ifndef PLUGINS_LIB_X509_X509ROWS_H
#define PLUGINS_LIB_X509_X509ROWS_H

#include "salt/plugin.h"

#define X509_ANY(name, dflt, help) ARG(name, ARG_ANY, dflt, help)
#define X509_ROW_PATH              X509_ANY("path", "null", "File to write instead of a return")
#define X509_ROW_RAW               X509_ANY("raw", "false", "Accepted for Salt's sake")
#define X509_ROW_DIGEST                                                                                      \
    X509_ANY("digest", "\"sha256\"", "Hash of the signature; Edwards curves have their own")
#define X509_ROW_KEY_ENCODING  X509_ANY("encoding", "\"pem\"", "pem, der or pkcs12")
#define X509_ROW_DOC_ENCODING  X509_ANY("encoding", "\"pem\"", "pem or der")
#define X509_ROW_CERT_ENCODING X509_ANY("encoding", "\"pem\"", "pem, der, pkcs7_pem, pkcs7_der or pkcs12")
#define X509_ROW_COMPAT                                                                                      \
    X509_ANY("pkcs12_encryption_compat", "false", "PKCS#12 for old programs: 3DES and SHA-1")
#define X509_ROWS_PKCS12                                                                                     \
    X509_ANY("pkcs12_passphrase", "null", "Passphrase of pkcs12"), X509_ROW_COMPAT,                          \
        X509_ANY("pkcs12_friendlyname", "null", "Name of the certificate in pkcs12")
#define X509_ROW_CERTIFICATE X509_ANY("certificate", ARG_REQUIRED, "The certificate: path or text")
#define X509_ROW_CSR         X509_ANY("csr", ARG_REQUIRED, "The request: path or text")
#define X509_ROW_CRL         X509_ANY("crl", ARG_REQUIRED, "The revocation list: path or text")

#define X509_ROWS_CERT                                                                                       \
    X509_ANY("ca_server", "null", "Id of the minion that signs"),                                            \
        X509_ANY("signing_policy", "null",                                                                   \
                 "Name of a policy of x509_signing_policies, which comes before arguments"),                 \
        X509_ROW_CERT_ENCODING,                                                                              \
        X509_ANY("append_certs", "null", "Certificates to add: a list of paths or texts"), X509_ROWS_PKCS12, \
        X509_ANY("copypath", "null", "Folder for a copy of each certificate, by serial number"),             \
        X509_ANY("prepend_cn", "false", "The copy's name begins with the common name"), X509_ROW_DIGEST,     \
        X509_ANY("signing_private_key", "null", "Key that signs: path or text"),                             \
        X509_ANY("signing_private_key_passphrase", "null", "Its passphrase"),                                \
        X509_ANY("signing_cert", "null",                                                                     \
                 "Certificate of the signer; without it the certificate signs itself"),                      \
        X509_ANY("public_key", "null", "Key that is certified, or what it can be read from"),                \
        X509_ANY("private_key", "null", "Private key whose public one is certified"),                        \
        X509_ANY("private_key_passphrase", "null", "Its passphrase"),                                        \
        X509_ANY("csr", "null", "Request whose key and extensions are taken"),                               \
        X509_ANY("subject", "null", "The subject by RFC 4514, a list of its parts, or a mapping"),           \
        X509_ANY("serial_number", "null", "Number, decimal or hexadecimal text; random by default"),         \
        X509_ANY("not_before", "null", "Valid from: %Y-%m-%d %H:%M:%S in UTC"),                              \
        X509_ANY("not_after", "null", "Valid until, in the same form"),                                      \
        X509_ANY("days_valid", "null", "Days of validity when there is no not_after: 365")

#define X509_ROWS_CRL                                                                                        \
    X509_ANY("signing_private_key", ARG_REQUIRED, "Key that signs: path or text"),                           \
        X509_ANY("revoked", ARG_REQUIRED,                                                                    \
                 "List of mappings: certificate or serial_number, not_after, revocation_date, extensions"),  \
        X509_ANY("signing_cert", "null", "Certificate of the signer"),                                       \
        X509_ANY("signing_private_key_passphrase", "null", "Passphrase of the key"),                         \
        X509_ANY("include_expired", "false", "Also those that have expired"),                                \
        X509_ANY("days_valid", "null", "Days until the next update: 100"), X509_ROW_DIGEST,                  \
        X509_ROW_DOC_ENCODING, X509_ANY("extensions", "null", "Extensions of the list")

/* The subject's parts, the extensions, and both in the older module's names. */
#define X509_PARTS                                                                                                       \
    "C ST L STREET O OU CN MAIL SN GN UID SERIALNUMBER commonName localityName stateOrProvinceName organizationName "    \
    "organizationUnitName givenName surname Email emailAddress serialNumber basicConstraints keyUsage extendedKeyUsage " \
    "subjectKeyIdentifier authorityKeyIdentifier issuerAltName issuserAltName authorityInfoAccess subjectAltName "       \
    "crlDistributionPoints certificatePolicies policyConstraints inhibitAnyPolicy nameConstraints noCheck tlsfeature "   \
    "nsComment nsCertType algorithm text version serial_bits public_key_passphrase *"
#define X509_ROW_PARTS                                                                                       \
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Parts of the subject (CN, O, ...) and extensions (keyUsage, ...)", \
        X509_PARTS)

#endif
