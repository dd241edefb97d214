/* issue.c - certificates, requests and lists that are to be issued. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "plugins/lib/x509/dn.h"
#include "plugins/lib/x509/issue.h"

enum { SERIAL_BYTES = 20, DAY = 24 * 60 * 60, DAYS_MAX = 2000000 };

/* All members are NULL or owned; the structure can be used again. */
void
issue_free(issue_t *self)
{
    pkey_destroy(&self->signer);
    pkey_destroy(&self->key);
    xdoc_destroy(&self->ca);
    xdoc_destroy(&self->csr);
    buf_free(&self->spki);
    buf_free(&self->subject);
    buf_free(&self->issuer);
    buf_free(&self->serial);
    json_decref(self->subject_name);
    json_decref(self->issuer_name);
    json_decref(self->extensions);
    json_decref(self->revoked);
    free(self->digest);
    *self = (issue_t){ .kind = XDOC_CERT };
}

/* An argument, NULL where it is None. */
static json_t *
issue_given(const json_t *args, const char *name)
{
    json_t *v = value_get(args, name);

    return v != NULL && !json_is_null(v) ? v : NULL;
}

/* ---- parts -------------------------------------------------------------------------------------- */

/* 20 bytes are the most (RFC 5280, 4.1.2.2); the first is from 1 to 127, so that the number is positive and
 * as long. */
int
issue_serial(buf_t *out, fail_t *err)
{
    uint8_t bytes[SERIAL_BYTES];

    if (ossl_random(bytes, sizeof(bytes), err) != 0)
        return err->code;
    bytes[0] = (uint8_t) (bytes[0] >> 1 | 1);
    buf_add(out, bytes, sizeof(bytes));
    return 0;
}

/* A number, hexadecimal with or without colons; NULL: a random one. */
static int
take_serial(const json_t *v, buf_t *out, fail_t *err)
{
    if (v == NULL)
        return issue_serial(out, err);
    if (json_is_integer(v) && json_integer_value(v) > 0) {
        for (int shift = 56; shift >= 0; shift -= 8)
            if (out->len > 0 || (json_integer_value(v) >> shift & 0xff) != 0)
                buf_putc(out, (char) (json_integer_value(v) >> shift & 0xff));
        return 0;
    }
    AUTO_FREE char *text = value_pystr(v);
    buf_auto_t read = BUF_INIT;
    if (!json_is_string(v) || !der_unhex(text, &read) || read.len == 0 || read.len > SERIAL_BYTES)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Could not parse serial number %s", text);
    size_t zeros = 0;
    while (zeros + 1 < read.len && read.data[zeros] == 0)
        zeros++;
    buf_add(out, read.data + zeros, read.len - zeros);
    return 0;
}

/* A time by its argument, or now and some days. */
static int
take_time(const json_t *args, const char *name, json_int_t days, int64_t *ret_time, fail_t *err)
{
    json_t *v = issue_given(args, name);
    AUTO_FREE char *text = v != NULL ? value_pystr(v) : NULL;

    if (value_truthy(v))
        return der_time_parse(text, ret_time)
                   ? 0
                   : fail_kind(err, FAIL_INVOCATION, -EINVAL,
                               "%s: time data '%s' does not match format '%%Y-%%m-%%d %%H:%%M:%%S'", name,
                               text);
    *ret_time = clock_wall_us() / 1000000 + days * DAY;
    return 0;
}

/* A negative number makes a document that is over already, which tests use. */
static int
take_days(const json_t *args, json_int_t dflt, json_int_t *ret_days, fail_t *err)
{
    json_t *v = issue_given(args, "days_valid");
    AUTO_FREE char *text = v != NULL ? value_pystr(v) : NULL;
    long long n = dflt;

    if (v != NULL && !str_to_int(text, -DAYS_MAX, DAYS_MAX, &n))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "days_valid must be a number of days, not %s", text);
    *ret_days = n;
    return 0;
}

/* The name is checked at once; it is used at the end. */
static int
take_digest(const json_t *args, issue_t *out, fail_t *err)
{
    out->digest = xstrdup(value_str(args, "digest", "sha256"));
    return digest_name(out->digest, err) != NULL ? 0 : err->code;
}

/* `subject`, or else CN, O and the others beside the arguments. */
static int
take_subject(const json_t *args, issue_t *out, fail_t *err)
{
    json_t *subject = issue_given(args, "subject");

    out->subject_name = dn_make(value_truthy(subject) ? subject : args, err);
    if (out->subject_name == NULL)
        return err->code;
    dn_write(out->subject_name, &out->subject);
    return 0;
}

/* The signing key and certificate, which must be a pair. With `remote` a ca_server has the key, and only its
 * certificate may be known here. */
