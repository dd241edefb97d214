/* xdoc.c - certificates, requests and lists: parsed from DER by a reader that never leaves the bytes it has.
 * Parts that point into a document (der_t) stay valid as long as it does. Unknown extensions are kept as they
 * are. */
#include "common/base/base64.h"
#include "common/base/str.h"
#include "plugins/lib/x509/dn.h"
#include "plugins/lib/x509/xdoc.h"

#define OID_PSS "1.2.840.113549.1.1.10"

/* ---- algorithms --------------------------------------------------------------------------------- */

#define RSA_ALG(n, digest, salts)                                                                            \
    {                                                                                                        \
        "1.2.840.113549.1.1." n, salts "WithRSAEncryption", digest, PKEY_RSA                                 \
    }
#define NIST_ALG(n, name, digest, type)                                                                      \
    {                                                                                                        \
        "2.16.840.1.101.3.4.3." n, name, digest, type                                                        \
    }

static const sigalg_t algs[] = {
    RSA_ALG("11", "SHA256", "sha256"),
    RSA_ALG("12", "SHA384", "sha384"),
    RSA_ALG("13", "SHA512", "sha512"),
    RSA_ALG("14", "SHA224", "sha224"),
    RSA_ALG("5", "SHA1", "sha1"),
    RSA_ALG("4", "MD5", "md5"),
    RSA_ALG("15", "SHA512-224", "sha512-224"),
    RSA_ALG("16", "SHA512-256", "sha512-256"),
    NIST_ALG("13", "RSA-SHA3-224", "SHA3-224", PKEY_RSA),
    NIST_ALG("14", "RSA-SHA3-256", "SHA3-256", PKEY_RSA),
    NIST_ALG("15", "RSA-SHA3-384", "SHA3-384", PKEY_RSA),
    NIST_ALG("16", "RSA-SHA3-512", "SHA3-512", PKEY_RSA),
    { OID_PSS, "RSASSA-PSS", NULL, PKEY_RSA },
    { "1.2.840.10045.4.3.2", "ecdsa-with-SHA256", "SHA256", PKEY_EC },
    { "1.2.840.10045.4.3.3", "ecdsa-with-SHA384", "SHA384", PKEY_EC },
    { "1.2.840.10045.4.3.4", "ecdsa-with-SHA512", "SHA512", PKEY_EC },
    { "1.2.840.10045.4.3.1", "ecdsa-with-SHA224", "SHA224", PKEY_EC },
    { "1.2.840.10045.4.1", "ecdsa-with-SHA1", "SHA1", PKEY_EC },
    NIST_ALG("9", "ecdsa-with-SHA3-224", "SHA3-224", PKEY_EC),
    NIST_ALG("10", "ecdsa-with-SHA3-256", "SHA3-256", PKEY_EC),
    NIST_ALG("11", "ecdsa-with-SHA3-384", "SHA3-384", PKEY_EC),
    NIST_ALG("12", "ecdsa-with-SHA3-512", "SHA3-512", PKEY_EC),
    { "1.3.101.112", "ed25519", NULL, PKEY_ED25519 },
    { "1.3.101.113", "ed448", NULL, PKEY_ED448 },
};

static const struct {
    const char *salts, *libcryptos, *oid;
} digests[] = {
    { "sha256", "SHA256", "2.16.840.1.101.3.4.2.1" },
    { "sha1", "SHA1", "1.3.14.3.2.26" },
    { "sha224", "SHA224", "2.16.840.1.101.3.4.2.4" },
    { "sha384", "SHA384", "2.16.840.1.101.3.4.2.2" },
    { "sha512", "SHA512", "2.16.840.1.101.3.4.2.3" },
    { "sha512_224", "SHA512-224", "2.16.840.1.101.3.4.2.5" },
    { "sha512_256", "SHA512-256", "2.16.840.1.101.3.4.2.6" },
    { "sha3_224", "SHA3-224", "2.16.840.1.101.3.4.2.7" },
    { "sha3_256", "SHA3-256", "2.16.840.1.101.3.4.2.8" },
    { "sha3_384", "SHA3-384", "2.16.840.1.101.3.4.2.9" },
    { "sha3_512", "SHA3-512", "2.16.840.1.101.3.4.2.10" },
};

