/* ext_points.c - the extensions that name names: alternative names, places of information, lists and
 * policies. */
#include "common/base/str.h"
#include "plugins/lib/x509/dn.h"
#include "plugins/lib/x509/ext_make.h"

/* Names of the subject, of any kind that gn_write() knows. */
int
make_subject_names(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    json_auto_t *pairs = gn_pairs(v, critical);
    size_t at = der_begin(out, DER_SEQ);
    int rc = gn_write_all(pairs, out, err);

    if (rc == 0)
        der_end(out, at);
    return rc;
}

/* `issuer: copy` stands for the signing certificate's subjectAltName. */
int
make_issuer_names(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    json_auto_t *pairs = gn_pairs(v, critical);
    size_t i, n = 0, at = der_begin(out, DER_SEQ);
    buf_auto_t value = BUF_INIT;
    json_t *one;
    der_t names;

    json_array_foreach (pairs, i, one)
        n += str_eq(json_string_value(json_array_get(one, 0)), "issuer") &&
             str_eq(json_string_value(json_array_get(one, 1)), "copy");
    if (n > 0 && about->ca == NULL)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Need CA certificate to copy to issuerAltName");
    if (n > 0) {
        json_t *has = xdoc_extension(about->ca, "2.5.29.17");
        if (has == NULL)
            return fail_kind(err, FAIL_COMMAND, -EINVAL,
                             "No <ObjectIdentifier(oid=2.5.29.17, name=subjectAltName)> extension was found");
        (void) der_unhex(value_str(has, "value", ""), &value);
        der_t in = { (const uint8_t *) buf_str(&value), value.len };
        if (der_take(&in, DER_SEQ, &names))
            buf_add(out, names.p, names.len);
    }
    for (i = json_array_size(pairs); n > 0 && i > 0; i--)
        if (str_eq(json_string_value(json_array_get(json_array_get(pairs, i - 1), 0)), "issuer"))
            json_array_remove(pairs, i - 1);
    int rc = gn_write_all(pairs, out, err);
    if (rc == 0)
        der_end(out, at);
    return rc;
}

/* One place of authorityInfoAccess: how it is reached, and "URI:http://...". */
static int
put_access(const char *method, const json_t *place, buf_t *out, fail_t *err)
{
    const char *oid = oid_by_name(access_methods, method), *text = json_string_value(place);
    size_t at = der_begin(out, DER_SEQ);

    if (!der_oid(out, DER_OID, oid != NULL ? oid : method))
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Unknown access OID: %s", method);
    if (text == NULL || strchr(text, ':') == NULL)
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "authorityInfoAccess: %s wants a name such as URI:http://...", method);
    json_auto_t *pair = gn_pair(text);
    int rc = gn_write(json_string_value(json_array_get(pair, 0)), json_array_get(pair, 1), out, err);
    der_end(out, at);
    return rc;
}

/* Of a text the parts are "METHOD;KIND:PLACE", of a list mappings. It is never critical (RFC 5280,
 * 4.2.2.1). */
int
make_access(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    json_auto_t *all = json_is_object(v)  ? json_pack("[O]", v)
                       : json_is_array(v) ? json_incref((json_t *) v)
                                          : json_array();
    size_t i, at = der_begin(out, DER_SEQ);
    json_t *one, *place;
    const char *method;
    int rc = 0;

    *critical = false;
    char **parts = json_is_string(v) ? str_split(json_string_value(v), ",", true) : NULL;
    for (char **p = parts; p != NULL && *p != NULL; p++) {
        char *text = str_trim(*p), *semicolon = strchr(text, ';');
        if (semicolon != NULL)
            *semicolon = '\0';
        if (!str_eq(text, "critical"))
            json_array_append_new(all,
                                  json_pack("{s:s}", text, semicolon != NULL ? str_trim(semicolon + 1) : ""));
    }
    strv_free(parts);
    json_array_foreach (all, i, one)
        json_object_foreach (one, method, place)
            if (rc == 0 && !str_eq(method, "critical"))
                rc = put_access(method, place, out, err);
    der_end(out, at);
    return rc;
}

/* ReasonFlags: bits 1 to 6 as CRLReason, then privilegeWithdrawn and aACompromise. */
static int
put_reasons(const json_t *list, unsigned tag, buf_t *out, fail_t *err)
{
    unsigned flags = 0;
    size_t i;
    json_t *one;

    json_array_foreach (list, i, one) {
        const char *name = json_string_value(one);
        size_t k = 1;
        while (reasons[k] != NULL && !str_eq(reasons[k], name))
            k++;
        if (reasons[k] == NULL || k == 7 || k == 8)
            return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' is not a valid ReasonFlags",
                             name != NULL ? name : "None");
        flags |= 1u << (k < 7 ? k : k - 2);
    }
    der_named_bits(out, DER_CTX(tag), flags);
    return 0;
}

