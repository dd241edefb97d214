/* ext_names.c - general names of extensions (RFC 5280, 4.2.1.6), and OpenSSL's notation. */
#include "common/base/str.h"
#include "common/data/ipaddr.h"
#include "plugins/lib/x509/dn.h"
#include "plugins/lib/x509/ext.h"

/* Python's `in`: in a text anywhere, in a list as an element, in a mapping as a key. */
bool
conf_has(const json_t *v, const char *word)
{
    if (json_is_string(v))
        return strstr(json_string_value(v), word) != NULL;
    return json_is_array(v) ? value_lists(v, word) : value_get(v, word) != NULL;
}

/* Both sides trimmed. */
static json_t *
pair_of(const char *text, size_t len, const char *without)
{
    AUTO_FREE char *copy = xstrndup(text, len);
    char *colon = strchr(copy, ':');

    if (colon != NULL)
        *colon = '\0';
    const char *key = str_trim(copy);
    return json_pack("[s, s]", key, colon != NULL ? str_trim(colon + 1) : without);
}

/* A text without a colon is a kind without a value. */
json_t *
gn_pair(const char *text)
{
    return pair_of(text, strlen(text), "");
}

/* "critical" counts only at the begin. A part without a colon has the value that Salt marks it with. */
json_t *
conf_pairs(const char *text, bool *critical)
{
    json_t *pairs = json_array();

    *critical = str_starts(text, "critical");
    if (*critical)
        text += strlen("critical");
    text += strspn(text, ", \t\n");
    for (bool more = true; more;) {
        size_t n = strcspn(text, ",");
        json_array_append_new(pairs, pair_of(text, n, "__present__"));
        more = text[n] == ',';
        text += n + more;
    }
    return pairs;
}

/* Names as a text, a list of texts and mappings, or a mapping; a list's words without a colon ("critical")
 * are none. */
json_t *
gn_pairs(const json_t *v, bool *critical)
{
    json_t *pairs = json_array(), *one, *member;
    const char *key;
    size_t i;

    if (json_is_string(v)) {
        json_decref(pairs);
        return conf_pairs(json_string_value(v), critical);
    }
    *critical = conf_has(v, "critical");
    json_array_foreach (v, i, one) {
        if (json_is_string(one) && strchr(json_string_value(one), ':') != NULL)
            json_array_append_new(pairs, gn_pair(json_string_value(one)));
        json_object_foreach (one, key, member)
            json_array_append_new(pairs, json_pack("[s, O]", key, member));
    }
    if (json_is_object(v))
        json_object_foreach ((json_t *) v, key, member)
            if (!str_eq(key, "critical"))
                json_array_append_new(pairs, json_pack("[s, O]", key, member));
    return pairs;
}

/* An address, or a network with its mask behind it. */
static int
write_ip(const char *text, buf_t *out, fail_t *err)
{
    ip_t ip;
    ipnet_t net;

    if (ip_parse(text, &ip, NULL) == 0) {
        der_put(out, DER_CTX(7), ip.b, ip.version == 4 ? 4 : 16);
        return 0;
    }
    if (ipnet_parse(text, true, &net, NULL) != 0)
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Provided value %s does not seem to be an IP address or network range.", text);
    ip_t mask = ipnet_mask(&net);
    size_t len = net.addr.version == 4 ? 4 : 16, at = der_begin(out, DER_CTX(7));
    buf_add(out, net.addr.b, len);
    buf_add(out, mask.b, len);
    der_end(out, at);
    return 0;
}

