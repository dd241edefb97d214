/* plainwrite.c - see plainwrite.h. */
#include "common/base/plainwrite.h"

#include "common/base/realtext.h"
#include "common/base/utf8.h"

#define DEPTH    32 /* levels that are written here; jansson writes deeper ones */
#define INT_TEXT 21 /* an integer's 19 digits and sign */

/* Appends a text, escaped as by jansson's writer. True when all of it was ASCII. */
static bool
quote(const char *text, size_t len, buf_t *out)
{
    static const char from[] = "\b\f\n\r\t\"\\", to[] = "bfnrt\"\\";
    size_t done = 0;
    unsigned char all = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char) text[i];
        all |= c;
        if (c >= ' ' && c != '"' && c != '\\')
            continue;
        const char *at = c != '\0' ? strchr(from, c) : NULL;
        buf_add(out, text + done, i - done);
        done = i + 1;
        if (at != NULL)
            buf_add(out, (const char[]){ '\\', to[at - from] }, 2);
        else
            buf_printf(out, "\\u%04X", c);
    }
    buf_add(out, text + done, len - done);
    return all < 0x80;
}

void
plain_quote(const char *text, buf_t *out)
{
    (void) quote(text, strlen(text), out);
}

/* The separators of a layout: between values, and behind keys. */
typedef struct between {
    const char *comma, *colon;
    size_t flags; /* jansson's, that write the same */
} between_t;

static const between_t compact = { ",", ":", JSON_COMPACT }, blanks = { ", ", ": ", 0 };

static bool written(const json_t *v, int depth, const between_t *between, buf_t *out);

static bool
written_string(const char *text, size_t len, buf_t *out)
{
    buf_putc(out, '"');
    bool ascii = quote(text, len, out);
    buf_putc(out, '"');
    return ascii || utf8_valid(text, len);
}

static bool
written_array(const json_t *v, int depth, const between_t *between, buf_t *out)
{
    size_t n = json_array_size(v);

    buf_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_puts(out, between->comma);
        if (!written(json_array_get(v, i), depth, between, out))
            return false;
    }
    buf_putc(out, ']');
    return true;
}

static bool
written_object(const json_t *v, int depth, const between_t *between, buf_t *out)
{
    json_t *object = (json_t *) v; /* the iterator takes no const; nothing is changed */
    bool first = true;

    buf_putc(out, '{');
    for (void *it = json_object_iter(object); it != NULL; it = json_object_iter_next(object, it)) {
        if (!first)
            buf_puts(out, between->comma);
        first = false;
        if (!written_string(json_object_iter_key(it), json_object_iter_key_len(it), out))
            return false;
        buf_puts(out, between->colon);
        if (!written(json_object_iter_value(it), depth, between, out))
            return false;
    }
    buf_putc(out, '}');
    return true;
}

static void
written_int(json_int_t n, buf_t *out)
{
    char text[INT_TEXT], *at = text + sizeof(text);
    unsigned long long left = n < 0 ? -(unsigned long long) n : (unsigned long long) n;

    do
        *--at = (char) ('0' + left % 10);
    while ((left /= 10) > 0);
    if (n < 0)
        *--at = '-';
    buf_add(out, at, (size_t) (text + sizeof(text) - at));
}

/* Appends a value. `depth`: levels that may still be entered. */
static bool
written(const json_t *v, int depth, const between_t *between, buf_t *out)
{
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return depth > 0 && written_object(v, depth - 1, between, out);
    case JSON_ARRAY:
        return depth > 0 && written_array(v, depth - 1, between, out);
    case JSON_STRING:
        return written_string(json_string_value(v), json_string_length(v), out);
    case JSON_INTEGER:
        written_int(json_integer_value(v), out);
        return true;
    case JSON_REAL:
        realtext_add(out, json_real_value(v)); /* jansson's are finite */
        return true;
    case JSON_TRUE:
        buf_add(out, "true", 4);
        return true;
    case JSON_FALSE:
        buf_add(out, "false", 5);
        return true;
    case JSON_NULL:
        buf_add(out, "null", 4);
        return true;
    }
    return false;
}

static int
plainwrite_append(const char *bytes, size_t n, void *cookie)
{
    buf_add(cookie, bytes, n);
    return 0;
}

static int
add_with(const json_t *v, const between_t *between, buf_t *out)
{
    size_t from = out->len;

    if (written(v, DEPTH, between, out))
        return 0;
    out->len = from;
    if (json_dump_callback(v, plainwrite_append, out, between->flags | JSON_ENCODE_ANY) == 0)
        return 0;
    out->len = from;
    out->data[from] = '\0'; /* `data` is not NULL, as the first byte was written */
    return -EINVAL;
}

int
plain_add(const json_t *v, buf_t *out)
{
    return add_with(v, &compact, out);
}

int
plain_add_blanks(const json_t *v, buf_t *out)
{
    return add_with(v, &blanks, out);
}