/* Salt's names have "_" where libcrypto's have "-". */
const char *
digest_name(const char *salts, fail_t *err)
{
    for (size_t i = 0; i < NELEMS(digests); i++)
        if (salts != NULL && strcasecmp(digests[i].salts, salts) == 0)
            return digests[i].libcryptos;
    fail_kind(
        err, FAIL_COMMAND, -EINVAL,
        "Invalid value '%s' for digest. Valid: sha1, sha224, sha256, sha384, sha512, sha512_224, sha512_256, "
        "sha3_224, sha3_256, sha3_384, sha3_512",
        salts != NULL ? salts : "None");
    return NULL;
}

/* Ed25519 and Ed448 have a hash of their own, so any digest is taken and none is used. */
const sigalg_t *
sigalg_for(const pkey_t *key, const char *digest, fail_t *err)
{
    const char *name = digest_name(digest, err);
    pkey_type_t type = pkey_type(key);

    for (size_t i = 0; name != NULL && i < NELEMS(algs); i++)
        if (algs[i].type == type && (type >= PKEY_ED25519 || str_eq(algs[i].digest, name)))
            return &algs[i];
    fail_kind(err, FAIL_COMMAND, -EINVAL, "A key of this kind can't sign with the digest %s", digest);
    return NULL;
}

/* NULL: an algorithm that is not known here; the document can be read all the same. */
const sigalg_t *
sigalg_of(const xdoc_t *doc)
{
    for (size_t i = 0; i < NELEMS(algs); i++)
        if (str_eq(algs[i].oid, doc->sig_oid))
            return &algs[i];
    return NULL;
}

/* RSA's algorithms have NULL as their parameters (RFC 4055), the others have none. */
void
sigalg_write(const sigalg_t *alg, buf_t *out)
{
    size_t at = der_begin(out, DER_SEQ);

    (void) der_oid(out, DER_OID, alg->oid);
    if (alg->type == PKEY_RSA)
        der_put(out, DER_NULL, "", 0);
    der_end(out, at);
}

/* For the algorithms that have a hash of their own, NULL. */
const char *
xdoc_digest(const xdoc_t *self)
{
    const sigalg_t *alg = sigalg_of(self);
    der_t params = self->sig_params, sequence, explicit, algorithm, oid;

    if (!str_eq(self->sig_oid, OID_PSS))
        return alg != NULL ? alg->digest : NULL;
    /* RSASSA-PSS: the hash that its parameters name, SHA-1 by default. */
    if (!der_take(&params, DER_SEQ, &sequence) || !der_take(&sequence, DER_CTXC(0), &explicit))
        return "SHA1";
    AUTO_FREE char *dotted = der_take(&explicit, DER_SEQ, &algorithm) && der_take(&algorithm, DER_OID, &oid)
                                 ? der_oid_text(oid)
                                 : NULL;
    for (size_t i = 0; i < NELEMS(digests); i++)
        if (str_eq(digests[i].oid, dotted))
            return digests[i].libcryptos;
    return NULL;
}

/* False as well for a key of another kind, and for an algorithm that is not known. */
bool
xdoc_signed_by(const xdoc_t *self, const pkey_t *key)
{
    const sigalg_t *alg = sigalg_of(self);

    return alg != NULL && alg->type == pkey_type(key) &&
           pkey_verify(key, xdoc_digest(self), str_eq(alg->oid, OID_PSS), self->tbs.p, self->tbs.len,
                       self->signature.p, self->signature.len);
}

/* ---- parsing ------------------------------------------------------------------------------------ */

/* NULL is no document, and nothing is done. */
void
xdoc_destroy(xdoc_t **self_p)
{
    xdoc_t *self = *self_p;

    if (self == NULL)
        return;
    buf_free(&self->der);
    free(self->sig_oid);
    json_decref(self->issuer);
    json_decref(self->subject);
    json_decref(self->extensions);
    json_decref(self->revoked);
    free(self);
    *self_p = NULL;
}

