/* json.c - outputter `json`, laid out as Python's json.dumps does with ensure_ascii off; jansson's own dumper
 * has another layout. */
#include <math.h>

#include "common/output/outputter.h"
#include "common/output/values.h"
#include "common/py/py_json.h"
#include "common/py/py_wire.h"
#include "salt/value.h"

enum { DEFAULT_INDENT = 4 };

/* Appends a string as Python's json.dumps with ensure_ascii=False. Runs without escapes are copied at
 * once. */
static void
json_dump_text(buf_t *out, const char *s, size_t len)
{
    static const char escapes[][3] = { ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f",
                                       ['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\" };
    const char *end = s + len, *plain = s;

    buf_putc(out, '"');
    for (; s < end; s++) {
        unsigned char c = (unsigned char) *s;
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        buf_add(out, plain, (size_t) (s - plain));
        plain = s + 1;
        if (escapes[c][0] != '\0')
            buf_puts(out, escapes[c]);
        else
            buf_printf(out, "\\u%04x", c);
    }
    buf_add(out, plain, (size_t) (end - plain));
    buf_putc(out, '"');
}

/* Start a new line at `level`; a negative indent keeps all on one line. */
static void
break_line(buf_t *out, int indent, int level)
{
    if (indent < 0)
        return;
    buf_putc(out, '\n');
    buf_fill(out, ' ', (size_t) indent * (size_t) level);
}

static void json_dump(buf_t *out, json_t *v, int indent, int level);

/* Appends a list, each element on its own line when there is an indentation. */
static void
json_dump_array(buf_t *out, json_t *v, int indent, int level)
{
    size_t i;
    json_t *element;

    buf_putc(out, '[');
    json_array_foreach (v, i, element) {
        if (i > 0)
            buf_puts(out, indent < 0 ? ", " : ",");
        break_line(out, indent, level + 1);
        json_dump(out, element, indent, level + 1);
    }
    if (json_array_size(v) > 0)
        break_line(out, indent, level);
    buf_putc(out, ']');
}

/* Appends an object, in the order of its keys. */
static void
json_dump_object(buf_t *out, json_t *v, int indent, int level)
{
    const char *between = "{";

    for (void *it = json_object_iter(v); it != NULL; it = json_object_iter_next(v, it)) {
        const char *key = json_object_iter_key(it);
        buf_puts(out, between);
        break_line(out, indent, level + 1);
        json_dump_text(out, key, strlen(key));
        buf_puts(out, ": ");
        json_dump(out, json_object_iter_value(it), indent, level + 1);
        between = indent < 0 ? ", " : ",";
    }
    if (json_object_size(v) == 0)
        buf_putc(out, '{');
    else
        break_line(out, indent, level);
    buf_putc(out, '}');
}

static void
json_dump(buf_t *out, json_t *v, int indent, int level)
{
    switch (v == NULL ? JSON_NULL : json_typeof(v)) {
    case JSON_OBJECT:
        json_dump_object(out, v, indent, level);
        break;
    case JSON_ARRAY:
        json_dump_array(out, v, indent, level);
        break;
    case JSON_STRING:
        json_dump_text(out, json_string_value(v), json_string_length(v));
        break;
    case JSON_INTEGER:
        buf_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
        break;
    case JSON_REAL: {
        /* Python's names for infinity and NaN are not JSON, but Salt prints them. */
        double d = json_real_value(v);
        AUTO_FREE char *text = value_float_repr(d);
        buf_puts(out, isnan(d) ? "NaN" : isinf(d) ? (d < 0 ? "-Infinity" : "Infinity") : text);
        break;
    }
    case JSON_TRUE:
        buf_puts(out, "true");
        break;
    case JSON_FALSE:
        buf_puts(out, "false");
        break;
    case JSON_NULL:
        buf_puts(out, "null");
        break;
    }
}

bool
output_json(json_t *data, const output_opts_t *opts, buf_t *out)
{
    int indent = opts->indent == OUTPUT_INDENT_DEFAULT ? DEFAULT_INDENT : opts->indent;

    if (!output_has_kinds(data)) {
        json_dump(out, data, indent, 0);
        return true;
    }

    /* Values that JSON lacks: keys as json.dumps writes them, two that become the same both. */
    json_auto_t *known = output_default_repr(data);
    py_dumps_t how = PY_DUMPS_INIT;
    how.indent = indent;
    how.ensure_ascii = false;
    AUTO(py) value = py_from_wire(known);
    AUTO(py) text = py_json_dumps(value, &how);
    py_clear();
    buf_puts(out, text != NULL ? py_cstr(text) : "{}");
    return true;
}
