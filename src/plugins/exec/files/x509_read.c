/* x509_read.c - execution module `x509`, second part: certificates, requests, lists and keys are read and
 * checked. Members, their names and the form of dates and fingerprints are Salt's, which the states compare.
 * A member that can't be told is None, while a document that can't be parsed is an error. */
#include <glob.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/x509/dn.h"
#include "plugins/lib/x509/issue.h"
#include "plugins/lib/x509/pementry.h"
#include "plugins/lib/x509/x509rows.h"

enum { DAY = 24 * 60 * 60 };

/* ---- documents ---------------------------------------------------------------------------------- */

/* NEW "AB:CD" of the digest; a short one is the first four bytes the other way round, as OpenSSL names files.
 * A digest that libcrypto will not compute (MD5 under FIPS) is None, with *err where `err` is given. */
static json_t *
fingerprint(const char *digest, const void *bytes, size_t len, bool short_one, fail_t *err)
{
    buf_auto_t hash = BUF_INIT;
    char flipped[4];

    if (ossl_digest(digest, bytes, len, &hash, err) != 0)
        return json_null();
    for (size_t i = 0; i < sizeof(flipped); i++)
        flipped[i] = hash.data[sizeof(flipped) - 1 - i];
    AUTO_FREE char *text = short_one ? der_pretty(flipped, sizeof(flipped)) : der_pretty(hash.data, hash.len);
    return json_string(text);
}

/* key_size and key_type. Edwards curves have one size, and Salt tells None for it. */
static void
tell_key(const pkey_t *key, json_t *into)
{
    pkey_type_t type = pkey_type(key);
    const char *name = pkey_type_name(type);

    json_object_set_new(into, "key_size",
                        type == PKEY_RSA || type == PKEY_EC ? json_integer(pkey_bits(key)) : json_null());
    json_object_set_new(into, "key_type", name != NULL ? json_string(name) : json_null());
}

/* subject, subject_hash, subject_str; or those of the issuer. The hash is the short fingerprint of the name's
 * DER. */
static void
tell_name(const char *who, const json_t *name, der_t der, json_t *into, fail_t *err)
{
    AUTO_FREE char *hash = xasprintf("%s_hash", who), *str = xasprintf("%s_str", who), *text = dn_text(name);

    json_object_set_new(into, who, dn_dict(name));
    json_object_set_new(into, hash, fingerprint("SHA1", der.p, der.len, true, err));
    json_object_set_new(into, str, json_string(text));
}

/* "2026-01-31 10:00:00", UTC. */
static void
tell_time(const char *key, int64_t seconds, json_t *into)
{
    AUTO_FREE char *text = der_time_text(seconds);

    json_object_set_new(into, key, json_string(text));
}

/* NEW PEM of the key. */
static json_t *
x509_public_pem(const pkey_t *key, fail_t *err)
{
    buf_auto_t der = BUF_INIT, pem = BUF_INIT;

    if (pkey_write_public(key, &der, err) != 0)
        return NULL;
    pem_armour("PUBLIC KEY", der.data, der.len, &pem);
    return json_string(buf_str(&pem));
}

/* NEW, or NULL with *err. */
static json_t *
x509_read_cert(const json_t *source, fail_t *err)
{
    AUTO(xdoc) d = xdoc_load(XDOC_CERT, source, NULL, NULL, err);
    AUTO(pkey) key = d != NULL ? xdoc_key(d, err) : NULL;

    if (key == NULL)
        return NULL;
    json_t *ret = json_pack("{s:i}", "version", d->version);
    tell_key(key, ret);
    AUTO_FREE char *serial = der_pretty(d->serial.p, d->serial.len);
    json_object_set_new(ret, "serial_number", json_string(serial));
    json_t *prints = json_object();
    json_object_set_new(prints, "sha1", fingerprint("SHA1", d->der.data, d->der.len, false, err));
    json_object_set_new(prints, "sha256", fingerprint("SHA256", d->der.data, d->der.len, false, err));
    /* A machine whose policy forbids MD5 still tells the others. */
    json_object_set_new(prints, "md5", fingerprint("MD5", d->der.data, d->der.len, false, NULL));
    json_object_set_new(ret, "fingerprints", prints);
    tell_name("subject", d->subject, d->subject_der, ret, err);
    tell_name("issuer", d->issuer, d->issuer_der, ret, err);
    tell_time("not_before", d->from, ret);
    tell_time("not_after", d->until, ret);
    /* As SubjectPublicKeyInfo in PEM, whatever kind of key it is. */
    json_object_set_new(ret, "public_key", x509_public_pem(key, err));
    json_object_set_new(ret, "extensions", ext_show_all(d->extensions, 0));
    const sigalg_t *alg = sigalg_of(d);
    json_object_set_new(ret, "signature_algorithm", json_string(alg != NULL ? alg->name : d->sig_oid));
    return ret;
}

