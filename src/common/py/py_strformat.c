/* py_strformat.c - str.format: "{0.name[key]!r:>{width}}".
 *
 * CPython implements str.format in C, while a sandbox and Markup use string.Formatter, written in Python,
 * with other rules for numbering and nesting; `python` selects the latter. */
#include "common/py/py_number_text.h"

/* Depth to which fields may stand in the specification of others, as in CPython. */
enum { NESTING = 2 };

/* State of one format call; `python`: the rules of string.Formatter, which sandboxes and Markup use. */
typedef struct formatter {
    const py_args_t *args; /* NULL: names come from the mapping */
    py_t *mapping;
    py_field_fn *field;
    void *cookie;
    bool markup, python;
    enum { UNDECIDED, AUTOMATIC, MANUAL } numbering;
    size_t next;
} formatter_t;

/* A piece of the template. */
typedef struct part {
    const char *start, *end;
} part_t;

/* A replacement field: {name!conversion:spec}. */
typedef struct field {
    part_t name, spec;
    uint32_t conversion; /* 0: none */
    bool spec_nested;
} field_t;

static int py_strformat_put_text(formatter_t *f, buf_t *out, part_t text, int nesting);

/* ---- parsing ---------------------------------------------------------------------------------- */

/* Reads up to the ':', '!' or '}' that ends the name; *ret_end is set to it. */
static int
parse_field_name(part_t *text, part_t *name, char *ret_end)
{
    char c = '\0';

    name->start = text->start;
    while (text->start < text->end) {
        c = *text->start++;
        if (c == '{')
            return py_raise_int(&py_ValueError, "unexpected '{' in field name");
        if (c == '}' || c == ':' || c == '!') {
            name->end = text->start - 1;
            *ret_end = c;
            return 0;
        }
        while (c == '[' && text->start < text->end && *text->start != ']')
            text->start++;
    }
    return py_raise_int(&py_ValueError, "expected '}' before end of string");
}

/* Parses the conversion after '!'. 1 when the field ends here, -1 raised. */
static int
parse_conversion(part_t *text, field_t *field)
{
    if (text->start >= text->end)
        return py_raise_int(&py_ValueError, "end of string while looking for conversion specifier");
    text->start += py_decode(text->start, &field->conversion);
    if (text->start < text->end) {
        char c = *text->start++;
        if (c == '}')
            return 1;
        if (c != ':')
            return py_raise_int(&py_ValueError, "expected ':' after conversion specifier");
    }
    return 0;
}

/* Reads a replacement field after its '{'. Its specification may contain fields itself. */
static int
parse_field(part_t *text, field_t *field)
{
    char c = '\0';
    int depth = 1;

    *field = (field_t){ { NULL, NULL }, { NULL, NULL }, 0, false };
    if (parse_field_name(text, &field->name, &c) < 0)
        return -1;
    if (c == '}')
        return 0;
    if (c == '!') {
        int rc = parse_conversion(text, field);
        if (rc != 0)
            return rc < 0 ? -1 : 0;
    }
    field->spec.start = text->start;
    while (text->start < text->end) {
        c = *text->start++;
        if (c == '{') {
            field->spec_nested = true;
            depth++;
        } else if (c == '}' && --depth == 0) {
            field->spec.end = text->start - 1;
            return 0;
        }
    }
    return py_raise_int(&py_ValueError, "unmatched '{' in format spec");
}

/* ---- the value of a field -------------------------------------------------------------------- */

/* Index of a field's name, -1 when it is a name, -2 raised. */
static int64_t
py_strformat_index_of(part_t name)
{
    const char *p = name.start;
    int64_t v;

    if (py_format_number(&p, name.end, &v) < 0)
        return -2;
    return p == name.end ? v : -1;
}

/* {} and {0} may not be mixed. */
static int
check_numbering(formatter_t *f, bool automatic)
{
    if (f->numbering == UNDECIDED)
        f->numbering = automatic ? AUTOMATIC : MANUAL;
    if (f->numbering == MANUAL && automatic)
        return py_raise_int(&py_ValueError,
                            "cannot switch from manual field specification to automatic field numbering");
    if (f->numbering == AUTOMATIC && !automatic)
        return py_raise_int(&py_ValueError,
                            "cannot switch from automatic field numbering to manual field specification");
    return 0;
}