static int
take_signer(const json_t *args, bool remote, issue_t *out, fail_t *err)
{
    json_t *cert = issue_given(args, "signing_cert"), *key = issue_given(args, "signing_private_key");

    if (!remote && key == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "Creating a certificate locally at least requires a signing private key.");
    if (!remote) {
        out->signer = issue_key(key, value_get(args, "signing_private_key_passphrase"), NULL, NULL, err);
        if (out->signer == NULL)
            return err->code;
    }
    if (!value_truthy(cert))
        return 0;
    out->ca = xdoc_load(XDOC_CERT, cert, NULL, NULL, err);
    if (out->ca == NULL)
        return err->code;
    AUTO(pkey) public = xdoc_key(out->ca, err);
    if (public != NULL && out->signer != NULL && !pkey_equal(public, out->signer))
        fail_kind(err, FAIL_INVOCATION, -EINVAL,
                  "Signing private key does not match the certificate's public key");
    return public != NULL ? err->code : -EINVAL;
}

/* The key that the certificate is for. Self-signed: the signer's own. Else the first that is given of a
 * private key, a public key and a request. */
static int
take_subject_key(const json_t *args, issue_t *out, fail_t *err)
{
    json_t *private = issue_given(args, "private_key"), *public = issue_given(args, "public_key");

    if (out->ca == NULL)
        return out->signer != NULL ? pkey_write_public(out->signer, &out->spki, err)
                                   : fail_kind(err, FAIL_INVOCATION, -EINVAL,
                                               "The signing policy of the ca_server has no signing_cert");
    if (value_truthy(private)) {
        out->key = issue_key(private, value_get(args, "private_key_passphrase"), NULL, NULL, err);
        return out->key != NULL ? pkey_write_public(out->key, &out->spki, err) : err->code;
    }
    if (value_truthy(public)) {
        AUTO(pkey) key = issue_public(public, value_get(args, "public_key_passphrase"), err);
        return key != NULL ? pkey_write_public(key, &out->spki, err) : err->code;
    }
    if (out->csr == NULL)
        return fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "This certificate is not self-signed (signing_cert is set) and thus needs public_key, private_key "
            "or csr to derive public key to sign");
    buf_add(&out->spki, out->csr->spki.p, out->csr->spki.len);
    return 0;
}

/* Those of the request that the arguments have not, except the ones that only an issuer may say. */
static void
take_over(issue_t *out)
{
    json_t *one;
    size_t i;

    for (size_t k = 0; out->csr != NULL && k < ext_rows_n; k++) {
        if ((ext_rows[k].flags & EXT_CERT) == 0 || (ext_rows[k].flags & EXT_NO_CSR) != 0)
            continue;
        json_t *asked = xdoc_extension(out->csr, ext_rows[k].oid);
        bool there = false;
        json_array_foreach (out->extensions, i, one)
            there = there || str_eq(value_str(one, "oid", ""), ext_rows[k].oid);
        if (asked != NULL && !there)
            json_array_append(out->extensions, asked);
    }
}

/* ---- documents ---------------------------------------------------------------------------------- */

/* `now` is the certificate that is there already, or NULL: a new one keeps its serial number where none is
 * asked for, so that the authority's identifier in it can be compared. */
int
issue_cert(const json_t *args, const xdoc_t *now, bool remote, issue_t *out, fail_t *err)
{
    json_t *csr = issue_given(args, "csr");
    json_int_t days = 0;

    out->kind = XDOC_CERT;
    out->serial_given = issue_given(args, "serial_number") != NULL;
    if (take_digest(args, out, err) != 0 || take_signer(args, remote, out, err) != 0)
        return err->code;
    if (value_truthy(csr) && (out->csr = xdoc_load(XDOC_CSR, csr, NULL, NULL, err)) == NULL)
        return err->code;
    if (take_subject_key(args, out, err) != 0 || take_subject(args, out, err) != 0 ||
        take_serial(issue_given(args, "serial_number"), &out->serial, err) != 0 ||
        take_days(args, 365, &days, err) != 0 || take_time(args, "not_before", 0, &out->from, err) != 0 ||
        take_time(args, "not_after", days, &out->until, err) != 0)
        return err->code;
    if (out->ca != NULL)
        buf_add(&out->issuer, out->ca->subject_der.p, out->ca->subject_der.len);
    else
        buf_add(&out->issuer, out->subject.data, out->subject.len);
    out->issuer_name = json_incref(out->ca != NULL ? out->ca->subject : out->subject_name);

    buf_auto_t serial = BUF_INIT;
    bool keep = now != NULL && !out->serial_given;
    buf_add(&serial, keep ? (const void *) now->serial.p : out->serial.data,
            keep ? now->serial.len : out->serial.len);
    ext_about_t about = { .spki = { (const uint8_t *) out->spki.data, out->spki.len }, .ca = out->ca };
    if (out->ca == NULL) {
        about.ca_spki = about.spki;
        about.own_name = &out->subject;
        about.own_serial = &serial;
    }
    out->extensions = ext_make_all(args, EXT_CERT, 0, &about, err);
    if (out->extensions != NULL)
        take_over(out);
    return out->extensions != NULL ? 0 : err->code;
}