/* "URI:..." or a list of such: their pairs. NEW. */
static json_t *
texts_to_pairs(const json_t *v)
{
    json_auto_t *list = json_is_array(v) ? json_incref((json_t *) v) : json_pack("[O]", v);
    json_t *pairs = json_array(), *one;
    size_t i;

    json_array_foreach (list, i, one)
        json_array_append_new(pairs, gn_pair(json_is_string(one) ? json_string_value(one) : ""));
    return pairs;
}

/* distributionPoint: [0] of full names (pairs) or a relative one. */
static int
put_point_name(const json_t *full, const json_t *relative, buf_t *out, fail_t *err)
{
    size_t at = der_begin(out, DER_CTXC(0)), names;
    int rc = 0;

    if (value_truthy(full)) {
        names = der_begin(out, DER_CTXC(0));
        rc = gn_write_all(full, out, err);
        der_end(out, names);
    } else {
        AUTO_FREE char *text = value_pystr(relative);
        json_auto_t *name = dn_make_relative(text, err);
        rc = name == NULL ? err->code : 0;
        if (name != NULL)
            dn_write_relative(name, DER_CTXC(1), out);
    }
    der_end(out, at);
    return rc;
}

/* One point that is a mapping: fullname or relativename, crlissuer, reasons. RFC 5280 has both names as a
 * choice, and one of the three must be there. */
static int
put_point(const json_t *point, buf_t *out, fail_t *err)
{
    json_t *full = value_get(point, "fullname"), *relative = value_get(point, "relativename");
    json_t *issuer = value_get(point, "crlissuer"), *why = value_get(point, "reasons");
    json_auto_t *pairs = value_truthy(full) ? texts_to_pairs(full) : NULL;
    int rc = 0;

    if (value_truthy(full) && value_truthy(relative))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "You cannot provide both full_name and relative_name, at least one must be None.");
    if (!value_truthy(full) && !value_truthy(relative) && !value_truthy(issuer))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "Either full_name, relative_name or crl_issuer must be provided.");
    size_t at = der_begin(out, DER_SEQ);
    if (value_truthy(full) || value_truthy(relative))
        rc = put_point_name(pairs, relative, out, err);
    if (rc == 0 && value_truthy(why))
        rc = put_reasons(why, 1, out, err);
    if (rc == 0 && value_truthy(issuer)) {
        json_auto_t *names = texts_to_pairs(issuer);
        size_t part = der_begin(out, DER_CTXC(2));
        rc = gn_write_all(names, out, err);
        der_end(out, part);
    }
    der_end(out, at);
    return rc;
}

/* A text per point, or mappings. */
int
make_points(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    json_auto_t *points = json_array(), *pairs = NULL;
    json_t *one;
    size_t i, at = der_begin(out, DER_SEQ);
    int rc = 0;

    *critical = conf_has(v, "critical");
    if (json_is_string(v))
        pairs = conf_pairs(json_string_value(v), critical);
    json_array_foreach (v, i, one) {
        if (json_is_object(one))
            json_array_append(points, one);
        else if (!str_eq(json_string_value(one), "critical"))
            json_array_append_new(points, json_pack("{s:O}", "fullname", one));
    }
    json_array_foreach (pairs, i, one)
        json_array_append_new(points, json_pack("{s:o}", "fullname",
                                                value_fmt("%s:%s", json_string_value(json_array_get(one, 0)),
                                                          json_string_value(json_array_get(one, 1)))));
    if (json_is_object(v))
        json_array_append(points, (json_t *) v);
    json_array_foreach (points, i, one)
        if (rc == 0)
            rc = put_point(one, out, err);
    der_end(out, at);
    return rc;
}

/* The same shape as crlDistributionPoints, and never critical (RFC 5280, 4.2.1.15). */
int
make_freshest(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    int rc = make_points(v, about, critical, out, err);

    *critical = false;
    return rc;
}

/* The tag of a flag is its place in the list and one more. "onlysomereasons" is a list of reasons, the others
 * are truths. */
int
make_issuing_point(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    static const char *const flags[] = { "onlyuser", "onlyCA", "onlysomereasons", "indirectCRL", "onlyAA" };
    json_t *full = value_get(v, "fullname"), *relative = value_get(v, "relativename");
    json_auto_t *pairs = value_truthy(full) ? texts_to_pairs(full) : NULL;
    size_t at = der_begin(out, DER_SEQ);
    int rc = 0;

    if (!json_is_object(v))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "issuingDistributionPoint must be a dictionary");
    *critical = value_truthy(value_get(v, "critical"));
    if (pairs != NULL || value_truthy(relative))
        rc = put_point_name(pairs, relative, out, err);
    for (size_t i = 0; rc == 0 && i < NELEMS(flags); i++) {
        json_t *given = value_get(v, flags[i]);
        if (!value_truthy(given))
            continue;
        if (json_is_array(given))
            rc = put_reasons(given, (unsigned) i + 1, out, err);
        else
            der_true(out, DER_CTX(i + 1));
    }
    if (rc == 0 && out->len == at)
        return fail_kind(
            err, FAIL_INVOCATION, -EINVAL,
            "Cannot create empty extension: if only_contains_user_certs, only_contains_ca_certs, indirect_crl, "
            "and only_contains_attribute_certs are all False, then either full_name, relative_name, or "
            "only_some_reasons must have a value.");
    der_end(out, at);
    return rc;
}

