/* value_repr.c - values as text in Python's manner. */
#include "salt/value.h"

#include "common/base/buf.h"
#include "common/base/realtext.h"
#include "common/base/utf8.h"

char *
value_float_repr(double d)
{
    buf_auto_t out = BUF_INIT;

    realtext_add(&out, d);
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
