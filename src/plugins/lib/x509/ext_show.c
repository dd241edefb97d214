/* ext_show.c - extensions as Salt shows them. The shapes are those of the newer x509 module, as
 * read_certificate returns them; its misspelled keys ("onysomereasons", "organizataion") are kept, as states
 * and templates of users have them. */
#include "common/base/str.h"
#include "plugins/lib/x509/dn.h"
#include "plugins/lib/x509/ext.h"

const char *const key_usages[] = {
    "digitalSignature", "nonRepudiation", "keyEncipherment", "dataEncipherment", "keyAgreement",
    "keyCertSign",      "cRLSign",        "encipherOnly",    "decipherOnly",     NULL
};

/* In the order of CRLReason; 7 is unused there. */
const char *const reasons[] = {
    "unspecified",   "keyCompromise",        "cACompromise",    "affiliationChanged",
    "superseded",    "cessationOfOperation", "certificateHold", "",
    "removeFromCRL", "privilegeWithdrawn",   "aACompromise",    NULL
};

const oid_name_t extended_usages[] = { { "serverAuth", "1.3.6.1.5.5.7.3.1" },
                                       { "clientAuth", "1.3.6.1.5.5.7.3.2" },
                                       { "codeSigning", "1.3.6.1.5.5.7.3.3" },
                                       { "emailProtection", "1.3.6.1.5.5.7.3.4" },
                                       { "timeStamping", "1.3.6.1.5.5.7.3.8" },
                                       { "OCSPSigning", "1.3.6.1.5.5.7.3.9" },
                                       { "msSmartcardLogin", "1.3.6.1.4.1.311.20.2.2" },
                                       { "pkInitKDC", "1.3.6.1.5.2.3.5" },
                                       { "ipsecIKE", "1.3.6.1.5.5.7.3.17" },
                                       { "msCodeInd", "1.3.6.1.4.1.311.2.1.21" },
                                       { "msCodeCom", "1.3.6.1.4.1.311.2.1.22" },
                                       { "msCTLSign", "1.3.6.1.4.1.311.10.3.1" },
                                       { "msEFS", "1.3.6.1.4.1.311.10.3.4" },
                                       { NULL, NULL } };

const oid_name_t access_methods[] = { { "OCSP", "1.3.6.1.5.5.7.48.1" },
                                      { "caIssuers", "1.3.6.1.5.5.7.48.2" },
                                      { "caRepository", "1.3.6.1.5.5.7.48.5" },
                                      { NULL, NULL } };

/* NULL: no such name. */
const char *
oid_by_name(const oid_name_t *table, const char *name)
{
    for (; table->name != NULL; table++)
        if (str_eq(table->name, name))
            return table->oid;
    return NULL;
}

/* An OID without a name is its own. BORROWED. */
const char *
oid_name_of(const oid_name_t *table, const char *oid)
{
    for (; table->name != NULL; table++)
        if (str_eq(table->oid, oid))
            return table->name;
    return oid;
}

/* Both members are optional in DER: not there means false, and no limit. */
bool
show_basic(der_t der, json_t *into)
{
    der_t in, flag, path;
    json_int_t n = 0;

    if (!der_take(&der, DER_SEQ, &in))
        return false;
    bool ca = der_take(&in, DER_BOOL, &flag) && flag.len == 1 && *flag.p != 0;
    bool limited = der_take(&in, DER_INT, &path) && der_to_int(path, &n);
    json_object_set_new(into, "ca", json_boolean(ca));
    json_object_set_new(into, "pathlen", limited ? json_integer(n) : json_null());
    return true;
}

/* encipherOnly and decipherOnly say nothing without keyAgreement and are then false, as cryptography has
 * them. */
bool
show_key_usage(der_t der, json_t *into)
{
    enum { AGREEMENT = 1 << 4, ENCIPHER = 7 };
    unsigned flags;
    der_t bits;

    if (!der_take(&der, DER_BITS, &bits) || !der_to_bits(bits, &flags))
        return false;
    for (size_t i = 0; key_usages[i] != NULL; i++)
        json_object_set_new(
            into, key_usages[i],
            json_boolean((flags >> i & 1) != 0 && (i < ENCIPHER || (flags & AGREEMENT) != 0)));
    return true;
}