/* string.Formatter's check: only whole fields that are a number or empty take part in numbering, and a number
 * may precede the first automatic one. */
static int
check_python_numbering(formatter_t *f, bool automatic)
{
    if (automatic ? f->numbering == MANUAL : f->next > 0)
        return py_raise_int(&py_ValueError,
                            "cannot switch from manual field specification to automatic field numbering");
    if (!automatic)
        f->numbering = MANUAL;
    return 0;
}

/* The argument that a field begins with; `whole`: it has no further steps. NEW. */
static py_t *
first_value(formatter_t *f, part_t name, bool whole)
{
    bool empty = name.start == name.end && (whole || !f->python), counts = whole || !f->python;
    int64_t i = py_strformat_index_of(name);

    if (i == -2)
        return NULL;
    if (counts && (empty || i >= 0) &&
        (f->python ? check_python_numbering(f, empty) : check_numbering(f, empty)) < 0)
        return NULL;
    if (empty)
        i = (int64_t) f->next++;
    if (i >= 0 && f->args == NULL)
        return py_raise(&py_ValueError, "Format string contains positional fields");
    if (i >= 0) {
        if ((uint64_t) i >= f->args->n && f->python)
            return py_raise(&py_IndexError, "tuple index out of range");
        if ((uint64_t) i >= f->args->n)
            return py_raise(&py_IndexError, "Replacement index %lld out of range for positional args tuple",
                            (long long) i);
        return py_ref(f->args->v[i]);
    }
    AUTO(py) key = py_str(name.start, (size_t) (name.end - name.start));
    if (f->args == NULL)
        return py_getitem(f->mapping, key);
    for (size_t k = 0; k < f->args->nkw; k++) {
        if (py_eq(f->args->names[k], key) > 0)
            return py_ref(f->args->kwv[k]);
    }
    return py_raise_key(key);
}

/* A step of a field name: an attribute, or an item with a number or a text as key. */
static py_t *
py_strformat_look_up(formatter_t *f, py_t *obj, part_t name, bool is_attr)
{
    int64_t i = is_attr ? -1 : py_strformat_index_of(name);

    if (i == -2)
        return NULL;
    AUTO(py) key = i >= 0 ? py_int(i) : py_str(name.start, (size_t) (name.end - name.start));
    if (f->field != NULL)
        return f->field(f->cookie, obj, key, is_attr);
    return is_attr ? py_getattr(obj, key) : py_getitem(obj, key);
}

/* Splits the next .name or [name] from `rest`. */
static int
parse_step(part_t *rest, part_t *name, bool *ret_attr)
{
    char c = *rest->start++;
    const char *p = rest->start;

    if (c != '.' && c != '[')
        return py_raise_int(&py_ValueError, "Only '.' or '[' may follow ']' in format field specifier");
    *ret_attr = c == '.';
    while (p < rest->end && (c == '.' ? *p != '.' && *p != '[' : *p != ']'))
        p++;
    if (c == '[' && p == rest->end)
        return py_raise_int(&py_ValueError, "Missing ']' in format string");
    *name = (part_t){ rest->start, p };
    rest->start = c == '[' ? p + 1 : p;
    if (name->start == name->end)
        return py_raise_int(&py_ValueError, "Empty attribute in format string");
    return 0;
}

/* ---- output ----------------------------------------------------------------------------------- */

/* !s, !r and !a. */
static py_t *
py_strformat_convert(py_t *v, uint32_t conversion)
{
    buf_auto_t out = BUF_INIT;

    switch (conversion) {
    case 0:
        return py_ref(v);
    case 's':
        return py_tostr(v);
    case 'r':
        return py_repr(v);
    case 'a':
        return py_ascii_to(&out, v) < 0 ? NULL : py_str_buf(&out);
    default:
        return py_raise(&py_ValueError,
                        conversion > 32 && conversion < 127 ? "Unknown conversion specifier %c"
                                                            : "Unknown conversion specifier \\x%x",
                        conversion);
    }
}

