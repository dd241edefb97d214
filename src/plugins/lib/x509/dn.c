/* dn.c - distinguished names. Attributes are written in the kinds of text that the Python library
 * cryptography takes, so that a name that it wrote and one from here are the same bytes. */
#include <ctype.h>

#include "common/base/str.h"
#include "plugins/lib/x509/dn.h"

/* In the order of a name that is made of arguments. `rfc`: its name by RFC 4514, NULL for its OID. */
static const struct attribute {
    const char *name, *oid, *rfc;
    uint8_t tag;
    const char *longer[2];
} attributes[] = {
    { "C", "2.5.4.6", "C", DER_PRINTABLE, { NULL } },
    { "ST", "2.5.4.8", "ST", DER_UTF8, { "stateOrProvinceName" } },
    { "L", "2.5.4.7", "L", DER_UTF8, { "localityName" } },
    { "STREET", "2.5.4.9", "STREET", DER_UTF8, { NULL } },
    { "O", "2.5.4.10", "O", DER_UTF8, { "organizationName" } },
    { "OU", "2.5.4.11", "OU", DER_UTF8, { "organizationUnitName" } },
    { "CN", "2.5.4.3", "CN", DER_UTF8, { "commonName" } },
    { "MAIL", "1.2.840.113549.1.9.1", NULL, DER_IA5, { "Email", "emailAddress" } },
    { "SN", "2.5.4.4", NULL, DER_UTF8, { "surname" } },
    { "GN", "2.5.4.42", NULL, DER_UTF8, { "givenName" } },
    { "UID", "0.9.2342.19200300.100.1.1", "UID", DER_UTF8, { NULL } },
    { "SERIALNUMBER", "2.5.4.5", NULL, DER_PRINTABLE, { "serialNumber" } },
    { NULL, "0.9.2342.19200300.100.1.25", "DC", DER_IA5, { NULL } },
};

/* ---- from what users write --------------------------------------------------------------------- */

/* Reads a value of RFC 4514 up to an unescaped `,` or `+`. A value that begins with # is DER in hexadecimal,
 * which nothing here needs; an empty one is an error. */
static const char *
dn_read_value(const char *p, buf_t *out)
{
    if (*p == '#')
        return NULL;
    for (; *p != '\0' && *p != ',' && *p != '+'; p++) {
        if (*p != '\\') {
            buf_putc(out, *p);
        } else if (isxdigit((unsigned char) p[1]) && isxdigit((unsigned char) p[2])) {
            char hex[3] = { p[1], p[2], '\0' };
            (void) der_unhex(hex, out);
            p += 2;
        } else if (p[1] != '\0') {
            buf_putc(out, *++p);
        } else {
            return NULL;
        }
    }
    return out->len > 0 ? p : NULL;
}

/* Reads one attribute; NULL: it is none. Its name is one of RFC 4514's in any case, or an OID. */
static const char *
read_attribute(const char *p, json_t *into)
{
    size_t n = strcspn(p, "=,+");
    buf_auto_t value = BUF_INIT, probe = BUF_INIT;
    const char *oid = NULL;

    if (n == 0 || p[n] != '=')
        return NULL;
    AUTO_FREE char *copy = xstrndup(p, n);
    char *name = str_trim(copy);
    for (size_t i = 0; oid == NULL && i < NELEMS(attributes); i++)
        if (attributes[i].rfc != NULL && strcasecmp(attributes[i].rfc, name) == 0)
            oid = attributes[i].oid;
    oid = oid != NULL ? oid : der_oid(&probe, DER_OID, name) ? name : NULL;
    p = dn_read_value(p + n + 1, &value);
    if (oid != NULL && p != NULL)
        json_array_append_new(into, json_pack("[s, o]", oid, value_utf8(buf_str(&value), value.len)));
    return oid != NULL ? p : NULL;
}

/* All relative names in the order of the text; NULL: it is no such text. */
static json_t *
dn_read_text(const char *p)
{
    json_auto_t *name = json_array();
    bool more = *p != '\0';

    while (more) {
        json_t *relative = json_array();
        json_array_append_new(name, relative);
        do {
            p = read_attribute(p, relative);
            if (p == NULL)
                return NULL;
        } while (*p++ == '+');
        more = p[-1] != '\0';
    }
    return json_incref(name);
}