/* An OID without a name is shown itself. */
bool
show_extended(der_t der, json_t *into)
{
    json_auto_t *list = json_array();
    der_t in, oid;

    if (!der_take(&der, DER_SEQ, &in))
        return false;
    while (der_take(&in, DER_OID, &oid)) {
        AUTO_FREE char *dotted = der_oid_text(oid);
        json_array_append_new(list, json_string(dotted != NULL ? oid_name_of(extended_usages, dotted) : ""));
    }
    json_object_set(into, "value", list);
    return true;
}

/* Pairs of digits with colons. */
bool
show_skid(der_t der, json_t *into)
{
    der_t id;

    if (!der_take(&der, DER_OCTETS, &id))
        return false;
    AUTO_FREE char *text = der_pretty(id.p, id.len);
    json_object_set_new(into, "value", json_string(text));
    return true;
}

/* A serial number's leading zero is DER's, not the number's. */
bool
show_akid(der_t der, json_t *into)
{
    der_t in, id, names, serial;

    if (!der_take(&der, DER_SEQ, &in))
        return false;
    AUTO_FREE char *key = der_take(&in, DER_CTX(0), &id) ? der_pretty(id.p, id.len) : NULL;
    json_t *issuer = der_take(&in, DER_CTXC(1), &names) ? gn_show(names) : NULL;
    AUTO_FREE char *number = NULL;
    if (der_take(&in, DER_CTX(2), &serial)) {
        size_t zeros = serial.len > 1 && *serial.p == 0;
        number = der_pretty(serial.p + zeros, serial.len - zeros);
    }
    json_object_set_new(into, "keyid", key != NULL ? json_string(key) : json_null());
    json_object_set_new(into, "issuer", issuer != NULL ? issuer : json_null());
    json_object_set_new(into, "issuer_sn", number != NULL ? json_string(number) : json_null());
    return true;
}

/* subjectAltName and others of that kind. */
bool
show_names(der_t der, json_t *into)
{
    der_t in;
    json_t *list = der_take(&der, DER_SEQ, &in) ? gn_show(in) : NULL;

    if (list != NULL)
        json_object_set_new(into, "value", list);
    return list != NULL;
}

/* The kind of the name goes: a place is an address whatever it is. */
bool
show_access(der_t der, json_t *into)
{
    json_auto_t *list = json_array();
    der_t in, one, oid;

    if (!der_take(&der, DER_SEQ, &in))
        return false;
    while (der_take(&in, DER_SEQ, &one)) {
        AUTO_FREE char *dotted = der_take(&one, DER_OID, &oid) ? der_oid_text(oid) : NULL;
        json_auto_t *name = gn_show(one);
        if (dotted == NULL || json_array_size(name) != 1)
            return false;
        const char *place = json_string_value(json_array_get(name, 0)), *bare = strchr(place, ':');
        json_array_append_new(
            list, json_pack("{s:s}", oid_name_of(access_methods, dotted), bare != NULL ? bare + 1 : place));
    }
    json_object_set(into, "value", list);
    return true;
}

/* The names of ReasonFlags, sorted. Its bits are those of CRLReason up to 6, then privilegeWithdrawn and
 * aACompromise. */
static json_t *
show_flags(der_t bits)
{
    json_auto_t *list = json_array();
    unsigned flags = 0;

    (void) der_to_bits(bits, &flags);
    for (size_t i = 0; i <= 8; i++)
        if ((flags >> i & 1) != 0)
            json_array_append_new(list, json_string(reasons[i < 7 ? i : i + 2]));
    return value_sorted_texts(list);
}

