/* encode.c - keys and documents as they are read and kept: PEM, DER, PKCS#7, PKCS#12. */
#include "common/base/base64.h"
#include "common/base/str.h"
#include "plugins/lib/x509/issue.h"

/* ---- keys --------------------------------------------------------------------------------------- */

/* A passphrase, wiped by the caller; NULL: none. NEW. */
static char *
pass_text(const json_t *pass)
{
    return pass != NULL && !json_is_null(pass) ? value_pystr(pass) : NULL;
}

static void
pass_wipe(char **pass)
{
    if (*pass != NULL)
        explicit_bzero(*pass, strlen(*pass));
    free(*pass);
}
#define AUTO_PASS __attribute__((cleanup(pass_wipe))) char *

/* From a file, PEM, DER or PKCS#12; the bytes are wiped. */
pkey_t *
issue_key(const json_t *source, const json_t *pass, const char **ret_encoding, pkey_trouble_t *ret_trouble,
          fail_t *err)
{
    buf_wiped_t bytes = BUF_INIT;
    AUTO_PASS text = pass_text(pass);

    if (xdoc_bytes(source, &bytes, err) != 0)
        return NULL;
    return pkey_read(&bytes, text, ret_encoding, ret_trouble, err);
}

/* A public key by itself, in PEM or DER; NULL for anything else. */
static pkey_t *
key_public_plain(const json_t *source)
{
    fail_auto_t why = FAIL_INIT;
    buf_wiped_t bytes = BUF_INIT, der = BUF_INIT;
    AUTO_FREE char *label = NULL;

    if (xdoc_bytes(source, &bytes, &why) != 0)
        return NULL;
    const char *at = buf_str(&bytes);
    if (strstr(at, "-----BEGIN") == NULL)
        return pkey_read_public(bytes.data, bytes.len);
    if (!pem_next(&at, &label, &der) || !str_eq(label, "PUBLIC KEY"))
        return NULL;
    return pkey_read_public(der.data, der.len);
}

/* Whatever has a public key in it is tried, in Salt's order; the errors of the tries say nothing. */
pkey_t *
issue_public(const json_t *source, const json_t *pass, fail_t *err)
{
    static const xdoc_kind_t kinds[] = { XDOC_CERT, XDOC_CSR };
    AUTO_PASS text = pass_text(pass);
    pkey_t *key = key_public_plain(source);

    for (size_t i = 0; key == NULL && i < NELEMS(kinds); i++) {
        fail_auto_t why = FAIL_INIT;
        AUTO(xdoc) doc = xdoc_load(kinds[i], source, text, NULL, &why);
        key = doc != NULL ? xdoc_key(doc, &why) : NULL;
    }
    if (key == NULL) {
        fail_auto_t why = FAIL_INIT;
        key = issue_key(source, pass, NULL, NULL, &why);
    }
    if (key == NULL)
        fail_kind(err, FAIL_COMMAND, -EINVAL,
                  "Could not load key as certificate, public key, private key, CSR or CRL");
    return key;
}

/* PKCS#8, or PKCS#12 with the key alone. */
int
encode_key(pkey_t *key, const char *encoding, const json_t *pass, bool compat, buf_t *out, fail_t *err)
{
    AUTO_PASS text = pass_text(pass);
    buf_wiped_t der = BUF_INIT;

    if (str_eq(encoding, "pkcs12")) {
        p12_t p12 = { .key = key };
        return p12_write(&p12, text, compat, out, err);
    }
    if (!str_eq(encoding, "pem") && !str_eq(encoding, "der"))
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Invalid value '%s' for encoding. Valid: der, pem, pkcs12", encoding);
    if (str_eq(encoding, "der"))
        return pkey_write(key, text, out, err);
    buf_reserve(&der, 16 * 1024); /* so that no copy of the key stays behind as it grows */
    buf_reserve(out, 32 * 1024);
    if (pkey_write(key, text, &der, err) != 0)
        return err->code;
    pem_armour(text != NULL ? "ENCRYPTED PRIVATE KEY" : "PRIVATE KEY", der.data, der.len, out);
    return 0;
}

/* ---- documents ---------------------------------------------------------------------------------- */

/* Requests and lists have no chain, and so no PKCS#7 or PKCS#12. */
int
encode_doc(xdoc_kind_t kind, const buf_t *der, const char *encoding, buf_t *out, fail_t *err)
{
    if (str_eq(encoding, "der"))
        buf_add(out, der->data, der->len);
    else if (str_eq(encoding, "pem"))
        pem_armour(kind == XDOC_CSR ? "CERTIFICATE REQUEST" : "X509 CRL", der->data, der->len, out);
    else
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Invalid value '%s' for encoding. Valid: der, pem",
                         encoding);
    return 0;
}

