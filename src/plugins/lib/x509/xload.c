/* xload.c - what users name as a certificate, request or list, found and unpacked: PEM with its chain, DER,
 * PKCS#7 (the certificates of SignedData, RFC 2315) and PKCS#12. */
#include <ctype.h>
#include <sys/stat.h>

#include "common/base/base64.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/yaml_scalar.h"
#include "common/py/py_wire.h"
#include "plugins/lib/x509/xdoc.h"

enum { READ_MAX = 4 * 1024 * 1024, CHAIN_MAX = 256 };

/* ---- PEM ---------------------------------------------------------------------------------------- */

/* The room is reserved before, so that no copy of a key stays behind as the buffer grows. */
void
pem_armour(const char *label, const void *der, size_t len, buf_t *out)
{
    char *text = base64_encode(der, len, 64);

    buf_printf(out, "-----BEGIN %s-----\n", label);
    buf_reserve(out, strlen(text) + 80);
    buf_puts(out, text);
    buf_printf(out, "-----END %s-----\n", label);
    explicit_bzero(text, strlen(text));
    free(text);
}

/* Texts between the blocks are passed over; a block that is no base64 is empty. *at moves behind it. */
bool
pem_next(const char **at, char **ret_label, buf_t *out)
{
    const char *begin = strstr(*at, "-----BEGIN "),
               *label_end = begin != NULL ? strstr(begin + 11, "-----") : NULL;
    const char *end = label_end != NULL ? strstr(label_end + 5, "-----END ") : NULL;
    AUTO_FREE char *why = NULL;
    size_t len = 0;

    if (end == NULL)
        return false;
    char *bytes = yaml_from_base64(label_end + 5, (size_t) (end - label_end - 5), &len, &why);
    const char *behind = strstr(end + 9, "-----");
    *at = behind != NULL ? behind + 5 : end + 9;
    *ret_label = xstrndup(begin + 11, (size_t) (label_end - begin - 11));
    if (bytes != NULL) {
        buf_add(out, bytes, len);
        explicit_bzero(bytes, len);
    }
    free(bytes);
    return true;
}

/* ---- sources ------------------------------------------------------------------------------------ */

/* A text is a path when such a file is there, as Salt tries it. BORROWED, or NULL. */
const char *
xdoc_path(const json_t *source)
{
    const char *text = json_string_value(source);
    fail_auto_t why = FAIL_INIT;

    return text != NULL && *text != '\0' && strlen(text) < 4096 && fs_look_file(text, &why) > 0 ? text : NULL;
}

/* Hexadecimal, or base64, as Python's fromhex and b64decode take them. */
static bool
xload_decoded(const char *text, buf_t *out)
{
    buf_wiped_t squeezed = BUF_INIT;
    AUTO_FREE char *why = NULL;
    size_t len = 0, letters = 0;

    for (const char *p = text; *p != '\0'; p++) {
        if (isspace((unsigned char) *p))
            continue;
        buf_putc(&squeezed, *p);
        letters += isalnum((unsigned char) *p) || strchr("+/=", *p) != NULL;
    }
    if (letters != squeezed.len || letters == 0)
        return false;
    if (der_unhex(buf_str(&squeezed), out))
        return true;
    buf_clear(out);
    char *bytes = yaml_from_base64(buf_str(&squeezed), squeezed.len, &len, &why);
    if (bytes != NULL)
        buf_add(out, bytes, len);
    bool good = bytes != NULL;
    free(bytes);
    return good;
}

int
xdoc_bytes(const json_t *source, buf_t *out, fail_t *err)
{
    const char *path = xdoc_path(source), *text = json_string_value(source);
    json_t *wire = value_get(source, "$py");

    if (path != NULL)
        return fs_read(path, READ_MAX, out, err);
    if (str_eq(json_string_value(json_array_get(wire, 0)), "bytes"))
        text = json_string_value(json_array_get(wire, 1));
    if (text != NULL && strstr(text, "-----BEGIN") != NULL) {
        buf_puts(out, text);
        return 0;
    }
    if (text != NULL && xload_decoded(text, out))
        return 0;
    return fail_kind(
        err, FAIL_INVOCATION, -EINVAL,
        "Could not load provided source. You need to pass an existing file, (PEM|hex|base64)-encoded string "
        "or raw bytes.");
}

/* ---- unpacking ---------------------------------------------------------------------------------- */

void
xkept_free(xkept_t *self)
{
    for (size_t i = 0; i < self->n_chain; i++)
        xdoc_destroy(&self->chain[i]);
    free(self->chain);
    free(self->name);
    *self = (xkept_t){ .encoding = NULL };
}