json_t *
dn_make_relative(const char *text, fail_t *err)
{
    json_auto_t *name = dn_read_text(text);

    if (json_array_size(name) == 1)
        return json_incref(json_array_get(name, 0));
    if (name == NULL || json_array_size(name) == 0)
        fail_kind(err, FAIL_COMMAND, -EINVAL, "Failed parsing rdn string: %s", text);
    else
        fail_kind(err, FAIL_INVOCATION, -EINVAL,
                  "Specified string is not a Relative Distinguished Name, but a Distinguished Name.");
    return NULL;
}

/* Of arguments, in the order of the table. */
static json_t *
of_members(const json_t *spec, fail_t *err)
{
    json_auto_t *name = json_array();

    for (size_t i = 0; i < NELEMS(attributes); i++) {
        json_t *given = attributes[i].name != NULL ? value_get(spec, attributes[i].name) : NULL;
        if (given == NULL)
            continue;
        AUTO_FREE char *text = value_pystr(given);
        if (json_is_null(given) || *text == '\0') {
            fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s: a part of a name must not be empty",
                      attributes[i].name);
            return NULL;
        }
        if (str_eq(attributes[i].name, "C") && strlen(text) != 2) {
            fail_kind(err, FAIL_INVOCATION, -EINVAL, "Country name must be a 2 character country code");
            return NULL;
        }
        json_array_append_new(name, json_pack("[[s, o]]", attributes[i].oid, value_utf8(text, strlen(text))));
    }
    return json_incref(name);
}

/* A text is turned about, as RFC 4514 writes the last part of a name first; a list is in the order of the
 * name. */
json_t *
dn_make(const json_t *spec, fail_t *err)
{
    json_auto_t *name = json_array();
    size_t i;
    json_t *one;

    if (json_is_object(spec))
        return of_members(spec, err);
    if (json_is_string(spec)) {
        json_auto_t *read = dn_read_text(json_string_value(spec));
        if (read == NULL) {
            fail_kind(err, FAIL_COMMAND, -EINVAL, "Failed parsing rfc4514 dirName string");
            return NULL;
        }
        for (i = json_array_size(read); i > 0; i--)
            json_array_append(name, json_array_get(read, i - 1));
        return json_incref(name);
    }
    if (!json_is_array(spec)) {
        fail_kind(err, FAIL_INVOCATION, -EINVAL, "Need string, list or dict to parse distinguished names");
        return NULL;
    }
    json_array_foreach (spec, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_t *relative = dn_make_relative(text, err);
        if (relative == NULL)
            return NULL;
        json_array_append_new(name, relative);
    }
    return json_incref(name);
}

/* A long name goes before the short one when both are given. */
void
dn_short_names(json_t *kwargs)
{
    for (size_t i = 0; i < NELEMS(attributes); i++) {
        for (size_t k = 0; k < NELEMS(attributes[i].longer); k++) {
            const char *longer = attributes[i].longer[k];
            json_t *v = longer != NULL ? value_get(kwargs, longer) : NULL;
            if (v == NULL)
                continue;
            json_object_set(kwargs, attributes[i].name, v);
            json_object_del(kwargs, longer);
        }
    }
}

/* An object of arguments has a name in it: `subject` is then not needed. */
bool
dn_given(const json_t *kwargs)
{
    for (size_t i = 0; i < NELEMS(attributes); i++)
        if (attributes[i].name != NULL && value_get(kwargs, attributes[i].name) != NULL)
            return true;
    return false;
}

/* ---- DER ---------------------------------------------------------------------------------------- */

/* DER's order of a SET: by bytes, the shorter one first. */
static int
by_bytes(const void *a, const void *b)
{
    const buf_t *left = a, *right = b;
    int c = memcmp(left->data, right->data, left->len < right->len ? left->len : right->len);

    return c != 0 ? c : left->len < right->len ? -1 : left->len > right->len;
}

/* The members of a SET stand in the order of their bytes. */
void
dn_write_relative(const json_t *relative, uint8_t tag, buf_t *out)
{
    size_t n = json_array_size(relative), i, at = der_begin(out, tag);
    buf_t *each = xcalloc(n + 1, sizeof(*each));
    json_t *one;

    json_array_foreach (relative, i, one) {
        const char *oid = json_string_value(json_array_get(one, 0));
        json_t *value = json_array_get(one, 1);
        uint8_t kind = DER_UTF8;
        for (size_t k = 0; k < NELEMS(attributes); k++)
            if (str_eq(attributes[k].oid, oid))
                kind = attributes[k].tag;
        size_t seq = der_begin(&each[i], DER_SEQ);
        (void) der_oid(&each[i], DER_OID, oid);
        der_put(&each[i], kind, json_string_value(value), json_string_length(value));
        der_end(&each[i], seq);
    }
    qsort(each, n, sizeof(*each), by_bytes);
    for (i = 0; i < n; i++) {
        buf_add(out, each[i].data, each[i].len);
        buf_free(&each[i]);
    }
    free(each);
    der_end(out, at);
}

