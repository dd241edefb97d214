/* py_percent.c - template % values, for str, Markup and bytes: directives are parsed as CPython's
 * unicode_format, with its error texts and its rules for tuples and mappings. */
#include <math.h>

#include "common/base/utf8.h"
#include "common/py/py_number_text.h"

/* State of a `template % values`. */
typedef struct percent {
    buf_t *out;
    py_t *tmpl;
    py_t *values;
    py_t *mapping; /* NULL: %(name)s raises */
    size_t next;   /* positional arguments used */
    size_t n;      /* of a tuple; a single value counts as one */
    bool single;
    py_t *held; /* the value of the last key */
} percent_t;

/* %[(key)][flags][width][.precision]type */
typedef struct directive {
    bool left, plus, space, alternate, zero;
    int64_t width, precision; /* -1: none */
    char type;
} directive_t;

/* True if %(name)s is allowed, by CPython's test: subscripts, but neither a tuple nor a text. */
static bool
py_percent_is_mapping(const py_t *v)
{
    switch (py_type(v)) {
    case PY_LIST:
    case PY_DICT:
    case PY_BYTES:
    case PY_RANGE:
    case PY_UNDEFINED:
        return true;
    case PY_HOST:
        return py_host_class(v)->find_item != NULL;
    default:
        return false;
    }
}

/* BORROWED, or NULL raised. */
static py_t *
next_value(percent_t *p)
{
    if (p->next >= p->n)
        return py_raise(&py_TypeError, "not enough arguments for format string");
    size_t i = p->next++;
    if (p->held != NULL)
        return p->held;
    return p->single ? p->values : py_seq_at(p->values, i);
}

/* ---- the directive --------------------------------------------------------------------------- */

/* %(name): that key's value replaces the values from here on. */
static int
parse_key(percent_t *p, const char **at, const char *end)
{
    int depth = 1;
    const char *start = ++*at;

    if (p->mapping == NULL)
        return py_raise_int(&py_TypeError, "format requires a mapping");
    for (; *at < end && depth > 0; ++*at)
        depth += **at == '(' ? 1 : **at == ')' ? -1 : 0;
    if (depth > 0)
        return py_raise_int(&py_ValueError, "incomplete format key");
    size_t len = (size_t) (*at - 1 - start);
    AUTO(py) key = py_is(p->tmpl, PY_BYTES) ? py_bytes(start, len) : py_str(start, len);
    py_t *found = py_getitem(p->mapping, key);
    if (found == NULL)
        return -1;
    py_unref(p->held);
    p->held = found;
    p->single = true;
    p->n = 1;
    p->next = 0;
    return 0;
}

/* A width or precision: digits, or a star that takes a value. */
static int
py_percent_parse_size(percent_t *p, const char **at, const char *end, const char *what, int64_t *ret_v)
{
    if (*at < end && **at == '*') {
        ++*at;
        py_t *v = next_value(p);
        if (v == NULL)
            return -1;
        if (!py_is_int(v))
            return py_raise_int(&py_TypeError, "* wants int");
        if (!py_to_int64(v, ret_v) || *ret_v > INT32_MAX)
            return py_raise_int(&py_OverflowError, "Python int too large to convert to C %s",
                                strcmp(what, "width") == 0 ? "ssize_t" : "int");
        return 0;
    }
    const char *start = *at;
    int64_t v = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        v = v * 10 + (**at - '0');
        if (v > INT32_MAX)
            return py_raise_int(&py_ValueError, "%s too big", what);
    }
    if (*at > start)
        *ret_v = v;
    return 0;
}

static void
parse_flags(directive_t *d, const char **at, const char *end)
{
    for (; *at < end; ++*at) {
        switch (**at) {
        case '-':
            d->left = true;
            break;
        case '+':
            d->plus = true;
            break;
        case ' ':
            d->space = true;
            break;
        case '#':
            d->alternate = true;
            break;
        case '0':
            d->zero = true;
            break;
        default:
            return;
        }
    }
}

