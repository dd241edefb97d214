/* py_format.c - format(value, spec): the specification is parsed as CPython's
 * parse_internal_render_format_spec, a number is split into sign, prefix, digits and rest, and laid out with
 * padding and separators. */
#include <math.h>

#include "common/base/realtext.h"
#include "common/base/utf8.h"
#include "common/py/py_number_text.h"

/* A format specification: [[fill]align][sign][z][#][0][width][grouping][.precision][type]. */
typedef struct spec {
    uint32_t fill;
    char align, sign;
    bool alternate, no_minus_zero;
    int64_t width, precision; /* -1: not given */
    char grouping;            /* 0 , or _ */
    uint32_t type;
} spec_t;

/* A number split where padding and separators go. */
typedef struct number {
    const char *sign, *prefix, *digits, *rest;
    size_t n_digits;
} number_t;

int
py_format_number(const char **p, const char *end, int64_t *ret_v)
{
    const char *start = *p;
    int64_t v = 0;

    for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
        if (v > (INT64_MAX - (**p - '0')) / 10)
            return py_raise_int(&py_ValueError, "Too many decimal digits in format string");
        v = v * 10 + (**p - '0');
    }
    *ret_v = *p > start ? v : -1;
    return 0;
}

/* Digits that a double can have: snprintf is asked for no more, and zeros are added. */
enum { DIGITS_MAX = 1100, NUMBER_MAX = DIGITS_MAX + 400 };

int
py_double_text(buf_t *out, double d, char type, int64_t precision, bool alternate)
{
    bool upper = type >= 'A' && type <= 'Z';
    char text[NUMBER_MAX];

    if (!isfinite(d)) {
        buf_puts(out, isnan(d) ? upper ? "NAN" : "nan" : upper ? "INF" : "inf");
        return 0;
    }
    if (type == 'r') {
        realtext_add(out, fabs(d));
        return 0;
    }
    if (precision > INT32_MAX)
        return py_raise_int(&py_ValueError, "precision too big");
    int digits = precision > DIGITS_MAX ? DIGITS_MAX : (int) precision;
    bool zeros = alternate || strchr("gG", type) == NULL;
    size_t missing = zeros ? (size_t) (precision - digits) : 0;
    if (py_room(missing) < 0)
        return -1;
    char format[] = { '%', '#', '.', '*', type, '\0' };
    if (!alternate)
        memmove(format + 1, format + 2, sizeof(format) - 2);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int n = snprintf(text, sizeof(text), format, digits, fabs(d));
#pragma GCC diagnostic pop
    salt_assert(n > 0 && n < NUMBER_MAX);
    /* The digits that snprintf was not asked for are zeros, before the exponent if there is one. */
    size_t mantissa = strcspn(text, "eE");
    buf_add(out, text, mantissa);
    buf_fill(out, '0', missing);
    buf_puts(out, text + mantissa);
    return 0;
}

/* ---- the specification ----------------------------------------------------------------------- */

static bool
is_align(char c)
{
    return c == '<' || c == '>' || c == '=' || c == '^';
}

/* Parses fill and alignment, and tells which were given. */
static const char *
parse_align(const char *p, const char *end, spec_t *s, bool *ret_fill, bool *ret_align)
{
    uint32_t cp;
    size_t n = p < end ? py_decode(p, &cp) : 0;

    *ret_fill = *ret_align = false;
    if (n > 0 && p + n < end && is_align(p[n])) {
        s->fill = cp;
        s->align = p[n];
        *ret_fill = *ret_align = true;
        return p + n + 1;
    }
    if (p < end && is_align(*p)) {
        s->align = *p;
        *ret_align = true;
        return p + 1;
    }
    return p;
}

/* .N after the width. */
static int
parse_precision(const char **p, const char *end, spec_t *s)
{
    if (*p == end || **p != '.')
        return 0;
    ++*p;
    if (py_format_number(p, end, &s->precision) < 0)
        return -1;
    if (s->precision < 0)
        return py_raise_int(&py_ValueError, "Format specifier missing precision");
    return 0;
}

/* A comma or an underscore; '!' stands for both, which is an error. */
static int
parse_grouping(const char **p, const char *end, spec_t *s)
{
    if (*p < end && **p == ',') {
        s->grouping = ',';
        ++*p;
    }
    if (*p < end && **p == '_') {
        if (s->grouping == 0)
            s->grouping = '_';
        else
            s->grouping = '!';
        ++*p;
    }
    if (s->grouping == '!' || (s->grouping == '_' && *p < end && **p == ','))
        return py_raise_int(&py_ValueError, "Cannot specify both ',' and '_'.");
    return 0;
}

static bool
py_format_is_one_of(uint32_t type, const char *types)
{
    return type != 0 && type < 0x80 && strchr(types, (int) type) != NULL;
}