/* A qualifier: the address of a statement, or a notice with numbers. */
static int
put_qualifier(const json_t *q, buf_t *out, fail_t *err)
{
    json_t *numbers = value_get(q, "noticeNumbers"), *one;
    const char *text = value_str(q, "text", NULL);
    size_t i, at = der_begin(out, DER_SEQ), notice, reference, list;
    json_int_t n;

    if (json_is_string(q)) {
        (void) der_oid(out, DER_OID, "1.3.6.1.5.5.7.2.1");
        der_text(out, DER_IA5, json_string_value(q));
        der_end(out, at);
        return 0;
    }
    (void) der_oid(out, DER_OID, "1.3.6.1.5.5.7.2.2");
    notice = der_begin(out, DER_SEQ);
    reference = der_begin(out, DER_SEQ);
    der_text(out, DER_UTF8, value_str(q, "organization", ""));
    list = der_begin(out, DER_SEQ);
    json_array_foreach (numbers, i, one) {
        if (ext_number(one, "noticeNumbers", &n, err) != 0)
            return err->code;
        der_int(out, DER_INT, n);
    }
    der_end(out, list);
    der_end(out, reference);
    if (text != NULL)
        der_text(out, DER_UTF8, text);
    der_end(out, notice);
    der_end(out, at);
    return 0;
}

/* A policy and its qualifiers, a list or NULL. A mapping without numbers says nothing, as in Salt. */
static int
put_policy(const char *oid, const json_t *qualifiers, buf_t *out, fail_t *err)
{
    size_t i, at = der_begin(out, DER_SEQ), list;
    json_t *one;
    int rc = 0;

    if (!der_oid(out, DER_OID, oid))
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Invalid oid: %s", oid);
    if (qualifiers != NULL) {
        list = der_begin(out, DER_SEQ);
        json_array_foreach (qualifiers, i, one)
            if (rc == 0 && (json_is_string(one) || value_truthy(value_get(one, "noticeNumbers"))))
                rc = put_qualifier(one, out, err);
        der_end(out, list);
    }
    der_end(out, at);
    return rc;
}

/* A text has OIDs alone; qualifiers need a mapping. */
int
make_policies(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    json_auto_t *pairs = json_is_string(v) ? conf_pairs(json_string_value(v), critical) : NULL;
    size_t i, at = der_begin(out, DER_SEQ);
    json_t *one;
    const char *oid;
    int rc = 0;

    json_array_foreach (pairs, i, one)
        if (rc == 0 && put_policy(json_string_value(json_array_get(one, 0)), NULL, out, err) != 0)
            rc = fail_kind(err, FAIL_INVOCATION, -EINVAL,
                           "certificatePolicies defined as string must be a comma-separated list of OID.");
    if (json_is_object(v))
        *critical = value_truthy(value_get(v, "critical"));
    if (json_is_object(v))
        json_object_foreach ((json_t *) v, oid, one)
            if (rc == 0 && !str_eq(oid, "critical"))
                rc = put_policy(oid, json_is_array(one) ? one : NULL, out, err);
    der_end(out, at);
    return rc;
}

/* {"permitted": [...], "excluded": [...]}, or "permitted;IP:10.0.0.0/8,excluded;email:.com". */
int
make_name_constraints(const json_t *v, const ext_about_t *about, bool *critical, buf_t *out, fail_t *err)
{
    static const char *const keys[] = { "permitted", "excluded" };
    json_auto_t *read = json_is_object(v) ? json_incref((json_t *) v) : json_object();
    size_t i, at = der_begin(out, DER_SEQ);
    json_t *one;
    int rc = 0;

    *critical = conf_has(v, "critical");
    char **parts = json_is_string(v) ? str_split(json_string_value(v), ",", true) : NULL;
    for (char **p = parts; p != NULL && *p != NULL; p++) {
        char *scope = str_trim(*p), *semicolon = strchr(scope, ';');
        if (semicolon == NULL)
            continue;
        *semicolon = '\0';
        if (value_get(read, scope) == NULL)
            json_object_set_new(read, scope, json_array());
        json_array_append_new(value_get(read, scope), json_string(str_trim(semicolon + 1)));
    }
    strv_free(parts);
    for (size_t k = 0; k < NELEMS(keys); k++) {
        json_t *list = value_get(read, keys[k]);
        size_t trees = value_truthy(list) ? der_begin(out, DER_CTXC(k)) : 0;
        json_array_foreach (list, i, one) {
            if (rc != 0 || str_eq(json_string_value(one), "critical"))
                continue;
            bool ignored;
            json_auto_t *as_list = json_pack("[O]", one), *pairs = gn_pairs(as_list, &ignored);
            size_t tree = der_begin(out, DER_SEQ);
            rc = gn_write_all(pairs, out, err);
            der_end(out, tree);
        }
        if (trees > 0)
            der_end(out, trees);
    }
    if (rc == 0 && out->len == at)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "nameConstraints needs at least one definition");
    der_end(out, at);
    return rc;
}