static int
parse_directive(percent_t *p, directive_t *d, const char **at, const char *end)
{
    *d = (directive_t){ .width = -1, .precision = -1 };
    if (*at < end && **at == '(' && parse_key(p, at, end) < 0)
        return -1;
    parse_flags(d, at, end);
    if (py_percent_parse_size(p, at, end, "width", &d->width) < 0)
        return -1;
    if (d->width < -1) { /* from a star */
        d->left = true;
        d->width = -d->width;
    }
    if (*at < end && **at == '.') {
        ++*at;
        d->precision = 0;
        if (py_percent_parse_size(p, at, end, "precision", &d->precision) < 0)
            return -1;
        if (d->precision < 0)
            d->precision = 0;
    }
    if (*at < end && (**at == 'h' || **at == 'l' || **at == 'L'))
        ++*at;
    if (*at == end)
        return py_raise_int(&py_ValueError, "incomplete format");
    d->type = **at;
    return 0;
}

/* ---- output ----------------------------------------------------------------------------------- */

/* Writes a field: `prefix` (sign and base) comes before padding zeros; `points` is the number of code points
 * in `text`, which belongs to `from` (for marks). */
static int
py_percent_put_field(percent_t *p, const directive_t *d, const char *prefix, const char *text, size_t len,
                     size_t points, bool zero, const py_t *from)
{
    size_t total = strlen(prefix) + points;
    size_t gap = d->width > (int64_t) total ? (size_t) d->width - total : 0;

    if (py_room(p->out->len + gap + len) < 0)
        return -1;
    if (gap > 0 && !d->left && !zero)
        buf_fill(p->out, ' ', gap);
    buf_puts(p->out, prefix);
    if (gap > 0 && !d->left && zero)
        buf_fill(p->out, '0', gap);
    if (from != NULL)
        py_put_part(p->out, from, text, len);
    else
        buf_add(p->out, text, len);
    if (gap > 0 && d->left)
        buf_fill(p->out, ' ', gap);
    return 0;
}

static const char *
sign_of(const directive_t *d, bool negative)
{
    return negative ? "-" : d->plus ? "+" : d->space ? " " : "";
}

/* Digits with precision, prefix and sign. */
static int
put_integer(percent_t *p, const directive_t *d, py_t *v)
{
    char type = d->type == 'i' || d->type == 'u' ? 'd' : d->type;
    int base = type == 'd' ? 10 : type == 'o' ? 8 : 16;
    buf_auto_t text = BUF_INIT, digits = BUF_INIT;
    char prefix[8];

    if (py_int_text(&text, v, base) < 0 || py_room((size_t) (d->precision > 0 ? d->precision : 0)) < 0)
        return -1;
    bool negative = text.data[0] == '-';
    size_t n = text.len - negative;
    if (d->precision > (int64_t) n)
        buf_fill(&digits, '0', (size_t) d->precision - n);
    buf_add(&digits, text.data + negative, n);
    for (size_t i = 0; type == 'X' && i < digits.len; i++)
        digits.data[i] = (char) (digits.data[i] >= 'a' ? digits.data[i] - 'a' + 'A' : digits.data[i]);
    snprintf(prefix, sizeof(prefix), "%s%s", sign_of(d, negative),
             !d->alternate || base == 10 ? ""
             : type == 'o'               ? "0o"
             : type == 'x'               ? "0x"
                                         : "0X");
    return py_percent_put_field(p, d, prefix, buf_str(&digits), digits.len, digits.len, d->zero, NULL);
}

/* d, i and u truncate a float; x and o refuse it. */
static int
integer_directive(percent_t *p, const directive_t *d, py_t *v)
{
    bool based = d->type == 'x' || d->type == 'X' || d->type == 'o';
    const char *type = py_type_name(v);

    /* An undefined value has an __int__, which raises, but no __index__. */
    if (py_is(v, PY_UNDEFINED) && !based) {
        py_undef_raise(v);
        return -1;
    }
    if (py_is(v, PY_FLOAT) && !based) {
        AUTO(py) whole = py_toint(v, -1);
        return whole != NULL ? put_integer(p, d, whole) : -1;
    }
    if (!py_is_int(v))
        return py_raise_int(&py_TypeError,
                            based ? "%%%c format: an integer is required, not %s"
                                  : "%%%c format: a real number is required, not %s",
                            d->type, type);
    return put_integer(p, d, v);
}