void
dn_write(const json_t *name, buf_t *out)
{
    size_t i, at = der_begin(out, DER_SEQ);
    json_t *relative;

    json_array_foreach (name, i, relative)
        dn_write_relative(relative, DER_SET, out);
    der_end(out, at);
}

/* The kind of a text is forgotten: names are compared by what they say. */
json_t *
dn_read_relative(der_t set)
{
    json_auto_t *relative = json_array();

    while (set.len > 0) {
        der_t one, oid, value;
        uint8_t tag;
        if (!der_take(&set, DER_SEQ, &one) || !der_take(&one, DER_OID, &oid) ||
            !der_next(&one, &tag, &value, NULL))
            return NULL;
        AUTO_FREE char *dotted = der_oid_text(oid);
        if (dotted == NULL)
            return NULL;
        json_array_append_new(relative, json_pack("[s, o]", dotted, der_to_text(tag, value)));
    }
    return json_incref(relative);
}

json_t *
dn_read(der_t body)
{
    json_auto_t *name = json_array();

    while (body.len > 0) {
        der_t set;
        json_t *relative = der_take(&body, DER_SET, &set) ? dn_read_relative(set) : NULL;
        if (relative == NULL)
            return NULL;
        json_array_append_new(name, relative);
    }
    return json_incref(name);
}

/* Values are compared as they are: no folding of case or blanks, which RFC 5280 would have for some. */
bool
dn_equal(const json_t *a, const json_t *b)
{
    bool equal = json_array_size(a) == json_array_size(b);
    size_t i, k;
    json_t *relative, *one;

    json_array_foreach (a, i, relative) {
        json_t *other = json_array_get(b, i);
        equal = equal && json_array_size(relative) == json_array_size(other);
        json_array_foreach (relative, k, one)
            equal = equal && value_has(other, one);
    }
    return equal;
}

/* ---- texts -------------------------------------------------------------------------------------- */

/* RFC 4514: the last part first. An attribute that has no name there is shown by its OID. */
char *
dn_text(const json_t *name)
{
    buf_auto_t out = BUF_INIT;

    for (size_t i = json_array_size(name); i > 0; i--) {
        json_t *relative = json_array_get(name, i - 1), *one;
        size_t k;
        if (out.len > 0)
            buf_putc(&out, ',');
        json_array_foreach (relative, k, one) {
            const char *oid = json_string_value(json_array_get(one, 0)), *shown = oid;
            for (size_t a = 0; a < NELEMS(attributes); a++)
                if (attributes[a].rfc != NULL && str_eq(attributes[a].oid, oid))
                    shown = attributes[a].rfc;
            buf_printf(&out, "%s%s=", k > 0 ? "+" : "", shown);
            /* As cryptography escapes: RFC 4514's own characters, `#` and blanks at the start, a blank at the end. */
            const char *text = json_string_value(json_array_get(one, 1));
            for (const char *c = text; *c != '\0'; c++) {
                bool edge = (c == text && (*c == '#' || *c == ' ')) || (c[1] == '\0' && *c == ' ');
                if (edge || strchr("\"+,;<>\\", *c) != NULL)
                    buf_putc(&out, '\\');
                buf_putc(&out, *c);
            }
        }
    }
    return out.len > 0 ? buf_steal(&out) : xstrdup("");
}

/* The first value with the OID, BORROWED. */
static json_t *
dn_first_of(const json_t *name, const char *oid)
{
    size_t i, k;
    json_t *relative, *one;

    json_array_foreach (name, i, relative)
        json_array_foreach (relative, k, one)
            if (str_eq(json_string_value(json_array_get(one, 0)), oid))
                return json_array_get(one, 1);
    return NULL;
}

/* Names of the module's arguments; attributes that are none are left out. */
json_t *
dn_dict(const json_t *name)
{
    json_t *dict = json_object();

    for (size_t i = 0; i < NELEMS(attributes); i++) {
        json_t *v = attributes[i].name != NULL ? dn_first_of(name, attributes[i].oid) : NULL;
        if (v != NULL)
            json_object_set(dict, attributes[i].name, v);
    }
    return dict;
}

const char *
dn_common(const json_t *name)
{
    return json_string_value(dn_first_of(name, "2.5.4.3"));
}
