/* ext.c - the table of extensions, and the lists of them that documents have. A row has both directions; the
 * name that users write comes first, with the names that the older module took last. */
#include "common/base/str.h"
#include "plugins/lib/x509/ext.h"
#include "plugins/lib/x509/ext_make.h"

#define IN_CERT EXT_CERT
#define IN_BOTH (EXT_CERT | EXT_CRL)

/* In the order in which documents get them. */
const ext_row_t ext_rows[] = {
    { "basicConstraints",
      "2.5.29.19",
      NULL,
      IN_CERT,
      make_basic,
      show_basic,
      { "X509v3 Basic Constraints" } },
    { "keyUsage", "2.5.29.15", NULL, IN_CERT, make_key_usage, show_key_usage, { "X509v3 Key Usage" } },
    { "extendedKeyUsage",
      "2.5.29.37",
      NULL,
      IN_CERT,
      make_extended,
      show_extended,
      { "X509v3 Extended Key Usage" } },
    { "subjectKeyIdentifier",
      "2.5.29.14",
      NULL,
      IN_CERT,
      make_skid,
      show_skid,
      { "X509v3 Subject Key Identifier" } },
    { "authorityKeyIdentifier",
      "2.5.29.35",
      NULL,
      IN_BOTH | EXT_NO_CSR,
      make_akid,
      show_akid,
      { "X509v3 Authority Key Identifier" } },
    { "issuerAltName",
      "2.5.29.18",
      NULL,
      IN_BOTH | EXT_NO_CSR,
      make_issuer_names,
      show_names,
      { "X509v3 Issuer Alternative Name", "issuserAltName" } },
    { "authorityInfoAccess",
      "1.3.6.1.5.5.7.1.1",
      NULL,
      IN_BOTH | EXT_NO_CSR,
      make_access,
      show_access,
      { "Authority Information Access" } },
    { "subjectAltName",
      "2.5.29.17",
      NULL,
      IN_CERT,
      make_subject_names,
      show_names,
      { "X509v3 Subject Alternative Name" } },
    { "crlDistributionPoints",
      "2.5.29.31",
      "cRLDistributionPoints",
      IN_CERT | EXT_NO_CSR,
      make_points,
      show_points,
      { "X509v3 CRL Distribution Points" } },
    { "issuingDistributionPoint",
      "2.5.29.28",
      NULL,
      EXT_CRL,
      make_issuing_point,
      show_issuing_point,
      { "X509v3 Issuing Distribution Point" } },
    { "certificatePolicies",
      "2.5.29.32",
      NULL,
      IN_CERT,
      make_policies,
      show_policies,
      { "X509v3 Certificate Policies" } },
    { "policyConstraints",
      "2.5.29.36",
      NULL,
      IN_CERT,
      make_policy_constraints,
      show_policy_constraints,
      { "X509v3 Policy Constraints" } },
    { "inhibitAnyPolicy",
      "2.5.29.54",
      NULL,
      IN_CERT,
      make_inhibit,
      show_number,
      { "X509v3 Inhibit Any Policy" } },
    { "nameConstraints",
      "2.5.29.30",
      NULL,
      IN_CERT,
      make_name_constraints,
      show_name_constraints,
      { "X509v3 Name Constraints" } },
    { "noCheck",
      "1.3.6.1.5.5.7.48.1.5",
      "OCSPNoCheck",
      IN_CERT,
      make_no_check,
      show_no_check,
      { "OCSP No Check" } },
    { "tlsfeature",
      "1.3.6.1.5.5.7.1.24",
      "TLSFeature",
      IN_CERT,
      make_features,
      show_features,
      { "TLS Feature" } },
    { "nsComment", "2.16.840.1.113730.1.13", NULL, IN_CERT, make_comment, NULL, { "Netscape Comment" } },
    { "nsCertType",
      "2.16.840.1.113730.1.1",
      NULL,
      IN_CERT,
      make_cert_type,
      NULL,
      { "Netscape Certificate Type" } },
    { "cRLNumber", "2.5.29.20", NULL, EXT_CRL, make_number, show_number, { "X509v3 CRLNumber" } },
    { "deltaCRLIndicator",
      "2.5.29.27",
      NULL,
      EXT_CRL,
      make_delta,
      show_number,
      { "X509v3 Delta CRL Indicator" } },
    { "freshestCRL", "2.5.29.46", NULL, EXT_CRL, make_freshest, show_points, { "x509v3 Freshest CRL" } },
    { "certificateIssuer", "2.5.29.29", NULL, EXT_ENTRY, make_issuer_names, show_names, { NULL } },
    { "CRLReason", "2.5.29.21", "cRLReason", EXT_ENTRY, make_reason, show_reason, { NULL } },
    { "invalidityDate", "2.5.29.24", NULL, EXT_ENTRY, make_date, show_date, { NULL } },
};
const size_t ext_rows_n = NELEMS(ext_rows);

/* The row's function writes the value; the extension has it in hexadecimal. */
json_t *
ext_make(const ext_row_t *row, const json_t *v, const ext_about_t *about, fail_t *err)
{
    buf_auto_t der = BUF_INIT;
    bool critical = false;

    if (row->make(v, about, &critical, &der, err) != 0)
        return NULL;
    AUTO_FREE char *hex = der_hex(buf_str(&der), der.len);
    return json_pack("{s:s, s:b, s:s}", "oid", row->oid, "critical", critical, "value", hex);
}