/* SignedData without signers (RFC 2315). */
static void
write_pkcs7(const buf_t *const *certs, size_t n, buf_t *out)
{
    size_t whole = der_begin(out, DER_SEQ), explicit, data, part, empty;

    (void) der_oid(out, DER_OID, "1.2.840.113549.1.7.2");
    explicit = der_begin(out, DER_CTXC(0));
    data = der_begin(out, DER_SEQ);
    der_int(out, DER_INT, 1);
    der_put(out, DER_SET, "", 0);
    part = der_begin(out, DER_SEQ);
    (void) der_oid(out, DER_OID, "1.2.840.113549.1.7.1");
    empty = der_begin(out, DER_CTXC(0));
    der_put(out, DER_OCTETS, "", 0);
    der_end(out, empty);
    der_end(out, part);
    part = der_begin(out, DER_CTXC(0));
    for (size_t i = 0; i < n; i++)
        buf_add(out, certs[i]->data, certs[i]->len);
    der_end(out, part);
    der_put(out, DER_SET, "", 0);
    der_end(out, data);
    der_end(out, explicit);
    der_end(out, whole);
}

/* Salt's rules about which encoding may have a chain or a key. */
static int
refuse_encoding(const encoding_t *how, fail_t *err)
{
    static const char *const known[] = { "pem", "der", "pkcs7_pem", "pkcs7_der", "pkcs12" };
    size_t i = 0;

    while (i < NELEMS(known) && !str_eq(known[i], how->name))
        i++;
    if (i == NELEMS(known))
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Invalid value '%s' for encoding. Valid: der, pem, pkcs7_der, pkcs7_pem, pkcs12",
                         how->name);
    if (str_eq(how->name, "der") && value_truthy(how->append))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Cannot encode a certificate chain in DER");
    if (!str_eq(how->name, "pkcs12") && how->key != NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "Embedding private keys is only supported for pkcs12 encoding");
    if (str_eq(how->name, "pkcs12") && how->key == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "Creating a PKCS12-encoded certificate without embedded private key is unsupported");
    return 0;
}

/* The chain stands behind the certificate, in the order in which it was given. */
int
encode_cert(const buf_t *der, const encoding_t *how, buf_t *out, fail_t *err)
{
    json_auto_t *more = json_is_array(how->append)  ? json_incref(how->append)
                        : value_truthy(how->append) ? json_pack("[O]", how->append)
                                                    : json_array();
    size_t n = json_array_size(more), loaded = 0;
    xdoc_t **docs = xcalloc(n + 1, sizeof(xdoc_t *));
    const buf_t **certs = xcalloc(n + 1, sizeof(*certs));
    int rc = refuse_encoding(how, err);

    certs[0] = der;
    for (; rc == 0 && loaded < n; loaded++) {
        docs[loaded] = xdoc_load(XDOC_CERT, json_array_get(more, loaded), NULL, NULL, err);
        rc = docs[loaded] != NULL ? 0 : err->code;
        certs[loaded + 1] = docs[loaded] != NULL ? &docs[loaded]->der : NULL;
    }
    if (rc == 0 && str_eq(how->name, "der")) {
        buf_add(out, der->data, der->len);
    } else if (rc == 0 && str_eq(how->name, "pem")) {
        for (size_t i = 0; i <= n; i++) {
            if (i > 0)
                buf_putc(out, '\n');
            pem_armour("CERTIFICATE", certs[i]->data, certs[i]->len, out);
        }
    } else if (rc == 0 && str_eq(how->name, "pkcs12")) {
        AUTO_PASS pass = pass_text(how->pass);
        p12_t p12 = { .key = how->key, .cert = *der, .more = xcalloc(n + 1, sizeof(buf_t)), .n_more = n };
        for (size_t i = 0; i < n; i++)
            p12.more[i] = docs[i]->der;
        p12.name = value_truthy(how->friendly) ? value_pystr(how->friendly) : NULL;
        rc = p12_write(&p12, pass, how->compat, out, err);
        free(p12.more);
        free(p12.name);
    } else if (rc == 0) {
        buf_auto_t made = BUF_INIT;
        write_pkcs7(certs, n + 1, &made);
        if (str_eq(how->name, "pkcs7_pem"))
            pem_armour("PKCS7", made.data, made.len, out);
        else
            buf_add(out, made.data, made.len);
    }
    for (size_t i = 0; i < loaded; i++)
        xdoc_destroy(&docs[i]);
    free(docs);
    free(certs);
    return rc;
}

/* As a value of JSON: text, or base64. */
json_t *
encoded_value(const buf_t *bytes, const char *encoding)
{
    if (str_ends(encoding, "pem"))
        return value_utf8(buf_str(bytes), bytes->len);
    char *text = base64_encode(bytes->data, bytes->len, 0);
    json_t *v = json_string(text);
    explicit_bzero(text, strlen(text));
    free(text);
    return v;
}