/* Extensions that only an issuer says (EXT_NO_CSR) are left out even when they are given. */
int
issue_csr(const json_t *args, issue_t *out, fail_t *err)
{
    json_t *key = issue_given(args, "private_key");

    out->kind = XDOC_CSR;
    if (key == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "private_key is required");
    if (take_digest(args, out, err) != 0 || take_subject(args, out, err) != 0)
        return err->code;
    out->signer = issue_key(key, value_get(args, "private_key_passphrase"), NULL, NULL, err);
    if (out->signer == NULL || pkey_write_public(out->signer, &out->spki, err) != 0)
        return err->code;
    ext_about_t about = { .spki = { (const uint8_t *) out->spki.data, out->spki.len } };
    out->extensions = ext_make_all(args, EXT_CERT, EXT_NO_CSR, &about, err);
    return out->extensions != NULL ? 0 : err->code;
}

/* One entry of `revoked`; an expired one is left out unless include_expired says otherwise. */
static int
revoke(const json_t *entry, bool expired_too, issue_t *out, fail_t *err)
{
    json_t *cert = issue_given(entry, "certificate"), *number = issue_given(entry, "serial_number");
    int64_t until = INT64_MAX, date, now = clock_wall_us() / 1000000;
    AUTO(xdoc) doc = NULL;
    buf_auto_t serial = BUF_INIT;

    if (issue_given(entry, "not_after") != NULL && take_time(entry, "not_after", 0, &until, err) != 0)
        return err->code;
    if (cert != NULL) {
        doc = xdoc_load(XDOC_CERT, cert, NULL, NULL, err);
        if (doc == NULL)
            return err->code;
        until = doc->until;
        buf_add(&serial, doc->serial.p, doc->serial.len);
    } else if (!value_truthy(number)) {
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Need serial_number or certificate");
    } else if (take_serial(number, &serial, err) != 0) {
        return err->code;
    }
    if (until < now && !expired_too)
        return 0;
    if (take_time(entry, "revocation_date", 0, &date, err) != 0)
        return err->code;
    ext_about_t about = { .ca = out->ca };
    json_t *made = ext_make_all(value_get(entry, "extensions"), EXT_ENTRY, 0, &about, err);
    if (made == NULL)
        return err->code;
    AUTO_FREE char *hex = der_hex(serial.data, serial.len);
    json_array_append_new(out->revoked, json_pack("{s:s, s:I, s:o}", "serial", hex, "date", (json_int_t) date,
                                                  "extensions", made));
    return 0;
}

/* The older module's form: {name: [{"certificate": ...}, {"reason": ...}]}, and `reason` beside the others.
 * NEW. */
static json_t *
plain_entry(const json_t *entry)
{
    json_t *list = json_object_size(entry) == 1 ? json_object_iter_value(json_object_iter((json_t *) entry))
                                                : NULL,
           *one;
    json_t *plain = json_is_array(list) ? json_object() : json_copy((json_t *) entry);
    size_t i;

    json_array_foreach (list, i, one)
        json_object_update(plain, one);
    json_t *reason = value_get(plain, "reason");
    if (reason != NULL) {
        json_t *had = value_get(plain, "extensions");
        json_t *extensions = json_is_object(had) ? json_copy(had) : json_object();
        json_object_set(extensions, "CRLReason", reason);
        json_object_set_new(plain, "extensions", extensions);
        json_object_del(plain, "reason");
    }
    return plain;
}

/* The list is dated now, and the next one is due after days_valid (100). */
int
issue_crl(const json_t *args, issue_t *out, fail_t *err)
{
    json_t *revoked = value_get(args, "revoked"), *one;
    json_int_t days = 0;
    size_t i;

    out->kind = XDOC_CRL;
    out->revoked = json_array();
    if (take_digest(args, out, err) != 0 || take_signer(args, false, out, err) != 0 ||
        take_days(args, 100, &days, err) != 0)
        return err->code;
    if (out->ca == NULL)
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "A CRL must have an issuer name: signing_cert is missing");
    buf_add(&out->issuer, out->ca->subject_der.p, out->ca->subject_der.len);
    out->issuer_name = json_incref(out->ca->subject);
    out->from = clock_wall_us() / 1000000;
    out->until = out->from + days * DAY;
    json_array_foreach (revoked, i, one) {
        json_auto_t *entry = plain_entry(one);
        if (revoke(entry, value_truthy(value_get(args, "include_expired")), out, err) != 0)
            return err->code;
    }
    ext_about_t about = { .ca = out->ca };
    out->extensions = ext_make_all(value_get(args, "extensions"), EXT_CRL, 0, &about, err);
    return out->extensions != NULL ? 0 : err->code;
}

