/* plist_write_xml.c - see plist.h: values as the XML that plistlib writes, byte for byte. */
#include "plugins/lib/call/plist_int.h"

#include "common/base/base64.h"
#include "common/py/py_error.h"

static const char xml_head[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n"
    "<plist version=\"1.0\">\n";

typedef struct xml_out {
    buf_t *out;
    const plist_options_t *how;
    size_t depth;
} xml_out_t;

static int xml_value(xml_out_t *self, py_t *v);

static void
xml_line(xml_out_t *self, const char *text)
{
    buf_fill(self->out, '\t', self->depth);
    buf_puts(self->out, text);
    buf_putc(self->out, '\n');
}

/* A text between tags; line ends of other systems become line feeds. */
static int
xml_text(xml_out_t *self, const char *tag, const char *text, size_t len)
{
    buf_t *out = self->out;

    buf_fill(out, '\t', self->depth);
    buf_printf(out, "<%s>", tag);
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '\r' && i + 1 < len && text[i + 1] == '\n')
            continue;
        if ((unsigned char) c < ' ' && c != '\t' && c != '\n' && c != '\r')
            return py_raise_int(&py_ValueError,
                                "strings can't contain control characters; use bytes instead");
        if (c == '&' || c == '<' || c == '>')
            buf_puts(out, c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;");
        else
            buf_putc(out, c == '\r' ? '\n' : c);
    }
    buf_printf(out, "</%s>\n", tag);
    return 0;
}

/* A number as Python shows it. */
static int
xml_number(xml_out_t *self, const char *tag, py_t *v)
{
    AUTO(py) shown = py_repr(v);

    return shown != NULL ? xml_text(self, tag, py_cstr(shown), strlen(py_cstr(shown))) : -1;
}

/* Integers of 64 bits, with a sign or without. */
static int
xml_integer(xml_out_t *self, py_t *v)
{
    AUTO(py) least = py_int(INT64_MIN);
    AUTO(py) most = py_int_digits("18446744073709551615", 20);
    int small = py_compare(v, least, PY_LT), large = py_compare(v, most, PY_GT);

    if (small == 0 && large == 0)
        return xml_number(self, "integer", v);
    AUTO(py) shown = small >= 0 && large >= 0 ? py_repr(v) : NULL;
    return shown != NULL ? py_raise_int(&py_OverflowError, "%s", py_cstr(shown)) : -1;
}

/* Lines of base64, as deep as the tag, up to column 76. */
static void
xml_bytes(xml_out_t *self, py_t *v)
{
    enum { COLUMNS = 76, TAB = 8, LEAST = 16, FOUR = 4 };
    size_t len, margin = TAB * self->depth, width = margin + LEAST < COLUMNS ? COLUMNS - margin : LEAST;
    const char *bytes = py_text(v, &len);
    AUTO_FREE char *text = base64_encode(bytes, len, width / FOUR * FOUR);

    xml_line(self, "<data>");
    for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        xml_line(self, line);
    }
    xml_line(self, "</data>");
}

static int
xml_dict(xml_out_t *self, py_t *dict)
{
    if (py_dict_len(dict) == 0) {
        xml_line(self, "<dict/>");
        return 0;
    }
    AUTO(py) keys = plist_keys(dict, self->how);
    if (keys == NULL)
        return -1;
    xml_line(self, "<dict>");
    self->depth++;
    for (size_t i = 0; i < py_seq_len(keys); i++) {
        size_t len;
        const char *key = py_text(py_seq_at(keys, i), &len);
        if (xml_text(self, "key", key, len) < 0 || xml_value(self, py_dict_get(dict, py_seq_at(keys, i))) < 0)
            return -1;
    }
    self->depth--;
    xml_line(self, "</dict>");
    return 0;
}

static int
xml_array(xml_out_t *self, py_t *list)
{
    if (py_seq_len(list) == 0) {
        xml_line(self, "<array/>");
        return 0;
    }
    xml_line(self, "<array>");
    self->depth++;
    for (size_t i = 0; i < py_seq_len(list); i++)
        if (xml_value(self, py_seq_at(list, i)) < 0)
            return -1;
    self->depth--;
    xml_line(self, "</array>");
    return 0;
}

static int
xml_scalar(xml_out_t *self, py_t *v)
{
    size_t len;

    switch (py_type(v)) {
    case PY_STR:;
        const char *text = py_text(v, &len);
        return xml_text(self, "string", text, len);
    case PY_BOOL:
        xml_line(self, py_truth(v) > 0 ? "<true/>" : "<false/>");
        return 0;
    case PY_INT:
        return xml_integer(self, v);
    case PY_FLOAT:
        return xml_number(self, "real", v);
    case PY_BYTES:
        xml_bytes(self, v);
        return 0;
    default: {
        /* A date is written without the fraction of its second. */
        const char *date = plist_date_text(v);
        if (date == NULL)
            return py_raise_int(&py_TypeError, "unsupported type: <class '%s'>", py_type_name(v));
        AUTO_FREE char *shown = xasprintf("%.*sZ", (int) strcspn(date, ".Z"), date);
        return xml_text(self, "date", shown, strlen(shown));
    }
    }
}

static int
xml_value(xml_out_t *self, py_t *v)
{
    bool dict = py_is(v, PY_DICT);

    if (!dict && !py_is(v, PY_LIST) && !py_is(v, PY_TUPLE))
        return xml_scalar(self, v);
    if (py_enter() < 0)
        return -1;
    int rc = dict ? xml_dict(self, v) : xml_array(self, v);
    py_leave();
    return rc;
}

py_t *
plist_write_xml(py_t *v, const plist_options_t *how)
{
    buf_auto_t out = BUF_INIT;
    xml_out_t self = { .out = &out, .how = how };

    buf_puts(&out, xml_head);
    if (xml_value(&self, v) < 0)
        return NULL;
    buf_puts(&out, "</plist>\n");
    return py_bytes(out.data, out.len);
}
