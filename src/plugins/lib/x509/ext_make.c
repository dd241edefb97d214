/* ext_make.c - the extensions of keys and constraints. Each takes OpenSSL's notation, which Salt's older
 * module has, or the newer one's lists and mappings. Their errors are those of the newer module, or of the
 * library cryptography beneath it. */
#include <ctype.h>

#include "common/base/str.h"
#include "plugins/lib/x509/ext_make.h"

/* Python's int() takes blanks around it, so they are taken here. */
int
ext_number(const json_t *v, const char *what, json_int_t *ret_n, fail_t *err)
{
    AUTO_FREE char *text = value_pystr(v);
    long long n;

    if (!str_to_int(str_trim(text), 0, INT64_MAX, &n))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s must be a number that is not negative, not %s",
                         what, text);
    *ret_n = n;
    return 0;
}

/* OpenSSL's notation as an object. NEW. */
static json_t *
conf_object(const char *text, bool *critical)
{
    json_auto_t *pairs = conf_pairs(text, critical);
    json_t *object = json_object(), *one;
    size_t i;

    json_array_foreach (pairs, i, one)
        json_object_set(object, json_string_value(json_array_get(one, 0)), json_array_get(one, 1));
    return object;
}

/* pathlen is only allowed for an authority, as cryptography has it. */
int
make_basic(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    json_auto_t *read = NULL;
    json_int_t n = 0;
    bool ca;

    if (json_is_string(v)) {
        /* "CA:TRUE" and "ca:true" are the same; a mapping's keys are not folded. */
        AUTO_FREE char *lower = xstrdup(json_string_value(v));
        for (char *p = lower; *p != '\0'; p++)
            *p = (char) tolower((unsigned char) *p);
        read = conf_object(lower, critical);
        ca = str_eq(value_str(read, "ca", ""), "true");
        v = read;
    } else {
        *critical = value_truthy(value_get(v, "critical"));
        ca = value_truthy(value_get(v, "ca"));
    }
    json_t *path = value_get(v, "pathlen");
    bool limited = path != NULL && !json_is_null(path);
    if (value_get(v, "ca") == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         read != NULL ? "Invalid configuration for basicContraints: 'ca'"
                                      : "Undefined required key for basicConstraints: 'ca'");
    if (limited && ext_number(path, "pathlen of basicConstraints", &n, err) != 0)
        return err->code;
    if (limited && !ca)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "path_length must be None when ca is False");
    size_t at = der_begin(out, DER_SEQ);
    if (ca)
        der_true(out, DER_BOOL);
    if (limited)
        der_int(out, DER_INT, n);
    der_end(out, at);
    return 0;
}

/* The words are looked for anywhere in a text, as Python's `in` does it: "nonRepudiation, digitalSignature"
 * needs no parsing. */
int
make_key_usage(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    enum { AGREEMENT = 1 << 4, ONLY = 3 << 7 };
    unsigned flags = 0;

    *critical = conf_has(v, "critical");
    for (size_t i = 0; key_usages[i] != NULL; i++)
        if (conf_has(v, key_usages[i]))
            flags |= 1u << i;
    if ((flags & ONLY) != 0 && (flags & AGREEMENT) == 0)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "encipher_only and decipher_only can only be true when key_agreement is true");
    der_named_bits(out, DER_BITS, flags);
    return 0;
}

/* A usage by its short name, or any OID. */
int
make_extended(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    json_auto_t *usages = json_is_array(v) ? json_incref((json_t *) v) : json_array();
    size_t i, at = der_begin(out, DER_SEQ);
    json_t *usage;

    *critical = conf_has(v, "critical");
    if (json_is_string(v)) {
        json_auto_t *pairs = conf_pairs(json_string_value(v), critical);
        json_t *pair;
        json_array_foreach (pairs, i, pair)
            json_array_append(usages, json_array_get(pair, 0));
    } else if (!json_is_array(v)) {
        json_array_append(usages, (json_t *) v);
    }
    json_array_foreach (usages, i, usage) {
        AUTO_FREE char *text = value_pystr(usage);
        const char *oid = oid_by_name(extended_usages, text);
        if (str_eq(text, "critical"))
            continue;
        if (!der_oid(out, DER_OID, oid != NULL ? oid : text))
            return fail_kind(err, FAIL_COMMAND, -EINVAL, "Invalid oid: %s", text);
    }
    der_end(out, at);
    return 0;
}

/* SHA-1 of the key's bits (RFC 5280, 4.2.1.2). */
static int
key_hash(der_t spki, buf_t *out, fail_t *err)
{
    der_t in, algorithm, bits;

    if (!der_take(&spki, DER_SEQ, &in) || !der_take(&in, DER_SEQ, &algorithm) ||
        !der_take(&in, DER_BITS, &bits) || bits.len < 1)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "the public key can't be hashed: it has no bits");
    return ossl_digest("SHA1", bits.p + 1, bits.len - 1, out, err);
}