/* [[fill]align][sign][z][#][0][width][grouping][.precision][type]. */
static int
py_format_parse_spec(const char *p, size_t len, py_t *v, char default_align, uint32_t default_type, spec_t *s)
{
    const char *const start = p, *const end = p + len;
    bool fill_given, align_given;

    *s = (spec_t){ .fill = ' ', .align = default_align, .width = -1, .precision = -1, .type = default_type };
    p = parse_align(p, end, s, &fill_given, &align_given);
    if (p < end && (*p == ' ' || *p == '+' || *p == '-'))
        s->sign = *p++;
    if (p < end && *p == 'z') {
        s->no_minus_zero = true;
        p++;
    }
    if (p < end && *p == '#') {
        s->alternate = true;
        p++;
    }
    if (!fill_given && p < end && *p == '0') {
        s->fill = '0';
        if (!align_given && default_align == '>')
            s->align = '=';
        p++;
    }
    if (py_format_number(&p, end, &s->width) < 0 || parse_grouping(&p, end, s) < 0 ||
        parse_precision(&p, end, s) < 0)
        return -1;
    if (p < end) {
        size_t n = py_decode(p, &s->type);
        if (p + n < end)
            return py_raise_int(&py_ValueError, "Invalid format specifier '%.*s' for object of type '%s'",
                                (int) len, start, py_type_name(v));
    }

    /* An underscore also groups other bases, a comma only decimal numbers. */
    bool plain = s->type == 0 || py_format_is_one_of(s->type, "deEfFgG%");
    bool based = py_format_is_one_of(s->type, "boxX");
    if (s->grouping == 0 || plain || (based && s->grouping == '_'))
        return 0;
    if (s->type > 32 && s->type < 128)
        return py_raise_int(&py_ValueError, "Cannot specify '%c' with '%c'.", s->grouping, (char) s->type);
    return py_raise_int(&py_ValueError, "Cannot specify '%c' with '\\x%x'.", s->grouping, s->type);
}

static int
unknown_type(const spec_t *s, py_t *v)
{
    if (s->type > 32 && s->type < 128)
        return py_raise_int(&py_ValueError, "Unknown format code '%c' for object of type '%s'",
                            (char) s->type, py_type_name(v));
    return py_raise_int(&py_ValueError, "Unknown format code '\\x%x' for object of type '%s'", s->type,
                        py_type_name(v));
}

/* ---- layout ----------------------------------------------------------------------------------- */

static void
put_fill(buf_t *out, uint32_t cp, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        py_put_char(out, cp);
}

/* Appends `text` of `n` code points, padded to the width. */
static int
put_padded(buf_t *out, const spec_t *s, const char *text, size_t len, int64_t n)
{
    int64_t gap = s->width > n ? s->width - n : 0;
    int64_t left = s->align == '>' ? gap : s->align == '^' ? gap / 2 : 0;

    if (gap > 0 && py_room((size_t) gap > SIZE_MAX / 8 ? SIZE_MAX : (size_t) gap * 4) < 0)
        return -1;
    put_fill(out, s->fill, left);
    buf_add(out, text, len);
    put_fill(out, s->fill, gap - left);
    return 0;
}

/* Writes sign, prefix, grouped digits and the rest, padded. Zero padding is part of the digits, as it is
 * grouped with them. */
static int
py_format_put_number(buf_t *out, const spec_t *s, const number_t *num)
{
    size_t fixed = strlen(num->sign) + strlen(num->prefix) + strlen(num->rest);
    int64_t min_width = s->fill == '0' && s->align == '=' ? s->width - (int64_t) fixed : 0;
    buf_auto_t digits = BUF_INIT;

    if (s->width > 0 && py_room((size_t) s->width > SIZE_MAX / 8 ? SIZE_MAX : (size_t) s->width * 4) < 0)
        return -1;
    if (s->grouping != 0) {
        /* Digits with separators, at least `min_width` wide by leading zeros. Groups are built from the
         * right, then reversed. */
        char separator = s->grouping;
        int group = py_format_is_one_of(s->type, "boxX") ? 4 : 3;
        int64_t remaining = (int64_t) num->n_digits;
        buf_auto_t back = BUF_INIT;
        for (;;) {
            int64_t len = remaining > min_width ? remaining : min_width;
            len = len < 1 ? 1 : len > group ? group : len;
            int64_t chars = remaining < len ? remaining : len;
            for (int64_t i = 0; i < chars; i++)
                buf_putc(&back, num->digits[--remaining]);
            buf_fill(&back, '0', (size_t) (len - chars));
            min_width -= len;
            if (remaining <= 0 && min_width <= 0)
                break;
            buf_putc(&back, separator);
            min_width--;
        }
        for (size_t i = back.len; i-- > 0;)
            buf_putc(&digits, back.data[i]);
    } else {
        buf_add(&digits, num->digits, num->n_digits);
    }
    if (num->n_digits == 0)
        buf_clear(&digits);
    int64_t gap = s->width - (int64_t) (fixed + digits.len);
    gap = gap < 0 ? 0 : gap;
    int64_t left = s->align == '>' ? gap : s->align == '^' ? gap / 2 : 0;
    put_fill(out, s->fill, left);
    buf_puts(out, num->sign);
    buf_puts(out, num->prefix);
    if (s->align == '=')
        put_fill(out, s->fill, gap);
    buf_add(out, buf_str(&digits), digits.len);
    buf_puts(out, num->rest);
    if (s->align == '^' || s->align == '<')
        put_fill(out, s->fill, gap - left);
    return 0;
}