/* By path, PEM, base64 or hexadecimal: xdoc_load() knows them all. */
static int
x509_read_certificate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = x509_read_cert(value_get(args, "certificate"), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* read_certificates and get_pem_entries: each file that matches; what is none is left out. Patterns match
 * many files that are none of these (keys, READMEs), hence no error for them. */
static int
x509_each(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool certs = ctx_row(ctx)->data.number != 0;
    glob_t found = { .gl_pathc = 0 };

    if (fs_glob(value_str(args, "glob_path", ""), 0, &found, err) < 0)
        return err->code;
    *ret_value = json_object();
    for (size_t i = 0; i < found.gl_pathc; i++) {
        json_auto_t *path = value_utf8(found.gl_pathv[i], strlen(found.gl_pathv[i]));
        fail_auto_t why = FAIL_INIT;
        buf_wiped_t pem = BUF_INIT;
        json_t *one = NULL;
        if (xdoc_path(path) == NULL)
            continue;
        if (certs)
            one = x509_read_cert(path, &why);
        else if (pem_entry(path, NULL, &pem, &why) == 0)
            one = value_utf8(buf_str(&pem), pem.len);
        if (one != NULL)
            json_object_set_new(*ret_value, json_string_value(path), one);
    }
    globfree(&found);
    return 0;
}

static int
x509_read_csr(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(xdoc) d = xdoc_load(XDOC_CSR, value_get(args, "csr"), NULL, NULL, err);
    AUTO(pkey) key = d != NULL ? xdoc_key(d, err) : NULL;
    der_t in, skipped, bits = { NULL, 0 };

    if (key == NULL)
        return err->code;
    *ret_value = json_object();
    tell_key(key, *ret_value);
    tell_name("subject", d->subject, d->subject_der, *ret_value, err);
    /* The hash is over the key's bits without the algorithm around them (RFC 5280, section 4.2.1.2, method
     * 1). */
    der_t spki = d->spki;
    if (!der_take(&spki, DER_SEQ, &in) || !der_take(&in, DER_SEQ, &skipped) ||
        !der_take(&in, DER_BITS, &bits) || bits.len < 1)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "the request's public key is malformed");
    json_object_set_new(*ret_value, "public_key_hash",
                        fingerprint("SHA1", bits.p + 1, bits.len - 1, false, err));
    json_object_set_new(*ret_value, "extensions", ext_show_all(d->extensions, 0));
    return err->code;
}

/* Serial numbers are keys in capital hexadecimal digits, without colons. */
static int
x509_read_crl(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(xdoc) d = xdoc_load(XDOC_CRL, value_get(args, "crl"), NULL, NULL, err);
    json_t *revoked = json_object(), *one;
    size_t i;

    if (d == NULL) {
        json_decref(revoked);
        return err->code;
    }
    *ret_value = json_object();
    json_object_set_new(*ret_value, "issuer", dn_dict(d->issuer));
    tell_time("last_update", d->from, *ret_value);
    tell_time("next_update", d->until, *ret_value);
    json_object_set_new(*ret_value, "revoked_certificates", revoked);
    json_object_set_new(*ret_value, "extensions", ext_show_all(d->extensions, 0));
    const sigalg_t *alg = sigalg_of(d);
    json_object_set_new(*ret_value, "signature_algorithm", json_string(alg != NULL ? alg->name : d->sig_oid));
    json_array_foreach (d->revoked, i, one) {
        json_t *entry = json_object();
        AUTO_FREE char *serial = xstrdup(value_str(one, "serial", ""));
        for (char *p = serial; *p != '\0'; p++)
            *p = *p >= 'a' && *p <= 'f' ? (char) (*p - 'a' + 'A') : *p;
        tell_time("revocation_date", value_int(one, "date", 0), entry);
        json_object_set_new(entry, "extensions", ext_show_all(value_get(one, "extensions"), EXT_ENTRY));
        json_object_set_new(revoked, serial, entry);
    }
    return 0;
}

/* ---- checks ------------------------------------------------------------------------------------- */

/* A certificate's end against now and some days. The end itself counts as over. */
static bool
ends_by(const xdoc_t *cert, json_int_t days)
{
    return cert->until <= clock_wall_us() / 1000000 + days * DAY;
}

/* True when it has ended, or ends within `days`. */
static int
x509_expires(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(xdoc) cert = xdoc_load(XDOC_CERT, value_get(args, "certificate"), NULL, NULL, err);

    if (cert == NULL)
        return err->code;
    *ret_value = json_boolean(ends_by(cert, value_int(args, "days", 0)));
    return 0;
}