/* The content of SEQUENCE OF Extension. */
static json_t *
read_extensions(der_t in)
{
    json_auto_t *list = json_array();

    while (in.len > 0) {
        der_t one, oid, flag = { NULL, 0 }, value;
        if (!der_take(&in, DER_SEQ, &one) || !der_take(&one, DER_OID, &oid))
            return NULL;
        (void) der_take(&one, DER_BOOL, &flag);
        AUTO_FREE char *dotted = der_oid_text(oid);
        if (dotted == NULL || !der_take(&one, DER_OCTETS, &value))
            return NULL;
        AUTO_FREE char *hex = der_hex(value.p, value.len);
        json_array_append_new(list, json_pack("{s:s, s:b, s:s}", "oid", dotted, "critical",
                                              flag.len == 1 && *flag.p != 0, "value", hex));
    }
    return json_incref(list);
}

/* Name with its tag, and its content as JSON. */
static bool
xdoc_read_name(der_t *in, der_t *ret_whole, json_t **ret_name)
{
    uint8_t tag;
    der_t body;

    if (!der_next(in, &tag, &body, ret_whole) || tag != DER_SEQ)
        return false;
    *ret_name = dn_read(body);
    return *ret_name != NULL;
}

/* UTCTime or GeneralizedTime. */
static bool
xdoc_read_time(der_t *in, int64_t *ret_time)
{
    uint8_t tag;
    der_t body;

    return der_next(in, &tag, &body, NULL) && der_to_time(tag, body, ret_time);
}

/* SubjectPublicKeyInfo with its tag, as the key's hash needs it whole. */
static bool
read_spki(der_t *in, der_t *ret_whole)
{
    uint8_t tag;
    der_t body;

    return der_next(in, &tag, &body, ret_whole) && tag == DER_SEQ;
}

/* A serial number's bytes without the zero that keeps it positive: so it is compared and shown. */
static der_t
without_zeros(der_t n)
{
    for (; n.len > 1 && *n.p == 0; n.len--)
        n.p++;
    return n;
}

/* TBSCertificate (RFC 5280, 4.1). The unique identifiers, [1] and [2], are passed over. */
static bool
xdoc_read_cert(xdoc_t *d, der_t in)
{
    der_t part, version, skipped, extensions;
    json_int_t v = 0;

    if (der_take(&in, DER_CTXC(0), &part) &&
        (!der_take(&part, DER_INT, &version) || !der_to_int(version, &v)))
        return false;
    d->version = (int) v + 1;
    if (!der_take(&in, DER_INT, &d->serial) || !der_take(&in, DER_SEQ, &skipped) ||
        !xdoc_read_name(&in, &d->issuer_der, &d->issuer) || !der_take(&in, DER_SEQ, &part) ||
        !xdoc_read_time(&part, &d->from) || !xdoc_read_time(&part, &d->until) ||
        !xdoc_read_name(&in, &d->subject_der, &d->subject) || !read_spki(&in, &d->spki))
        return false;
    d->serial = without_zeros(d->serial);
    (void) der_take(&in, DER_CTX(1), &skipped);
    (void) der_take(&in, DER_CTX(2), &skipped);
    if (der_take(&in, DER_CTXC(3), &part))
        d->extensions = der_take(&part, DER_SEQ, &extensions) ? read_extensions(extensions) : NULL;
    else
        d->extensions = json_array();
    return d->extensions != NULL;
}

/* Of the attributes of a request the one with its extensions. */
static bool
read_csr(xdoc_t *d, der_t in)
{
    der_t version, attributes, one, oid, set, extensions;
    json_int_t v;

    if (!der_take(&in, DER_INT, &version) || !der_to_int(version, &v) ||
        !xdoc_read_name(&in, &d->subject_der, &d->subject) || !read_spki(&in, &d->spki))
        return false;
    d->version = (int) v + 1;
    if (!der_take(&in, DER_CTXC(0), &attributes))
        attributes.len = 0;
    while (attributes.len > 0 && d->extensions == NULL) {
        if (!der_take(&attributes, DER_SEQ, &one) || !der_take(&one, DER_OID, &oid))
            return false;
        AUTO_FREE char *dotted = der_oid_text(oid);
        if (!str_eq(dotted, "1.2.840.113549.1.9.14"))
            continue;
        if (!der_take(&one, DER_SET, &set) || !der_take(&set, DER_SEQ, &extensions))
            return false;
        d->extensions = read_extensions(extensions);
        if (d->extensions == NULL)
            return false;
    }
    if (d->extensions == NULL)
        d->extensions = json_array();
    return true;
}