/* Python's rules: a number of either kind, else a TypeError that depends on the template's type. */
static int
float_directive(percent_t *p, const directive_t *d, py_t *v)
{
    buf_auto_t text = BUF_INIT;
    double number;

    if (py_is(v, PY_UNDEFINED)) {
        py_undef_raise(v);
        return -1;
    }
    if (!py_is_int(v) && !py_is(v, PY_FLOAT))
        return py_raise_int(&py_TypeError,
                            py_is(p->tmpl, PY_BYTES) ? "float argument required, not %s"
                                                     : "must be real number, not %s",
                            py_type_name(v));
    if (py_is(v, PY_FLOAT))
        number = py_float_value(v);
    else if (py_int_to_double(v, &number) < 0)
        return -1;
    if (py_double_text(&text, number, d->type, d->precision < 0 ? 6 : d->precision, d->alternate) < 0)
        return -1;
    return py_percent_put_field(p, d, sign_of(d, signbit(number) && !isnan(number)), buf_str(&text), text.len,
                                text.len, d->zero, NULL);
}

/* A text of one character, or the number of one. */
static int
char_directive(percent_t *p, const directive_t *d, py_t *v)
{
    bool bytes = py_is(p->tmpl, PY_BYTES);
    int64_t cp;
    char text[4];

    if (py_is(v, bytes ? PY_BYTES : PY_STR)) {
        size_t n = bytes ? PY_LEN(v) : py_str_count(v);
        if (n == 1)
            return py_percent_put_field(p, d, "", PY_TEXT(v), PY_LEN(v), 1, false, v);
    }
    if (!py_is_int(v))
        return py_raise_int(&py_TypeError, bytes ? "%%c requires an integer in range(256) or a single byte"
                                                 : "%%c requires int or char");
    if (!py_to_int64(v, &cp) || cp < 0 || cp > (bytes ? 255 : 0x10ffff))
        return py_raise_int(&py_OverflowError,
                            bytes ? "%%c arg not in range(256)" : "%%c arg not in range(0x110000)");
    if (bytes) {
        text[0] = (char) cp;
        return py_percent_put_field(p, d, "", text, 1, 1, false, NULL);
    }
    size_t n = utf8_encode((uint32_t) cp, text), start = p->out->len;
    int rc = py_percent_put_field(p, d, "", text, n, 1, false, NULL);
    py_put_made(p->out, start);
    return rc;
}

/* %s, %r and %a. Markup escapes the value's text. */
static int
text_directive(percent_t *p, const directive_t *d, py_t *v)
{
    AUTO(py) text = NULL;

    if (py_is(p->tmpl, PY_BYTES) && (d->type == 's' || d->type == 'b')) {
        if (!py_is(v, PY_BYTES))
            return py_raise_int(
                &py_TypeError,
                "%%b requires a bytes-like object, or an object that implements __bytes__, not '%s'",
                py_type_name(v));
        text = py_ref(v);
    } else if (d->type == 's') {
        text = py_is_markup(p->tmpl) ? py_escape(v) : py_tostr(v);
    } else if (d->type == 'r' && !py_is(p->tmpl, PY_BYTES)) {
        text = py_repr(v);
    } else {
        buf_auto_t ascii = BUF_INIT;
        if (py_ascii_to(&ascii, v) == 0)
            text = py_str_buf(&ascii);
    }
    if (text != NULL && d->type != 's' && py_is_markup(p->tmpl)) {
        py_t *plain = text;
        text = py_escape(plain);
        py_unref(plain);
    }
    if (text == NULL)
        return -1;
    size_t n = py_is(text, PY_STR) ? py_str_count(text) : PY_LEN(text), len = PY_LEN(text);
    if (d->precision >= 0 && (uint64_t) d->precision < n) {
        n = (size_t) d->precision;
        len = py_is(text, PY_STR) ? py_str_offset(text, n) : n;
    }
    return py_percent_put_field(p, d, "", PY_TEXT(text), len, n, false, text);
}