static const char *
sign_text(const spec_t *s, bool negative)
{
    return negative ? "-" : s->sign == '+' ? "+" : s->sign == ' ' ? " " : "";
}

/* ---- str, int, float ------------------------------------------------------------------------- */

static int
py_format_refuse(const char *what)
{
    return py_raise_int(&py_ValueError, "%s not allowed in string format specifier", what);
}

static int
format_text(buf_t *out, py_t *v, const char *spec, size_t len)
{
    spec_t s;

    if (py_format_parse_spec(spec, len, v, '<', 's', &s) < 0)
        return -1;
    if (s.type != 's')
        return unknown_type(&s, v);
    if (s.sign != 0)
        return py_format_refuse(s.sign == ' ' ? "Space" : "Sign");
    if (s.no_minus_zero)
        return py_format_refuse("Negative zero coercion (z)");
    if (s.alternate)
        return py_format_refuse("Alternate form (#)");
    if (s.align == '=')
        return py_format_refuse("'=' alignment");
    size_t n = py_str_count(v), bytes = PY_LEN(v);
    if (s.precision >= 0 && (uint64_t) s.precision < n) {
        n = (size_t) s.precision;
        bytes = py_str_offset(v, n);
    }
    size_t at = out->len;
    int rc = put_padded(out, &s, PY_TEXT(v), bytes, (int64_t) n);
    py_put_like(out, at, v);
    return rc;
}

static int
format_integer(buf_t *out, py_t *v, const spec_t *s)
{
    static const struct {
        char type;
        int base;
        const char *prefix;
    } bases[] = { { 'd', 10, "" },  { 'n', 10, "" },   { 'b', 2, "0b" },
                  { 'o', 8, "0o" }, { 'x', 16, "0x" }, { 'X', 16, "0X" } };
    buf_auto_t text = BUF_INIT;
    size_t row = 0;

    if (s->precision >= 0)
        return py_raise_int(&py_ValueError, "Precision not allowed in integer format specifier");
    if (s->no_minus_zero)
        return py_raise_int(&py_ValueError,
                            "Negative zero coercion (z) not allowed in integer format specifier");
    if (s->type == 'c') {
        /* Type c: the character with that code point. */
        int64_t cp;
        char bytes[4];
        if (s->sign != 0)
            return py_raise_int(&py_ValueError, "Sign not allowed with integer format specifier 'c'");
        if (s->alternate)
            return py_raise_int(&py_ValueError,
                                "Alternate form (#) not allowed with integer format specifier 'c'");
        if (!py_to_int64(v, &cp))
            return py_raise_int(&py_OverflowError, "Python int too large to convert to C long");
        if (cp < 0 || cp > 0x10ffff)
            return py_raise_int(&py_OverflowError, "%%c arg not in range(0x110000)");
        size_t n = utf8_encode((uint32_t) cp, bytes);
        spec_t padded = *s;
        if (s->align == '=')
            padded.align = '>';
        size_t at = out->len;
        int rc = put_padded(out, &padded, bytes, n, 1);
        py_put_made(out, at);
        return rc;
    }
    while ((uint32_t) bases[row].type != s->type)
        row++;
    if (py_int_text(&text, v, bases[row].base) < 0)
        return -1;
    if (s->type == 'X') {
        for (size_t i = 0; i < text.len; i++)
            text.data[i] = (char) (text.data[i] >= 'a' ? text.data[i] - 'a' + 'A' : text.data[i]);
    }
    bool negative = text.data[0] == '-';
    const number_t num = { sign_text(s, negative), s->alternate ? bases[row].prefix : "",
                           text.data + negative, "", text.len - negative };
    return py_format_put_number(out, s, &num);
}