/* expired and will_expire: with path and common name. The row's text is the name of the answer's member. */
static int
x509_will_expire(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *source = value_get(args, "certificate"), *days = value_get(args, "days");
    AUTO(xdoc) cert = xdoc_load(XDOC_CERT, source, NULL, NULL, err);

    if (cert == NULL)
        return err->code;
    *ret_value = json_object();
    if (days != NULL)
        json_object_set(*ret_value, "check_days", days);
    if (xdoc_path(source) != NULL)
        json_object_set(*ret_value, "path", source);
    const char *cn = dn_common(cert->subject);
    if (cn != NULL)
        json_object_set_new(*ret_value, "cn", json_string(cn));
    json_object_set_new(*ret_value, ctx_row(ctx)->data.text,
                        json_boolean(ends_by(cert, value_int(args, "days", 0))));
    return 0;
}

/* The entry is checked and its line breaks are set right; `pem_type` picks one of several. */
static int
x509_get_pem_entry(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    buf_wiped_t pem = BUF_INIT;

    if (pem_entry(value_get(args, "text"), value_str(args, "pem_type", NULL), &pem, err) != 0)
        return err->code;
    *ret_value = value_utf8(buf_str(&pem), pem.len);
    return 0;
}

/* With overwrite False, keys and parameters that the file has beside the entry stay. */
static int
x509_write_pem(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return pem_write_file(value_get(args, "text"), value_str(args, "path", ""),
                          value_truthy(value_get(args, "overwrite")), value_str(args, "pem_type", NULL),
                          ret_value, err);
}

/* None for Edwards curves, as by read_certificate. */
static int
x509_get_private_key_size(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(pkey)
    key = issue_key(value_get(args, "private_key"), value_get(args, "passphrase"), NULL, NULL, err);

    if (key == NULL)
        return err->code;
    *ret_value = pkey_type(key) >= PKEY_ED25519 ? json_null() : json_integer(pkey_bits(key));
    return 0;
}

/* From a key of either kind, a certificate or a request. */
static int
x509_get_public_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(pkey) key = issue_public(value_get(args, "key"), value_get(args, "passphrase"), err);

    *ret_value = key != NULL ? x509_public_pem(key, err) : NULL;
    return *ret_value != NULL ? 0 : err->code;
}

/* By the numbers of both keys; nothing is signed for it. */
static int
x509_verify_private_key(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(pkey)
    private = issue_key(value_get(args, "private_key"), value_get(args, "passphrase"), NULL, NULL, err);
    AUTO(pkey) public = private != NULL ? issue_public(value_get(args, "public_key"), NULL, err) : NULL;

    if (public == NULL)
        return err->code;
    *ret_value = json_boolean(pkey_equal(private, public));
    return 0;
}

/* The signature alone: neither dates nor the issuer's name are looked at. */
static int
x509_verify_crl(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(xdoc) crl = xdoc_load(XDOC_CRL, value_get(args, "crl"), NULL, NULL, err);
    AUTO(pkey) key = crl != NULL ? issue_public(value_get(args, "cert"), NULL, err) : NULL;

    if (key == NULL)
        return err->code;
    *ret_value = json_boolean(xdoc_signed_by(crl, key));
    return 0;
}

/* Without signing_pub_key the certificate is tested against its own key: self-signed or not. */
static int
x509_verify_signature(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *signer = value_get(args, "signing_pub_key"), *source = value_get(args, "certificate");
    AUTO(xdoc) cert = xdoc_load(XDOC_CERT, source, NULL, NULL, err);
    AUTO(pkey)
    key = cert != NULL ? issue_public(value_truthy(signer) ? signer : source,
                                      value_get(args, "signing_pub_key_passphrase"), err)
                       : NULL;

    if (key == NULL)
        return err->code;
    *ret_value = json_boolean(xdoc_signed_by(cert, key));
    return 0;
}

/* ---- table -------------------------------------------------------------------------------------- */

static const arg_t cert_args[] = { X509_ROW_CERTIFICATE, ARGS_END };
static const arg_t csr_args[] = { X509_ROW_CSR, ARGS_END };
static const arg_t crl_args[] = { X509_ROW_CRL, ARGS_END };
static const arg_t glob_args[] = { ARG("glob_path", ARG_STR, ARG_REQUIRED, "Pattern of paths"), ARGS_END };
static const arg_t expires_args[] = { X509_ROW_CERTIFICATE, ARG("days", ARG_INT, "0", "Days from now"),
                                      ARGS_END };
static const arg_t will_args[] = { X509_ROW_CERTIFICATE, ARG("days", ARG_INT, ARG_REQUIRED, "Days from now"),
                                   ARGS_END };