/* DistributionPointName: full names or a relative one. */
static bool
show_point_name(der_t in, json_t *into)
{
    der_t names;
    json_t *full = NULL;

    if (der_take(&in, DER_CTXC(1), &names)) {
        json_auto_t *relative = dn_read_relative(names), *name = json_pack("[O]", relative);
        AUTO_FREE char *text = relative != NULL ? dn_text(name) : NULL;
        json_object_set_new(into, "relativename", text != NULL ? json_string(text) : json_null());
    } else if (der_take(&in, DER_CTXC(0), &names)) {
        full = gn_show(names);
        json_object_set_new(into, "fullname", full);
    }
    return true;
}

/* All four members are there, empty where the point has none. */
bool
show_points(der_t der, json_t *into)
{
    json_auto_t *list = json_array();
    der_t in, one, part;

    if (!der_take(&der, DER_SEQ, &in))
        return false;
    while (der_take(&in, DER_SEQ, &one)) {
        json_t *point = json_pack("{s:[], s:[], s:[], s:n}", "crlissuer", "fullname", "reasons",
                                  "relativename");
        json_array_append_new(list, point);
        if (der_take(&one, DER_CTXC(0), &part))
            (void) show_point_name(part, point);
        if (der_take(&one, DER_CTX(1), &part))
            json_object_set_new(point, "reasons", show_flags(part));
        if (der_take(&one, DER_CTXC(2), &part))
            json_object_set_new(point, "crlissuer", gn_show(part));
    }
    json_object_set(into, "value", list);
    return true;
}

/* Member 3 is the reasons, the others are flags. */
bool
show_issuing_point(der_t der, json_t *into)
{
    static const char *const flags[] = { "onlyuser", "onlyCA", NULL, "indirectCRL", "onlyAA" };
    der_t in, part;

    if (!der_take(&der, DER_SEQ, &in))
        return false;
    json_object_set_new(into, "fullname", json_array());
    json_object_set_new(into, "onysomereasons", json_array());
    json_object_set_new(into, "relativename", json_null());
    if (der_take(&in, DER_CTXC(0), &part))
        (void) show_point_name(part, into);
    for (size_t i = 0; i < NELEMS(flags); i++) {
        bool given = der_take(&in, DER_CTX(i + 1), &part);
        if (flags[i] != NULL)
            json_object_set_new(into, flags[i], json_boolean(given && part.len == 1 && *part.p != 0));
        else if (given)
            json_object_set_new(into, "onysomereasons", show_flags(part));
    }
    return true;
}

/* A text of any kind, or None. */
static json_t *
take_text(der_t *in)
{
    uint8_t tag;
    der_t body;

    return der_next(in, &tag, &body, NULL) ? der_to_text(tag, body) : json_null();
}

/* UserNotice: organization and numbers, and a text. */
static json_t *
show_notice(der_t in)
{
    json_t *organization = json_null(), *numbers = json_null();
    der_t reference, list, number;
    json_int_t n;

    if (der_take(&in, DER_SEQ, &reference)) {
        organization = take_text(&reference);
        numbers = json_array();
        if (der_take(&reference, DER_SEQ, &list))
            while (der_take(&list, DER_INT, &number) && der_to_int(number, &n))
                json_array_append_new(numbers, json_integer(n));
    }
    return json_pack("{s:o, s:o, s:o}", "organizataion", organization, "notice_numbers", numbers,
                     "explicit_text", take_text(&in));
}

/* A qualifier is a notice or the address of a statement, by its OID (id-qt-unotice, id-qt-cps). */
bool
show_policies(der_t der, json_t *into)
{
    json_auto_t *list = json_array();
    der_t in, one, oid, qualifiers, qualifier, notice;

    if (!der_take(&der, DER_SEQ, &in))
        return false;
    while (der_take(&in, DER_SEQ, &one)) {
        json_auto_t *shown = json_array();
        AUTO_FREE char *policy = der_take(&one, DER_OID, &oid) ? der_oid_text(oid) : NULL;
        if (policy == NULL)
            return false;
        while (der_take(&one, DER_SEQ, &qualifiers))
            while (der_take(&qualifiers, DER_SEQ, &qualifier)) {
                AUTO_FREE char *kind = der_take(&qualifier, DER_OID, &oid) ? der_oid_text(oid) : NULL;
                if (str_eq(kind, "1.3.6.1.5.5.7.2.2") && der_take(&qualifier, DER_SEQ, &notice))
                    json_array_append_new(shown, show_notice(notice));
                else
                    json_array_append_new(shown,
                                          json_pack("{s:o}", "practice_statement", take_text(&qualifier)));
            }
        json_array_append_new(
            list, json_pack("{s:O}", str_eq(policy, "2.5.29.32.0") ? "anyPolicy" : policy, shown));
    }
    json_object_set(into, "value", list);
    return true;
}