/* The order is the table's and not that of the arguments: two runs make the same bytes. */
json_t *
ext_make_all(const json_t *kwargs, unsigned kind, unsigned unless, const ext_about_t *about, fail_t *err)
{
    json_auto_t *list = json_array();

    for (size_t i = 0; i < ext_rows_n; i++) {
        const ext_row_t *row = &ext_rows[i];
        json_t *v = value_get(kwargs, row->name), *one;
        if ((row->flags & kind) == 0 || (row->flags & unless) != 0 || v == NULL || json_is_null(v))
            continue;
        one = ext_make(row, v, about, err);
        if (one == NULL)
            return NULL;
        json_array_append_new(list, one);
    }
    return json_incref(list);
}

/* A flag that is false is DER's default and left out. */
void
ext_write(const json_t *list, buf_t *out)
{
    size_t i, at = der_begin(out, DER_SEQ);
    json_t *one;

    json_array_foreach (list, i, one) {
        buf_auto_t value = BUF_INIT;
        size_t each = der_begin(out, DER_SEQ);
        (void) der_oid(out, DER_OID, value_str(one, "oid", ""));
        if (value_bool(one, "critical", false))
            der_true(out, DER_BOOL);
        (void) der_unhex(value_str(one, "value", ""), &value);
        der_put(out, DER_OCTETS, buf_str(&value), value.len);
        der_end(out, each);
    }
    der_end(out, at);
}

static const ext_row_t *
row_of(const json_t *extension)
{
    for (size_t i = 0; i < ext_rows_n; i++)
        if (str_eq(ext_rows[i].oid, value_str(extension, "oid", "")))
            return &ext_rows[i];
    return NULL;
}

/* {"critical": ..., ...}; a value that can't be shown is its bytes. NEW. */
static json_t *
ext_show(const json_t *extension)
{
    const ext_row_t *row = row_of(extension);
    json_t *shown = json_pack("{s:O}", "critical", value_get(extension, "critical"));
    buf_auto_t value = BUF_INIT;

    (void) der_unhex(value_str(extension, "value", ""), &value);
    der_t der = { (const uint8_t *) buf_str(&value), value.len };
    if (row == NULL || row->show == NULL || !row->show(der, shown))
        json_object_set(shown, "value", value_get(extension, "value"));
    return shown;
}

/* In the order of the table; extensions that it has not are left out. */
json_t *
ext_show_all(const json_t *list, unsigned entry)
{
    json_t *shown = json_object(), *one;
    size_t i;

    for (size_t k = 0; k < ext_rows_n; k++) {
        const ext_row_t *row = &ext_rows[k];
        json_array_foreach (list, i, one)
            if (str_eq(value_str(one, "oid", ""), row->oid) && (row->flags & EXT_ENTRY) == entry)
                json_object_set_new(shown, row->name, ext_show(one));
    }
    return shown;
}

/* Other bytes may mean the same: a default that is spelled out, another kind of text in a name. So they are
 * compared as they are shown. */
bool
ext_same(const json_t *a, const json_t *b)
{
    if (!json_equal(value_get(a, "critical"), value_get(b, "critical")))
        return false;
    if (json_equal(value_get(a, "value"), value_get(b, "value")))
        return true;
    json_auto_t *left = ext_show(a), *right = ext_show(b);
    return json_equal(left, right);
}

/* An extension with the same OID, or NULL. BORROWED. */
static json_t *
find(const json_t *list, const json_t *extension)
{
    size_t i;
    json_t *one;

    json_array_foreach (list, i, one)
        if (json_equal(value_get(one, "oid"), value_get(extension, "oid")))
            return one;
    return NULL;
}

/* Changes are told by cryptography's names of extensions. */
static void
note(json_t *list, const json_t *extension)
{
    const ext_row_t *row = row_of(extension);

    json_array_append_new(list, json_string(row == NULL          ? "Unknown OID"
                                            : row->shown != NULL ? row->shown
                                                                 : row->name));
}

/* Which extensions are new, differ or have gone, by cryptography's names. */
json_t *
ext_compare(const json_t *now, const json_t *wanted)
{
    json_t *added = json_array(), *changed = json_array(), *removed = json_array(), *one;
    json_auto_t *all = json_pack("{s:o, s:o, s:o}", "added", added, "changed", changed, "removed", removed);
    size_t i;

    json_array_foreach (wanted, i, one) {
        json_t *had = find(now, one);
        if (had == NULL || !ext_same(had, one))
            note(had == NULL ? added : changed, one);
    }
    json_array_foreach (now, i, one)
        if (find(wanted, one) == NULL)
            note(removed, one);
    return json_array_size(added) + json_array_size(changed) + json_array_size(removed) > 0 ? json_incref(all)
                                                                                            : NULL;
}

/* A long name replaces the short one. */
void
ext_short_names(json_t *kwargs)
{
    for (size_t i = 0; i < ext_rows_n; i++) {
        for (size_t k = 0; k < NELEMS(ext_rows[i].longer); k++) {
            const char *longer = ext_rows[i].longer[k];
            json_t *v = longer != NULL ? value_get(kwargs, longer) : NULL;
            if (v == NULL)
                continue;
            json_object_set(kwargs, ext_rows[i].name, v);
            json_object_del(kwargs, longer);
        }
    }
}