/* ---- signing ------------------------------------------------------------------------------------ */

/* Version 3, which is 2. */
static void
write_cert(const issue_t *self, const sigalg_t *alg, buf_t *out)
{
    size_t part = der_begin(out, DER_CTXC(0)), time;

    der_int(out, DER_INT, 2);
    der_end(out, part);
    der_number(out, DER_INT, (const uint8_t *) self->serial.data, self->serial.len);
    sigalg_write(alg, out);
    buf_add(out, self->issuer.data, self->issuer.len);
    time = der_begin(out, DER_SEQ);
    der_time(out, self->from);
    der_time(out, self->until);
    der_end(out, time);
    buf_add(out, self->subject.data, self->subject.len);
    buf_add(out, self->spki.data, self->spki.len);
    if (json_array_size(self->extensions) > 0) {
        part = der_begin(out, DER_CTXC(3));
        ext_write(self->extensions, out);
        der_end(out, part);
    }
}

/* PKCS#10 (RFC 2986): the extensions are an attribute, extensionRequest. The attributes are there, empty,
 * without them. */
static void
write_csr(const issue_t *self, buf_t *out)
{
    size_t attributes, one, set;

    der_int(out, DER_INT, 0);
    buf_add(out, self->subject.data, self->subject.len);
    buf_add(out, self->spki.data, self->spki.len);
    attributes = der_begin(out, DER_CTXC(0));
    if (json_array_size(self->extensions) > 0) {
        one = der_begin(out, DER_SEQ);
        (void) der_oid(out, DER_OID, "1.2.840.113549.1.9.14");
        set = der_begin(out, DER_SET);
        ext_write(self->extensions, out);
        der_end(out, set);
        der_end(out, one);
    }
    der_end(out, attributes);
}

/* The list of entries is left out when it is empty (RFC 5280, 5.1.2.6). */
static void
write_crl(const issue_t *self, const sigalg_t *alg, buf_t *out)
{
    size_t i, list, each, part;
    json_t *one;

    der_int(out, DER_INT, 1);
    sigalg_write(alg, out);
    buf_add(out, self->issuer.data, self->issuer.len);
    der_time(out, self->from);
    der_time(out, self->until);
    list = json_array_size(self->revoked) > 0 ? der_begin(out, DER_SEQ) : 0;
    json_array_foreach (self->revoked, i, one) {
        buf_auto_t serial = BUF_INIT;
        each = der_begin(out, DER_SEQ);
        (void) der_unhex(value_str(one, "serial", ""), &serial);
        der_number(out, DER_INT, (const uint8_t *) buf_str(&serial), serial.len);
        der_time(out, value_int(one, "date", 0));
        if (json_array_size(value_get(one, "extensions")) > 0)
            ext_write(value_get(one, "extensions"), out);
        der_end(out, each);
    }
    if (list > 0)
        der_end(out, list);
    if (json_array_size(self->extensions) > 0) {
        part = der_begin(out, DER_CTXC(0));
        ext_write(self->extensions, out);
        der_end(out, part);
    }
}

/* The signed part as it is written here, byte for byte, its algorithm once more, and the signature. */
int
issue_sign(const issue_t *self, buf_t *out, fail_t *err)
{
    const sigalg_t *alg = sigalg_for(self->signer, self->digest, err);
    buf_auto_t tbs = BUF_INIT, signature = BUF_INIT;

    if (alg == NULL)
        return err->code;
    size_t at = der_begin(&tbs, DER_SEQ);
    if (self->kind == XDOC_CERT)
        write_cert(self, alg, &tbs);
    else if (self->kind == XDOC_CSR)
        write_csr(self, &tbs);
    else
        write_crl(self, alg, &tbs);
    der_end(&tbs, at);
    if (pkey_sign(self->signer, alg->digest, tbs.data, tbs.len, &signature, err) != 0)
        return err->code;
    size_t whole = der_begin(out, DER_SEQ), bits;
    buf_add(out, tbs.data, tbs.len);
    sigalg_write(alg, out);
    bits = der_begin(out, DER_BITS);
    buf_putc(out, '\0');
    buf_add(out, signature.data, signature.len);
    der_end(out, bits);
    der_end(out, whole);
    return 0;
}