/* Removes trailing zeros of a fraction, and the point with them, unless one digit must stay. */
static void
strip_zeros(buf_t *text, bool keep_one)
{
    while (text->len > 0 && text->data[text->len - 1] == '0')
        text->len--;
    if (text->data[text->len - 1] == '.' && !keep_one)
        text->len--;
    text->data[text->len] = '\0';
    if (text->data[text->len - 1] == '.')
        buf_putc(text, '0');
}

/* Float without a type: as repr(), or with a precision as 'g' with at least one digit after the point. */
static int
plain_text(buf_t *out, double d, int64_t precision, bool alternate)
{
    if (!isfinite(d) || precision < 0) {
        py_double_text(out, d, 'r', 0, false);
        char *e = isfinite(d) && alternate && strchr(out->data, '.') == NULL ? strchr(out->data, 'e') : NULL;
        if (e != NULL) {
            AUTO_FREE char *tail = xstrdup(e);
            out->len = (size_t) (e - out->data);
            buf_printf(out, ".%s", tail);
        }
        return 0;
    }
    if (precision > INT32_MAX)
        return py_raise_int(&py_ValueError, "precision too big");
    precision = precision == 0 ? 1 : !alternate && precision > DIGITS_MAX ? DIGITS_MAX : precision;
    if (py_double_text(out, d, 'e', precision - 1, alternate) < 0)
        return -1;
    char *e = strchr(out->data, 'e');
    long exponent = strtol(e + 1, NULL, 10);
    if (exponent >= -4 && exponent < precision - 1) {
        buf_clear(out);
        if (py_double_text(out, d, 'f', precision - 1 - exponent, alternate) < 0)
            return -1;
        if (!alternate)
            strip_zeros(out, true);
        return 0;
    }
    if (!alternate && precision > 1) {
        AUTO_FREE char *tail = xstrdup(e);
        out->len = (size_t) (e - out->data);
        strip_zeros(out, false);
        buf_puts(out, tail);
    }
    return 0;
}

static int
format_real(buf_t *out, double d, const spec_t *s)
{
    buf_auto_t text = BUF_INIT;
    char type = (char) s->type;
    int64_t precision = s->precision;

    if (type == '%') {
        d *= 100;
        type = 'f';
    }
    if (type == 'n')
        type = 'g';
    int rc = type == 0 ? plain_text(&text, d, precision, s->alternate)
                       : py_double_text(&text, d, type, precision < 0 ? 6 : precision, s->alternate);
    if (rc < 0)
        return -1;
    /* `z` drops the sign of a number that is zero as it is shown: no digit but 0 before the exponent. */
    const char *shown = buf_str(&text);
    bool zero = strspn(shown, "0.,_%") == strcspn(shown, "eE");
    bool negative = signbit(d) && !isnan(d) && !(s->no_minus_zero && zero);
    if (s->type == '%')
        buf_putc(&text, '%');
    size_t n = strspn(text.data, "0123456789");
    const number_t num = { sign_text(s, negative), "", text.data, text.data + n, n };
    return py_format_put_number(out, s, &num);
}

/* An int formatted by a float's type is converted first. */
static int
format_int(buf_t *out, py_t *v, const char *spec, size_t len)
{
    spec_t s;
    double d;

    if (py_format_parse_spec(spec, len, v, '>', 'd', &s) < 0)
        return -1;
    if (py_format_is_one_of(s.type, "dnboxXc"))
        return format_integer(out, v, &s);
    if (!py_format_is_one_of(s.type, "eEfFgG%"))
        return unknown_type(&s, v);
    return py_int_to_double(v, &d) < 0 ? -1 : format_real(out, d, &s);
}

static int
format_float(buf_t *out, py_t *v, const char *spec, size_t len)
{
    spec_t s;

    if (py_format_parse_spec(spec, len, v, '>', 0, &s) < 0)
        return -1;
    if (s.type != 0 && s.type != 'n' && !py_format_is_one_of(s.type, "eEfFgG%"))
        return unknown_type(&s, v);
    return format_real(out, py_float_value(v), &s);
}

int
py_format_to(buf_t *out, py_t *v, const char *spec, size_t len)
{
    if (len == 0)
        return py_str_to(out, v);
    switch (py_type(v)) {
    case PY_STR:
        return format_text(out, v, spec, len);
    case PY_BOOL:
    case PY_INT:
        return format_int(out, v, spec, len);
    case PY_FLOAT:
        return format_float(out, v, spec, len);
    default:
        return py_raise_int(&py_TypeError, "unsupported format string passed to %s.__format__",
                            py_type_name(v));
    }
}

py_t *
py_format(py_t *v, const char *spec, size_t len)
{
    buf_auto_t out = BUF_INIT;

    if (len == 0 && py_is(v, PY_STR) && !py_is_markup(v))
        return py_ref(v);
    return py_format_to(&out, v, spec, len) < 0 ? NULL : py_str_buf(&out);
}