/* `hash` stands for the hash of the document's own key; anything else is hexadecimal. */
int
make_skid(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    const char *text = json_string_value(v);
    buf_auto_t id = BUF_INIT;

    *critical = false;
    if (text == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Value must be a (hex-)digest or pubkey");
    if (strstr(text, "critical") != NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "subjectKeyIdentifier must be marked as non-critical");
    if (str_eq(text, "hash")) {
        if (key_hash(about->spki, &id, err) != 0)
            return err->code;
    } else if (!der_unhex(text, &id) || id.len == 0) {
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Value must be precomputed hash");
    }
    der_put(out, DER_OCTETS, buf_str(&id), id.len);
    return 0;
}

/* The identifier of the key that signs: the signing certificate's, or its hash. */
static int
signer_id(const ext_about_t *about, buf_t *out, fail_t *err)
{
    json_t *has = about->ca != NULL ? xdoc_extension(about->ca, "2.5.29.14") : NULL;
    buf_auto_t value = BUF_INIT;
    der_t id;

    if (has == NULL)
        return key_hash(about->ca != NULL ? about->ca->spki : about->ca_spki, out, err);
    (void) der_unhex(value_str(has, "value", ""), &value);
    der_t in = { (const uint8_t *) buf_str(&value), value.len };
    if (!der_take(&in, DER_OCTETS, &id))
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "The signing certificate's subjectKeyIdentifier is malformed");
    buf_add(out, id.p, id.len);
    return 0;
}

/* The issuer stands there when it is `always`, or when there is no key identifier; `keyid` alone is the
 * common case. */
int
make_akid(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    json_auto_t *read = json_is_string(v) ? conf_object(json_string_value(v), critical)
                                          : json_incref((json_t *) v);
    bool own = about->own_name != NULL;
    buf_auto_t id = BUF_INIT;

    *critical = false;
    if (conf_has(v, "critical"))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "authorityKeyIdentifier must be marked as non-critical");
    if (about->ca == NULL && about->ca_spki.len == 0)
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Need CA certificate or CA pubkey to calculate authorityKeyIdentifier");
    json_t *issuer = value_get(read, "issuer");
    bool always = str_eq(json_string_value(issuer), "always");
    if (value_get(read, "keyid") != NULL && signer_id(about, &id, err) != 0)
        return err->code;
    if (always && about->ca == NULL && !own)
        return fail_kind(
            err, FAIL_COMMAND, -EINVAL,
            "Could not add authority_cert_issuer and authority_cert_serial_number, but was set to always.");
    size_t at = der_begin(out, DER_SEQ);
    if (id.len > 0)
        der_put(out, DER_CTX(0), buf_str(&id), id.len);
    /* Issuer and serial number of the certificate that signs, which may be the one that is made. */
    if ((always || (issuer != NULL && id.len == 0)) && (about->ca != NULL || own)) {
        const xdoc_t *ca = about->ca;
        size_t names = der_begin(out, DER_CTXC(1)), name = der_begin(out, DER_CTXC(4));
        buf_add(out, ca != NULL ? (const void *) ca->issuer_der.p : buf_str(about->own_name),
                ca != NULL ? ca->issuer_der.len : about->own_name->len);
        der_end(out, name);
        der_end(out, names);
        der_number(out, DER_CTX(2), ca != NULL ? ca->serial.p : (const uint8_t *) buf_str(about->own_serial),
                   ca != NULL ? ca->serial.len : about->own_serial->len);
    }
    der_end(out, at);
    return 0;
}

/* Either number must be there. */
int
make_policy_constraints(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    static const char *const keys[] = { "requireExplicitPolicy", "inhibitPolicyMapping" };
    json_auto_t *read = json_is_string(v) ? conf_object(json_string_value(v), critical)
                                          : json_incref((json_t *) v);
    size_t at = der_begin(out, DER_SEQ);
    json_int_t n;

    *critical = conf_has(v, "critical");
    for (size_t i = 0; i < NELEMS(keys); i++) {
        json_t *given = value_get(read, keys[i]);
        if (given != NULL && ext_number(given, keys[i], &n, err) != 0)
            return err->code;
        if (given != NULL)
            der_int(out, DER_CTX(i), n);
    }
    if (out->len == at)
        return fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "At least one of require_explicit_policy and inhibit_policy_mapping must not be None");
    der_end(out, at);
    return 0;
}

/* The number alone, a mapping with `value`, or OpenSSL's text. */
int
make_inhibit(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    json_auto_t *pairs = json_is_string(v) ? conf_pairs(json_string_value(v), critical) : NULL;
    json_t *given = pairs != NULL       ? json_array_get(json_array_get(pairs, 0), 0)
                    : json_is_object(v) ? value_get(v, "value")
                                        : (json_t *) v;
    json_int_t n;

    *critical = json_is_integer(v) ? false : conf_has(v, "critical");
    if (given == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "Undefined required key for inhibitAnyPolicy: 'value'");
    if (ext_number(given, "inhibitAnyPolicy", &n, err) != 0)
        return err->code;
    der_int(out, DER_INT, n);
    return 0;
}

/* The extension has no content but NULL; only whether it is critical can be said. */
int
make_no_check(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    AUTO_FREE char *text = value_pystr(v);

    *critical = strstr(text, "critical") != NULL;
    der_put(out, DER_NULL, "", 0);
    return 0;
}