/* Entries: serial number, date and extensions. */
static bool
read_revoked(xdoc_t *d, der_t in)
{
    while (in.len > 0) {
        der_t one, serial, extensions;
        int64_t date;
        if (!der_take(&in, DER_SEQ, &one) || !der_take(&one, DER_INT, &serial) ||
            !xdoc_read_time(&one, &date))
            return false;
        json_t *found = der_take(&one, DER_SEQ, &extensions) ? read_extensions(extensions) : json_array();
        if (found == NULL)
            return false;
        serial = without_zeros(serial);
        AUTO_FREE char *hex = der_hex(serial.p, serial.len);
        json_array_append_new(d->revoked, json_pack("{s:s, s:I, s:o}", "serial", hex, "date",
                                                    (json_int_t) date, "extensions", found));
    }
    return true;
}

/* TBSCertList (RFC 5280, 5.1). nextUpdate may be missing: until is 0 then. */
static bool
read_crl(xdoc_t *d, der_t in)
{
    der_t part;
    uint8_t tag;
    json_int_t v = 0;

    if (der_take(&in, DER_INT, &part) && !der_to_int(part, &v))
        return false;
    d->version = (int) v + 1;
    d->revoked = json_array();
    if (!der_take(&in, DER_SEQ, &part) || !xdoc_read_name(&in, &d->issuer_der, &d->issuer) ||
        !xdoc_read_time(&in, &d->from))
        return false;
    if (in.len > 0 && (*in.p == DER_UTC || *in.p == DER_GENERAL) && !xdoc_read_time(&in, &d->until))
        return false;
    if (der_take(&in, DER_SEQ, &part) && !read_revoked(d, part))
        return false;
    if (der_take(&in, DER_CTXC(0), &part))
        d->extensions = der_next(&part, &tag, &part, NULL) && tag == DER_SEQ ? read_extensions(part) : NULL;
    else
        d->extensions = json_array();
    return d->extensions != NULL;
}

/* All three are SEQUENCE { what is signed, algorithm, signature }; bytes behind it are refused. */
xdoc_t *
xdoc_parse(xdoc_kind_t kind, const void *der, size_t len)
{
    static bool (*const readers[])(xdoc_t *, der_t) = { xdoc_read_cert, read_csr, read_crl };
    xdoc_t *d = xcalloc(1, sizeof(*d));
    der_t in, whole, body, algorithm, oid, bits;
    uint8_t tag;

    d->kind = kind;
    buf_add(&d->der, der, len);
    in = (der_t){ (const uint8_t *) buf_str(&d->der), len };
    if (!der_take(&in, DER_SEQ, &whole) || in.len > 0 || !der_next(&whole, &tag, &body, &d->tbs) ||
        tag != DER_SEQ || !readers[kind](d, body) || !der_take(&whole, DER_SEQ, &algorithm) ||
        !der_take(&algorithm, DER_OID, &oid) || !der_take(&whole, DER_BITS, &bits) || bits.len == 0 ||
        (d->sig_oid = der_oid_text(oid)) == NULL)
        xdoc_destroy(&d);
    else {
        d->sig_params = algorithm;
        d->signature = (der_t){ bits.p + 1, bits.len - 1 };
    }
    return d;
}

/* BORROWED, or NULL. */
json_t *
xdoc_extension(const xdoc_t *self, const char *oid)
{
    size_t i;
    json_t *one;

    json_array_foreach (self->extensions, i, one)
        if (str_eq(value_str(one, "oid", NULL), oid))
            return one;
    return NULL;
}

pkey_t *
xdoc_key(const xdoc_t *self, fail_t *err)
{
    pkey_t *key = pkey_read_public(self->spki.p, self->spki.len);

    if (key == NULL)
        fail_kind(err, FAIL_INVOCATION, -EINVAL, "Did not recognize key type");
    return key;
}