/* Members [0] and [1], each a number or None. */
bool
show_policy_constraints(der_t der, json_t *into)
{
    der_t in, part;
    json_int_t n = 0;

    if (!der_take(&der, DER_SEQ, &in))
        return false;
    bool explicit = der_take(&in, DER_CTX(0), &part) && der_to_int(part, &n);
    json_object_set_new(into, "requireExplicitPolicy", explicit ? json_integer(n) : json_null());
    bool inhibit = der_take(&in, DER_CTX(1), &part) && der_to_int(part, &n);
    json_object_set_new(into, "inhibitPolicyMapping", inhibit ? json_integer(n) : json_null());
    return true;
}

/* A number that has more than 64 bits is shown in hexadecimal. */
bool
show_number(der_t der, json_t *into)
{
    der_t number;
    json_int_t n = 0;

    if (!der_take(&der, DER_INT, &number))
        return false;
    AUTO_FREE char *hex = der_hex(number.p, number.len);
    bool small = der_to_int(number, &n);
    json_object_set_new(into, "value", small ? json_integer(n) : json_string(hex));
    return true;
}

/* Lists of names; minimum and maximum, which RFC 5280 forbids, are not looked at. */
bool
show_name_constraints(der_t der, json_t *into)
{
    static const char *const keys[] = { "permitted", "excluded" };
    der_t in, trees, one;

    if (!der_take(&der, DER_SEQ, &in))
        return false;
    for (size_t i = 0; i < NELEMS(keys); i++) {
        json_t *list = json_array();
        json_object_set_new(into, keys[i], list);
        if (!der_take(&in, DER_CTXC(i), &trees))
            continue;
        while (der_take(&trees, DER_SEQ, &one)) {
            json_auto_t *names = gn_show(one);
            json_array_extend(list, names);
        }
    }
    return true;
}

/* Its presence says all. */
bool
show_no_check(der_t der, json_t *into)
{
    json_object_set_new(into, "value", json_true());
    return true;
}

/* Numbers that have no name are shown themselves. */
bool
show_features(der_t der, json_t *into)
{
    json_auto_t *list = json_array();
    der_t in, number;
    json_int_t n;

    if (!der_take(&der, DER_SEQ, &in))
        return false;
    while (der_take(&in, DER_INT, &number) && der_to_int(number, &n))
        json_array_append_new(list, n == 5    ? json_string("status_request")
                                    : n == 17 ? json_string("status_request_v2")
                                              : json_integer(n));
    json_object_set(into, "value", list);
    return true;
}

/* The number is CRLReason's; 7 is unused and out of range are errors. */
bool
show_reason(der_t der, json_t *into)
{
    der_t number;
    json_int_t n;

    if (!der_take(&der, DER_ENUM, &number) || !der_to_int(number, &n) || n < 0 || n > 10)
        return false;
    json_object_set_new(into, "value", json_string(reasons[n]));
    return true;
}

/* Shown as all dates of the module. */
bool
show_date(der_t der, json_t *into)
{
    der_t body;
    uint8_t tag;
    int64_t t;

    if (!der_next(&der, &tag, &body, NULL) || !der_to_time(tag, body, &t))
        return false;
    AUTO_FREE char *text = der_time_text(t);
    json_object_set_new(into, "value", json_string(text));
    return true;
}