/* Names go into certificates as ASCII; dirName is a Name of its own and may be any text. */
int
gn_write(const char *kind, const json_t *v, buf_t *out, fail_t *err)
{
    static const struct {
        const char *kind;
        unsigned tag;
    } texts[] = { { "email", 1 }, { "dns", 2 }, { "uri", 6 } };
    AUTO_FREE char *text = value_pystr(v);

    for (const char *p = text; !json_is_object(v) && strcasecmp(kind, "dirname") != 0 && *p != '\0'; p++)
        if ((unsigned char) *p >= 0x80)
            return fail_kind(err, FAIL_COMMAND, -EINVAL,
                             "%s: %s is not ASCII: write an internationalized domain name as xn--...", kind,
                             text);
    for (size_t i = 0; i < NELEMS(texts); i++) {
        if (strcasecmp(texts[i].kind, kind) == 0) {
            der_text(out, DER_CTX(texts[i].tag), text);
            return 0;
        }
    }
    if (strcasecmp(kind, "ip") == 0)
        return write_ip(text, out, err);
    if (strcasecmp(kind, "rid") == 0)
        return der_oid(out, DER_CTX(8), text)
                   ? 0
                   : fail_kind(err, FAIL_COMMAND, -EINVAL, "Invalid oid: %s", text);
    if (strcasecmp(kind, "dirname") == 0) {
        json_auto_t *name = dn_make(v, err);
        if (name == NULL)
            return err->code;
        size_t at = der_begin(out, DER_CTXC(4));
        dn_write(name, out);
        der_end(out, at);
        return 0;
    }
    if (strcasecmp(kind, "othername") == 0)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "otherName is not supported: use email, URI, DNS, RID, IP, dirName");
    return fail_kind(err, FAIL_COMMAND, -EINVAL, "GeneralName type %s is invalid", kind);
}

/* Stops at the first that is wrong. */
int
gn_write_all(const json_t *pairs, buf_t *out, fail_t *err)
{
    size_t i;
    json_t *one;
    int rc = 0;

    json_array_foreach (pairs, i, one)
        if (rc == 0)
            rc = gn_write(json_string_value(json_array_get(one, 0)), json_array_get(one, 1), out, err);
    return rc;
}

/* ---- shown -------------------------------------------------------------------------------------- */

/* "10.0.0.1" as it is, and IPv6 in full, as Python's `exploded`; a network with its prefix. */
static char *
show_ip(der_t body)
{
    size_t half = body.len == 8 || body.len == 32 ? body.len / 2 : body.len;
    buf_auto_t out = BUF_INIT;
    unsigned bits = 0;

    for (size_t i = 0; i < half; i++) {
        if (half == 4)
            buf_printf(&out, "%s%u", i > 0 ? "." : "", body.p[i]);
        else
            buf_printf(&out, "%s%02x", i > 0 && i % 2 == 0 ? ":" : "", body.p[i]);
    }
    for (size_t i = half; i < body.len; i++)
        bits += (unsigned) __builtin_popcount(body.p[i]);
    if (half < body.len)
        buf_printf(&out, "/%u", bits);
    return out.len > 0 ? buf_steal(&out) : xstrdup("");
}

/* The kinds that OpenSSL prints, with its words; others in hexadecimal. NEW, or NULL. */
static json_t *
gn_show_one(uint8_t tag, der_t body)
{
    der_t inner;

    switch (tag) {
    case DER_CTX(1):
        return value_fmt("mail:%.*s", (int) body.len, (const char *) body.p);
    case DER_CTX(2):
        return value_fmt("DNS:%.*s", (int) body.len, (const char *) body.p);
    case DER_CTX(6):
        return value_fmt("URI:%.*s", (int) body.len, (const char *) body.p);
    case DER_CTX(7): {
        AUTO_FREE char *text = show_ip(body);
        return value_fmt("IP:%s", text);
    }
    case DER_CTX(8): {
        AUTO_FREE char *text = der_oid_text(body);
        return value_fmt("RID:%s", text != NULL ? text : "");
    }
    case DER_CTXC(4): {
        json_auto_t *name = der_take(&body, DER_SEQ, &inner) ? dn_read(inner) : NULL;
        AUTO_FREE char *text = name != NULL ? dn_text(name) : NULL;
        return name != NULL ? value_fmt("dirName:%s", text) : NULL;
    }
    default: {
        AUTO_FREE char *hex = der_hex(body.p, body.len);
        return value_fmt("other:%s", hex);
    }
    }
}

/* NULL as soon as one of them can't be read. */
json_t *
gn_show(der_t in)
{
    json_auto_t *list = json_array();
    uint8_t tag;
    der_t body;

    while (in.len > 0) {
        json_t *one = der_next(&in, &tag, &body, NULL) ? gn_show_one(tag, body) : NULL;
        if (one == NULL)
            return NULL;
        json_array_append_new(list, one);
    }
    return json_incref(list);
}
