/* value_repr.c - values as text in Python's manner. */
#include "salt/value.h"

#include <math.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"

enum { MAX_DIGITS = 17 };

/* Adds 1 to the last of the digits in "d.ddde+xx". False when all are nines. */
static bool
bump_last_digit(char *text)
{
    for (char *p = strchr(text, 'e'); p-- > text;) {
        if (*p == '.' || *p == '-')
            continue;
        if (*p != '9') {
            ++*p;
            return true;
        }
        *p = '0';
    }
    return false;
}

/* Finds the shortest "d.ddde+xx" that reads back as the same number. Below a power of two the neighbours are
 * nearer than above, so the shortest text may be the one just above the nearest. */
static void
shortest_text(double d, char text[32])
{
    for (int digits = 1; digits < MAX_DIGITS; digits++) {
        snprintf(text, 32, "%.*e", digits - 1, d);
        if (strtod(text, NULL) == d || (bump_last_digit(text) && strtod(text, NULL) == d))
            return;
    }
    snprintf(text, 32, "%.*e", MAX_DIGITS - 1, d);
}

char *
value_float_repr(double d)
{
    char text[32], digits[MAX_DIGITS + 1];
    buf_auto_t out = BUF_INIT;
    int n = 0;

    if (isnan(d))
        return xstrdup("nan");
    if (signbit(d))
        buf_putc(&out, '-');
    if (isinf(d)) {
        buf_puts(&out, "inf");
        return buf_steal(&out);
    }
    shortest_text(fabs(d), text);
    int exponent = (int) strtol(strchr(text, 'e') + 1, NULL, 10);
    for (const char *p = text; *p != 'e'; p++) {
        if (*p != '.')
            digits[n++] = *p;
    }
    while (n > 1 && digits[n - 1] == '0')
        n--;
    if (exponent < -4 || exponent >= 16) {
        buf_putc(&out, digits[0]);
        if (n > 1)
            buf_putc(&out, '.');
        buf_add(&out, digits + 1, (size_t) n - 1);
        buf_printf(&out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        buf_puts(&out, "0.");
        buf_fill(&out, '0', (size_t) (-exponent - 1));
        buf_add(&out, digits, (size_t) n);
    } else {
        int whole = exponent + 1;
        buf_add(&out, digits, (size_t) (n < whole ? n : whole));
        buf_fill(&out, '0', n < whole ? (size_t) (whole - n) : 0);
        buf_putc(&out, '.');
        if (n > whole)
            buf_add(&out, digits + whole, (size_t) (n - whole));
        else
            buf_putc(&out, '0');
    }
    return buf_steal(&out);
}

static void
value_repr_text(buf_t *out, const char *s, size_t len)
{
    char quote = memchr(s, '\'', len) != NULL && memchr(s, '"', len) == NULL ? '"' : '\'';

    buf_putc(out, quote);
    for (size_t i = 0; i < len;) {
        uint32_t cp = (unsigned char) s[i];
        size_t n = utf8_next(s + i, len - i, &cp);
        if (n == 0)
            n = 1; /* jansson holds valid UTF-8 only, keys set by json_object_set_new_nocheck aside */
                   /* Writes a character, escaped as Python does. */
        const char *bytes = s + i;
        if (cp == (unsigned char) quote || cp == '\\')
            buf_printf(out, "\\%c", (char) cp);
        else if (cp == '\n')
            buf_puts(out, "\\n");
        else if (cp == '\r')
            buf_puts(out, "\\r");
        else if (cp == '\t')
            buf_puts(out, "\\t");
        else if (utf8_printable(cp))
            buf_add(out, bytes, n);
        else if (cp <= 0xff)
            buf_printf(out, "\\x%02x", cp);
        else if (cp <= 0xffff)
            buf_printf(out, "\\u%04x", cp);
        else
            buf_printf(out, "\\U%08x", cp);

        i += n;
    }
    buf_putc(out, quote);
}

static void repr_value(buf_t *out, const json_t *v);

static void
repr_object(buf_t *out, const json_t *v)
{
    /* jansson iterates only objects that may be changed; this one is not. */
    json_t *object = (json_t *) v;
    const char *between = "{";

    for (void *it = json_object_iter(object); it != NULL; it = json_object_iter_next(object, it)) {
        const char *key = json_object_iter_key(it);
        buf_puts(out, between);
        value_repr_text(out, key, strlen(key));
        buf_puts(out, ": ");
        repr_value(out, json_object_iter_value(it));
        between = ", ";
    }
    buf_puts(out, json_object_size(v) == 0 ? "{}" : "}");
}

static void
repr_array(buf_t *out, const json_t *v)
{
    size_t i;
    json_t *element;

    buf_putc(out, '[');
    json_array_foreach (v, i, element) {
        if (i > 0)
            buf_puts(out, ", ");
        repr_value(out, element);
    }
    buf_putc(out, ']');
}

static void
repr_value(buf_t *out, const json_t *v)
{
    if (v == NULL) {
        buf_puts(out, "None");
        return;
    }
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        repr_object(out, v);
        break;
    case JSON_ARRAY:
        repr_array(out, v);
        break;
    case JSON_STRING:
        value_repr_text(out, json_string_value(v), json_string_length(v));
        break;
    case JSON_INTEGER:
        buf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
        break;
    case JSON_REAL: {
        AUTO_FREE char *text = value_float_repr(json_real_value(v));
        buf_puts(out, text);
        break;
    }
    case JSON_TRUE:
        buf_puts(out, "True");
        break;
    case JSON_FALSE:
        buf_puts(out, "False");
        break;
    case JSON_NULL:
        buf_puts(out, "None");
        break;
    }
}

char *
value_repr(const json_t *v)
{
    buf_auto_t out = BUF_INIT;

    repr_value(&out, v);
    return buf_steal(&out);
}

char *
value_pystr(const json_t *v)
{
    return json_is_string(v) ? xstrdup(json_string_value(v)) : value_repr(v);
}