/* TLS extension numbers (RFC 7633): 5 is status_request, "OCSP must staple". */
int
make_features(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    json_auto_t *pairs = json_is_string(v) ? conf_pairs(json_string_value(v), critical) : NULL;
    const json_t *list = pairs != NULL ? pairs : v;
    size_t i, at = der_begin(out, DER_SEQ);
    json_t *one;

    *critical = conf_has(v, "critical");
    json_array_foreach (list, i, one) {
        const char *name = json_string_value(pairs != NULL ? json_array_get(one, 0) : one);
        if (str_eq(name, "status_request") || str_eq(name, "status_request_v2"))
            der_int(out, DER_INT, str_ends(name, "v2") ? 17 : 5);
        else if (!str_eq(name, "critical"))
            return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                             "tlsfeature: %s is neither status_request nor status_request_v2",
                             name != NULL ? name : "?");
    }
    der_end(out, at);
    return 0;
}

/* The text may have commas, so only a "critical" at its begin is cut off. */
int
make_comment(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    AUTO_FREE char *text = value_pystr(v);
    const char *said = text;

    *critical = str_starts(said, "critical");
    if (*critical)
        said += strlen("critical") + strspn(said + strlen("critical"), ", ");
    der_text(out, DER_IA5, said);
    return 0;
}

/* Netscape's bits, which old software still looks at. */
int
make_cert_type(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    static const char *const types[] = { "client",   "server", "email",   "objsign",
                                         "reserved", "sslCA",  "emailCA", "objCA" };
    bool ignored;
    json_auto_t *pairs = json_is_string(v) ? conf_pairs(json_string_value(v), &ignored) : NULL;
    const json_t *list = pairs != NULL ? pairs : v;
    unsigned flags = 0;
    size_t i;
    json_t *one;

    *critical = conf_has(v, "critical");
    json_array_foreach (list, i, one) {
        const char *name = json_string_value(pairs != NULL ? json_array_get(one, 0) : one);
        size_t k = 0;
        while (k < NELEMS(types) && !str_eq(types[k], name))
            k++;
        if (k < NELEMS(types))
            flags |= 1u << k;
        else if (!str_eq(name, "critical"))
            return fail_kind(err, FAIL_INVOCATION, -EINVAL, "nsCertType: %s is none of its types",
                             name != NULL ? name : "?");
    }
    der_named_bits(out, DER_BITS, flags);
    return 0;
}

/* Salt has one text for all that can go wrong with it. */
int
make_number(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    json_int_t n;

    *critical = false;
    if (ext_number(v, "cRLNumber", &n, NULL) != 0)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "cRLNumber must be an integer and must be marked as non-critical");
    der_int(out, DER_INT, n);
    return 0;
}

/* The digits are taken out of the text wherever they stand; two numbers are an error. */
int
make_delta(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    AUTO_FREE char *text = value_pystr(v);
    const char *digits = text + strcspn(text, "0123456789");
    size_t n = strspn(digits, "0123456789");
    AUTO_FREE char *number = xstrndup(digits, n);
    long long value;

    *critical = strstr(text, "critical") != NULL;
    if (strpbrk(digits + n, "0123456789") != NULL || !str_to_int(number, 0, INT64_MAX, &value))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "deltaCRLIndicator must contain a single integer pointing to a cRLNumber");
    der_int(out, DER_INT, value);
    return 0;
}

/* A text, or a list of which the first word that is not "critical" counts. The empty name is CRLReason's gap,
 * 7. */
int
make_reason(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    json_auto_t *pairs = json_is_string(v) ? conf_pairs(json_string_value(v), critical) : NULL;
    const char *name = json_string_value(json_array_get(json_array_get(pairs, 0), 0));
    size_t i;
    json_t *one;

    if (!json_is_string(v))
        *critical = conf_has(v, "critical");
    json_array_foreach (v, i, one)
        if (name == NULL && !str_eq(json_string_value(one), "critical"))
            name = json_string_value(one);
    for (i = 0; name != NULL && reasons[i] != NULL; i++)
        if (*name != '\0' && str_eq(reasons[i], name)) {
            uint8_t code = (uint8_t) i;
            der_put(out, DER_ENUM, &code, 1);
            return 0;
        }
    return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' is not a valid ReasonFlags",
                     name != NULL ? name : "None");
}

/* GeneralizedTime, in UTC. */
int
make_date(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    const char *text = json_string_value(v);
    struct tm tm;
    char form[32];
    int64_t t;

    if (text == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "invalidityDate must be a string");
    *critical = str_starts(text, "critical");
    if (*critical)
        text += strlen("critical") + strspn(text + strlen("critical"), ", ");
    if (!der_time_parse(text, &t))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "time data '%s' does not match format '%%Y-%%m-%%d %%H:%%M:%%S'", text);
    (void) gmtime_r(&(time_t){ t }, &tm);
    (void) strftime(form, sizeof(form), "%Y%m%d%H%M%SZ", &tm);
    der_text(out, DER_GENERAL, form);
    return 0;
}