typedef int directive_fn(percent_t *p, const directive_t *d, py_t *v);

/* The function for a type, or NULL. `b` is for bytes only. */
static directive_fn *
directive_of(char type, bool bytes)
{
    static const struct {
        const char *types;
        directive_fn *fn;
    } rows[] = { { "sra", text_directive },
                 { "diuxXo", integer_directive },
                 { "eEfFgG", float_directive },
                 { "c", char_directive } };

    if (type == 'b' && bytes)
        return text_directive;
    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (type != '\0' && strchr(rows[i].types, type) != NULL)
            return rows[i].fn;
    }
    return NULL;
}

/* The message's index counts characters, not bytes. */
static int
py_percent_bad_type(const percent_t *p, const char *at)
{
    uint32_t cp = (unsigned char) *at;
    size_t index = (size_t) (at - PY_TEXT(p->tmpl));

    if (py_is(p->tmpl, PY_STR)) {
        AUTO(py) before = py_str(PY_TEXT(p->tmpl), index);
        index = py_str_count(before);
        py_decode(at, &cp);
    }
    return py_raise_int(&py_ValueError, "unsupported format character '%c' (0x%x) at index %zu",
                        cp >= 32 && cp < 127 ? (char) cp : '?', cp, index);
}

/* Writes a directive; `at` is after its percent sign and is moved over it. */
static int
put_directive(percent_t *p, const char **at, const char *end)
{
    directive_t d;

    if (*at < end && **at == '%') {
        buf_putc(p->out, '%');
        ++*at;
        return 0;
    }
    if (parse_directive(p, &d, at, end) < 0)
        return -1;
    py_t *v = next_value(p);
    if (v == NULL)
        return -1;
    directive_fn *fn = directive_of(d.type, py_is(p->tmpl, PY_BYTES));
    if (fn == NULL)
        return py_percent_bad_type(p, *at);
    ++*at;
    return fn(p, &d, v);
}

static int
put_all(percent_t *p)
{
    const char *at = PY_TEXT(p->tmpl), *end = at + PY_LEN(p->tmpl);

    while (at < end) {
        const char *mark = memchr(at, '%', (size_t) (end - at));
        size_t n = (size_t) ((mark != NULL ? mark : end) - at);
        py_put_part(p->out, p->tmpl, at, n);
        at += n;
        if (mark == NULL)
            break;
        at++;
        if (put_directive(p, &at, end) < 0)
            return -1;
    }
    if (p->next < p->n && p->mapping == NULL)
        return py_raise_int(&py_TypeError, "not all arguments converted during %s formatting",
                            py_is(p->tmpl, PY_BYTES) ? "bytes" : "string");
    return 0;
}

py_t *
py_percent(py_t *tmpl, py_t *values)
{
    buf_auto_t out = BUF_INIT;
    bool many = py_is(values, PY_TUPLE);
    percent_t p = { .out = &out,
                    .tmpl = tmpl,
                    .values = values,
                    .mapping = py_percent_is_mapping(values) && py_type(values) != py_type(tmpl) ? values
                                                                                                 : NULL,
                    .n = many ? py_seq_len(values) : 1,
                    .single = !many };
    int rc = put_all(&p);

    py_unref(p.held);
    if (rc < 0)
        return NULL;
    if (py_is(tmpl, PY_BYTES))
        return py_text_buf(tmpl, &out);
    py_t *v = py_str_buf(&out);
    v->flags |= tmpl->flags & PY_F_MARKUP;
    return v;
}

int
py_ascii_to(buf_t *out, py_t *v)
{
    buf_auto_t text = BUF_INIT;

    if (py_repr_to(&text, v) < 0)
        return -1;
    size_t at = out->len;
    for (size_t i = 0; i < text.len;) {
        uint32_t cp;
        i += py_decode(text.data + i, &cp);
        if (cp < 0x80)
            buf_putc(out, (char) cp);
        else
            buf_printf(out, cp <= 0xff ? "\\x%02x" : cp <= 0xffff ? "\\u%04x" : "\\U%08x", cp);
    }
    py_put_as(out, at, &text);
    return 0;
}
