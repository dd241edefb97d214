/* pementry.c - PEM texts put in order. */
#include <ctype.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/x509/pementry.h"
#include "plugins/lib/x509/xdoc.h"

#define ANY_PRIVATE "(?:RSA )?PRIVATE KEY"

static bool
kind_fits(const char *label, size_t len, const char *kind)
{
    if (kind == NULL) {
        for (size_t i = 0; i < len; i++)
            if (!isupper((unsigned char) label[i]) && !isdigit((unsigned char) label[i]) && label[i] != ' ')
                return false;
        return len > 0;
    }
    if (str_eq(kind, ANY_PRIVATE))
        return kind_fits(label, len, "PRIVATE KEY") || kind_fits(label, len, "RSA PRIVATE KEY");
    return strlen(kind) == len && memcmp(label, kind, len) == 0;
}

/* A block's header line and all behind it up to its footer. */
typedef struct block {
    const char *label, *body, *end, *end_label;
    size_t len, end_len;
} block_t;

/* The next line "-----WORD LABEL-----". */
static const char *
pementry_line(const char *p, const char *word, const char *kind, size_t *ret_len)
{
    while ((p = strstr(p, word)) != NULL) {
        p += strlen(word);
        const char *end = strstr(p, "-----");
        if (end != NULL && kind_fits(p, (size_t) (end - p), kind)) {
            *ret_len = (size_t) (end - p);
            return p;
        }
    }
    return NULL;
}

static bool
find_block(const char *text, const char *kind, block_t *b)
{
    for (const char *p = text; (p = pementry_line(p, "-----BEGIN ", kind, &b->len)) != NULL;) {
        b->label = p;
        b->body = p + b->len + 5;
        b->end_label = pementry_line(b->body, "-----END ", kind, &b->end_len);
        b->end = b->end_label != NULL ? b->end_label - strlen("-----END ") : NULL;
        if (isspace((unsigned char) *b->body) && b->end != NULL && isspace((unsigned char) b->end[-1]))
            return true;
    }
    return false;
}

/* A header line of the block, such as Proc-Type; *at is behind it afterwards. */
static void
pementry_header(const char **at, const char *name, const char *feed, buf_t *out)
{
    const char *p = *at + strspn(*at, " \t\r\n");
    size_t n = strcspn(p, " \t\r\n");

    if (!str_starts(p, name))
        return;
    n += p[n] == ' ' ? 1 + strcspn(p + n + 1, " \t\r\n") : 0;
    buf_add(out, p, n);
    buf_puts(out, feed);
    *at = p + n;
}

static void
pementry_put(const block_t *b, buf_t *out)
{
    const char *p = b->body;
    size_t column = 0;

    buf_printf(out, "-----BEGIN %.*s-----\n", (int) b->len, b->label);
    pementry_header(&p, "Proc-Type:", "\n", out);
    pementry_header(&p, "DEK-Info:", "\n\n", out);
    for (; p < b->end; p++) {
        if (isspace((unsigned char) *p))
            continue;
        buf_putc(out, *p);
        if (++column % 64 == 0)
            buf_putc(out, '\n');
    }
    buf_printf(out, "%s-----END %.*s-----\n", column % 64 != 0 ? "\n" : "", (int) b->end_len, b->end_label);
}

/* All on one line, as mine.get gives it: line feeds between the dashes and the rest. */
static void
pementry_break(buf_t *text)
{
    const char *s = buf_str(text);
    buf_wiped_t out = BUF_INIT;

    if (strpbrk(s, "\r\n") != NULL || !str_starts(s, "-----") || !str_ends(s, "-----"))
        return;
    buf_reserve(&out, text->len + 64);
    for (const char *p = s; *p != '\0';) {
        const char *end = str_starts(p, "-----") ? strstr(p + 5, "-----") : NULL;
        size_t n = end != NULL ? (size_t) (end + 5 - p) : strcspn(p, "-");
        n = n > 0 ? n : 1;
        buf_add(&out, p, n);
        buf_putc(&out, '\n');
        p += n;
    }
    ossl_wipe(text);
    *text = out;
    out = (buf_t) BUF_INIT;
}

int
pem_entry(const json_t *source, const char *kind, buf_t *out, fail_t *err)
{
    buf_wiped_t bytes = BUF_INIT, text = BUF_INIT;
    block_t b;

    if (xdoc_bytes(source, &bytes, err) != 0)
        return err->code;
    buf_reserve(&text, bytes.len + 1);
    buf_reserve(out, bytes.len * 2 + 256);
    for (const char *p = buf_str(&bytes); *p != '\0'; p++) {
        bool feed = p[0] == '\\' && p[1] == 'n';
        buf_putc(&text, feed ? '\n' : *p);
        p += feed;
    }
    pementry_break(&text);
    if (find_block(buf_str(&text), kind, &b)) {
        pementry_put(&b, out);
        return 0;
    }
    if (kind != NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "PEM does not contain a single entry of type %s",
                         kind);
    return fail_kind(err, FAIL_INVOCATION, -EINVAL, "PEM text not valid");
}

/* Into the file before or behind the certificate: a key, or parameters that it has had. */
static void
keep_entry(const json_t *path, const char *kind, buf_t *out)
{
    fail_auto_t why = FAIL_INIT;

    (void) pem_entry(path, kind, out, &why);
}

int
pem_write_file(const json_t *text, const char *path, bool overwrite, const char *kind, json_t **ret_said,
               fail_t *err)
{
    json_auto_t *place = value_utf8(path, strlen(path));
    buf_wiped_t all = BUF_INIT;
    bool keep = !overwrite && str_eq(kind, "CERTIFICATE") && xdoc_path(place) != NULL;

    if (keep)
        keep_entry(place, ANY_PRIVATE, &all);
    if (pem_entry(text, kind, &all, err) != 0)
        return err->code;
    if (keep)
        keep_entry(place, "DH PARAMETERS", &all);
    if (fs_rewrite(path, all.data, all.len, 0600, err) != 0)
        return err->code;
    *ret_said = value_fmt("PEM written to %s", path);
    return 0;
}

int
pem_write_encoded(const buf_t *bytes, const char *encoding, const char *path, bool overwrite,
                  const char *kind, const char *what, json_t **ret_said, fail_t *err)
{
    if (str_eq(encoding, "pem")) {
        json_auto_t *text = value_utf8(buf_str(bytes), bytes->len);
        return pem_write_file(text, path, overwrite, kind, ret_said, err);
    }
    if (fs_rewrite(path, bytes->data, bytes->len, 0600, err) != 0)
        return err->code;
    *ret_said = what != NULL ? value_fmt("%s written to %s", what, path) : json_null();
    return 0;
}