static const arg_t entry_args[] = {
    X509_ANY("text", ARG_REQUIRED, "Path or text"),
    ARG("pem_type", ARG_STR, "null", "Kind of the block, such as CERTIFICATE"),
    ARGS_END,
};
static const arg_t write_args[] = {
    X509_ANY("text", ARG_REQUIRED, "Path or text of the block"),
    ARG("path", ARG_STR, ARG_REQUIRED, "File to write"),
    X509_ANY("overwrite", "true", "False: keep the key and DH parameters that stand beside a certificate"),
    ARG("pem_type", ARG_STR, "null", "Kind of the block, such as CERTIFICATE"),
    ARGS_END,
};
static const arg_t size_args[] = {
    X509_ANY("private_key", ARG_REQUIRED, "The key: path or text"),
    X509_ANY("passphrase", "null", "Its passphrase"),
    ARGS_END,
};
static const arg_t public_args[] = {
    X509_ANY("key", ARG_REQUIRED, "A key, certificate or request: path or text"),
    X509_ANY("passphrase", "null", "Its passphrase"),
    X509_ANY("asObj", "null", "Accepted for Salt's sake"),
    ARGS_END,
};
static const arg_t pair_args[] = {
    X509_ANY("private_key", ARG_REQUIRED, "The key: path or text"),
    X509_ANY("public_key", ARG_REQUIRED, "What the public key is read from"),
    X509_ANY("passphrase", "null", "Passphrase of the private key"),
    ARGS_END,
};
static const arg_t verify_crl_args[] = {
    X509_ROW_CRL,
    X509_ANY("cert", ARG_REQUIRED, "Certificate or public key of the signer"),
    ARGS_END,
};
static const arg_t verify_args[] = {
    X509_ROW_CERTIFICATE,
    X509_ANY("signing_pub_key", "null",
             "What the signer's public key is read from; the certificate itself by default"),
    X509_ANY("signing_pub_key_passphrase", "null", "Its passphrase"),
    ARGS_END,
};

#define READ_FN(name, fn, args, doc, example, ...)                                                           \
    {                                                                                                        \
        name, fn, args, FN_READONLY, doc CLI_EXAMPLE("salt '*' x509." name example), __VA_ARGS__             \
    }

static const func_t funcs[] = {
    READ_FN("expired", x509_will_expire, cert_args,
            "Return whether a certificate has expired, with its path and name.", " /etc/pki/my.crt",
            .data.text = "expired"),
    READ_FN("expires", x509_expires, expires_args, "True when a certificate expires within some days.",
            " /etc/pki/my.crt days=7"),
    READ_FN("get_pem_entries", x509_each, glob_args, "Return the first PEM block of each file that matches.",
            " '/etc/pki/*.crt'"),
    READ_FN("get_pem_entry", x509_get_pem_entry, entry_args,
            "Return the first PEM block of a file or text, put in order.", " /etc/pki/my.crt"),
    READ_FN("get_private_key_size", x509_get_private_key_size, size_args, "Return the bits of a private key.",
            " /etc/pki/my.key"),
    READ_FN("get_public_key", x509_get_public_key, public_args,
            "Return the public key of a key, certificate or request.", " /etc/pki/my.crt"),
    READ_FN("read_certificate", x509_read_certificate, cert_args, "Return what a certificate says.",
            " /etc/pki/my.crt"),
    READ_FN("read_certificates", x509_each, glob_args, "Return what each certificate that matches says.",
            " '/etc/pki/*.crt'", .data.number = 1),
    READ_FN("read_crl", x509_read_crl, crl_args, "Return what a revocation list says.", " /etc/pki/my.crl"),
    READ_FN("read_csr", x509_read_csr, csr_args, "Return what a request says.", " /etc/pki/my.csr"),
    READ_FN("verify_crl", x509_verify_crl, verify_crl_args,
            "True when the signer has signed the revocation list.", " /etc/pki/my.crl /etc/pki/ca.crt"),
    READ_FN("verify_private_key", x509_verify_private_key, pair_args,
            "True when a private key belongs to a certificate or public key.",
            " /etc/pki/my.key /etc/pki/my.crt"),
    READ_FN("verify_signature", x509_verify_signature, verify_args,
            "True when the signer has signed the certificate.",
            " /etc/pki/my.crt signing_pub_key=/etc/pki/ca.crt"),
    READ_FN("will_expire", x509_will_expire, will_args,
            "Return whether a certificate expires within some days, with its path and name.",
            " /etc/pki/my.crt 7", .data.text = "will_expire"),
    { "write_pem", x509_write_pem, write_args, 0,
      "Write a PEM block to a file." CLI_EXAMPLE("salt '*' x509.write_pem /etc/pki/my.pem /etc/pki/my.crt") },
};

PLUGIN(exec, x509_read, .provides = "x509", .doc = "Keys, certificates, requests and revocation lists",
       FUNCS(funcs), .unavailable = ossl_missing);