/* Markup's format: a value without __html__ is formatted, then escaped. */
static int
put_markup(buf_t *out, py_t *v, const char *spec, size_t len)
{
    bool html = py_is(v, PY_HOST) && py_host_class(v)->html != NULL;

    if ((py_is_markup(v) || html) && len > 0)
        return py_raise_int(&py_ValueError, "Unsupported format specification for Markup.");
    AUTO(py) text = py_is_markup(v) || html ? py_ref(v) : py_format(v, spec, len);
    AUTO(py) escaped = text != NULL ? py_escape(text) : NULL;
    return escaped != NULL ? py_str_to(out, escaped) : -1;
}

/* Formats a value. Fields within the specification are expanded first, one level deeper. */
static int
py_strformat_put_field(formatter_t *f, buf_t *out, const field_t *field, int nesting)
{
    buf_auto_t nested = BUF_INIT;
    const char *spec = field->spec.start;
    size_t len = (size_t) (field->spec.end - field->spec.start);

    /* Follows the name's steps from the first value. */
    part_t name = field->name;
    part_t first = { name.start, name.start }, rest;

    while (first.end < name.end && *first.end != '.' && *first.end != '[')
        first.end++;
    rest = (part_t){ first.end, name.end };
    AUTO(py) v = first_value(f, first, first.end == name.end);
    while (v != NULL && rest.start < rest.end) {
        part_t step;
        bool is_attr;
        py_t *next = parse_step(&rest, &step, &is_attr) < 0 ? NULL
                                                            : py_strformat_look_up(f, v, step, is_attr);
        py_unref(v);
        v = next;
    }

    AUTO(py) converted = v != NULL ? py_strformat_convert(v, field->conversion) : NULL;

    if (converted == NULL)
        return -1;
    if (field->spec_nested || (f->python && nesting == 1)) {
        if (py_strformat_put_text(f, &nested, field->spec, nesting - 1) < 0)
            return -1;
        spec = buf_str(&nested);
        len = nested.len;
    }
    size_t at = out->len;
    int rc = f->markup ? put_markup(out, converted, spec, len) : py_format_to(out, converted, spec, len);
    py_put_as(out, at, &nested);
    return rc;
}

/* Copies text up to the next field. 1: a field follows, 0: the end, -1 raised. */
static int
put_literal(buf_t *out, part_t *text)
{
    while (text->start < text->end) {
        size_t n = 0, left = (size_t) (text->end - text->start);
        while (n < left && text->start[n] != '{' && text->start[n] != '}')
            n++;
        buf_add(out, text->start, n);
        text->start += n;
        if (n == left)
            return 0;
        char c = *text->start++;
        bool twice = text->start < text->end && *text->start == c;
        if (!twice && (c == '}' || text->start == text->end))
            return py_raise_int(&py_ValueError, "Single '%c' encountered in format string", c);
        if (!twice)
            return 1;
        buf_putc(out, c);
        text->start++;
    }
    return 0;
}

static int
py_strformat_put_text(formatter_t *f, buf_t *out, part_t text, int nesting)
{
    field_t field;
    int rc;

    if (nesting <= 0)
        return py_raise_int(&py_ValueError, "Max string recursion exceeded");
    while ((rc = put_literal(out, &text)) > 0) {
        if (parse_field(&text, &field) < 0 || py_strformat_put_field(f, out, &field, nesting) < 0 ||
            py_room(out->len) < 0)
            return -1;
    }
    return rc;
}

static py_t *
format_all(formatter_t *f, py_t *tmpl)
{
    buf_auto_t out = BUF_INIT;
    part_t text = { PY_TEXT(tmpl), PY_TEXT(tmpl) + PY_LEN(tmpl) };

    f->markup = py_is_markup(tmpl);
    f->python = f->markup || f->field != NULL;
    if (py_strformat_put_text(f, &out, text, NESTING + f->python) < 0)
        return NULL;
    py_put_like(&out, 0, tmpl);
    py_t *v = py_str_buf(&out);
    v->flags |= tmpl->flags & PY_F_MARKUP;
    return v;
}

py_t *
py_format_str(py_t *tmpl, const py_args_t *args, py_field_fn *field, void *cookie)
{
    formatter_t f = { .args = args, .field = field, .cookie = cookie };

    return format_all(&f, tmpl);
}

py_t *
py_format_map(py_t *tmpl, py_t *mapping, py_field_fn *field, void *cookie)
{
    formatter_t f = { .mapping = mapping, .field = field, .cookie = cookie };

    return format_all(&f, tmpl);
}