/* A certificate that can't be read is left out of the chain, as the first certificate is what was asked for. */
static void
add_chain(xkept_t *kept, const void *der, size_t len)
{
    xdoc_t *one = xdoc_parse(XDOC_CERT, der, len);

    if (one == NULL || kept->n_chain >= CHAIN_MAX) {
        xdoc_destroy(&one);
        return;
    }
    kept->chain = xrealloc(kept->chain, (kept->n_chain + 1) * sizeof(xdoc_t *));
    kept->chain[kept->n_chain++] = one;
}

/* The certificates of PKCS#7's SignedData: the first is returned, the others become the chain. */
static xdoc_t *
of_pkcs7(const buf_t *der, xkept_t *kept)
{
    der_t in = { (const uint8_t *) buf_str(der), der->len }, content, oid, explicit, data, part, whole;
    xdoc_t *first = NULL;
    uint8_t tag;

    if (!der_take(&in, DER_SEQ, &content) || !der_take(&content, DER_OID, &oid) ||
        !der_take(&content, DER_CTXC(0), &explicit) || !der_take(&explicit, DER_SEQ, &data) ||
        !der_take(&data, DER_INT, &part) || !der_take(&data, DER_SET, &part) ||
        !der_take(&data, DER_SEQ, &part) || !der_take(&data, DER_CTXC(0), &part))
        return NULL;
    AUTO_FREE char *kind = der_oid_text(oid);
    while (str_eq(kind, "1.2.840.113549.1.7.2") && der_next(&part, &tag, &data, &whole)) {
        if (first == NULL)
            first = xdoc_parse(XDOC_CERT, whole.p, whole.len);
        else
            add_chain(kept, whole.p, whole.len);
    }
    return first;
}

/* The first block must be the document for a certificate; requests and lists may stand behind others. */
static xdoc_t *
of_pem(xdoc_kind_t kind, const char *text, xkept_t *kept)
{
    static const char *const labels[][2] = { { "CERTIFICATE", "X509 CERTIFICATE" },
                                             { "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST" },
                                             { "X509 CRL", "X509 CRL" } };
    xdoc_t *first = NULL;

    for (size_t n = 0; n < CHAIN_MAX; n++) {
        AUTO_FREE char *label = NULL;
        buf_wiped_t der = BUF_INIT;
        if (!pem_next(&text, &label, &der))
            break;
        bool fits = str_eq(label, labels[kind][0]) || str_eq(label, labels[kind][1]);
        if (kind == XDOC_CERT && n == 0 && str_eq(label, "PKCS7")) {
            kept->encoding = "pkcs7_pem";
            return of_pkcs7(&der, kept);
        }
        if (first != NULL && fits)
            add_chain(kept, buf_str(&der), der.len);
        else if (first == NULL && fits)
            first = xdoc_parse(kind, buf_str(&der), der.len);
        if (first == NULL && (fits || kind == XDOC_CERT))
            return NULL;
    }
    kept->encoding = "pem";
    return first;
}

/* The encoding that was found stays in `kept`, so that a state can tell whether the file has it. */
xdoc_t *
xdoc_load(xdoc_kind_t kind, const json_t *source, const char *pass, xkept_t *kept, fail_t *err)
{
    static const char *const names[] = { "certificate", "certificate signing request",
                                         "certificate revocation list" };
    buf_wiped_t bytes = BUF_INIT;
    xkept_auto_t own = { .encoding = NULL };

    kept = kept != NULL ? kept : &own;
    if (xdoc_bytes(source, &bytes, err) != 0)
        return NULL;
    bool pem = strstr(buf_str(&bytes), "-----BEGIN") != NULL;
    xdoc_t *doc = pem ? of_pem(kind, buf_str(&bytes), kept) : xdoc_parse(kind, buf_str(&bytes), bytes.len);
    if (doc != NULL && !pem)
        kept->encoding = "der";
    p12_auto_t p12 = { .key = NULL };
    pkey_trouble_t trouble;
    if (doc == NULL && !pem && kind == XDOC_CERT && p12_read(&bytes, pass, &p12, &trouble) == 0 &&
        p12.cert.len > 0) {
        for (size_t i = 0; i < p12.n_more; i++)
            add_chain(kept, buf_str(&p12.more[i]), p12.more[i].len);
        kept->name = STEAL(p12.name);
        kept->encoding = "pkcs12";
        doc = xdoc_parse(XDOC_CERT, buf_str(&p12.cert), p12.cert.len);
    }
    if (doc == NULL && !pem && kind == XDOC_CERT) {
        kept->encoding = "pkcs7_der";
        doc = of_pkcs7(&bytes, kept);
    }
    if (doc == NULL && kind == XDOC_CERT && !pem)
        fail_kind(err, FAIL_INVOCATION, -EINVAL,
                  "Could not deserialize binary data, neither as DER nor PKCS#7, PKCS#12.");
    else if (doc == NULL)
        fail_kind(err, kind == XDOC_CERT ? FAIL_COMMAND : FAIL_INVOCATION, -EINVAL,
                  "Could not load %s-encoded %s.", pem ? "PEM" : "DER", names[kind]);
    return doc;
}
