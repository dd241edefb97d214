/* py_convert.c - int(), float() and round(). Texts are normalised to ASCII digits first, then parsed by
 * Python's grammar, underscores and prefixes included. */
#include <math.h>
#include <strings.h>

#include "common/py/py_unicode.h"
#include "common/py/py_obj.h"

/* CPython's limit for the conversion of text to an int, whose time grows with the square of the digits. */
enum { MAX_STR_DIGITS = 4300 };

/* ---- text to numbers ------------------------------------------------------------------------- */

/* ASCII copy of a number's text: digits of any script become ASCII, white space around is dropped, other
 * characters become '?'. NEW. */
static char *
plain_digits(const py_t *v)
{
    buf_auto_t out = BUF_INIT;
    const char *p = PY_TEXT(v), *end = p + PY_LEN(v);

    for (uint32_t cp; p < end;) {
        p += py_is(v, PY_STR) ? py_decode(p, &cp) : (cp = (unsigned char) *p, (size_t) 1);
        int digit = cp < 0x80 ? -1 : py_uni_decimal(cp);
        if (digit >= 0)
            buf_putc(&out, (char) ('0' + digit));
        else if (cp >= 0x80 && py_is(v, PY_STR) && py_uni_is(cp, PY_UNI_SPACE))
            buf_putc(&out, ' ');
        else if (cp == 0 || cp >= 0x80)
            buf_putc(&out, '?');
        else
            buf_putc(&out, (char) cp);
    }
    while (out.len > 0 && strchr(" \t\n\r\v\f\x1c\x1d\x1e\x1f", out.data[out.len - 1]) != NULL)
        out.data[--out.len] = '\0';
    size_t lead = strspn(buf_str(&out), " \t\n\r\v\f\x1c\x1d\x1e\x1f");
    buf_consume(&out, lead);
    return buf_steal(&out);
}

/* Removes single underscores between digits; false when one is elsewhere. */
static bool
drop_underscores(char *text, bool after_prefix)
{
    char *to = text;
    bool digit = after_prefix;

    for (const char *p = text; *p != '\0'; p++) {
        bool alnum = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        if (*p == '_') {
            char next = p[1];
            bool next_alnum = (next >= '0' && next <= '9') || (next >= 'a' && next <= 'z') ||
                              (next >= 'A' && next <= 'Z');
            if (!digit || !next_alnum)
                return false;
            digit = false;
            continue;
        }
        digit = alnum;
        *to++ = *p;
    }
    *to = '\0';
    return true;
}

/* Value of a digit or letter; 99, which no base reaches, for other characters. */
static int
py_convert_digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
}

/* Base of a prefix 0x, 0o or 0b, or 0. */
static int
prefix_base(const char *p)
{
    static const struct {
        char letter;
        int base;
    } rows[] = { { 'x', 16 }, { 'o', 8 }, { 'b', 2 } };

    for (size_t i = 0; p[0] == '0' && i < NELEMS(rows); i++) {
        if ((p[1] | 0x20) == rows[i].letter)
            return rows[i].base;
    }
    return 0;
}

/* Integer from digits in a base (0: by prefix). NEW; NULL without raising when it is none, or raised for too
 * many decimal digits. */
static py_t *
parse_digits(char *p, int base, bool negative)
{
    bool prefixed = prefix_base(p) != 0 && (base == 0 || base == prefix_base(p));

    if (prefixed) {
        base = prefix_base(p);
        p += 2;
    }
    bool decimal_guess = base == 0;
    if (decimal_guess)
        base = 10;
    if (*p == '\0' || !drop_underscores(p, prefixed))
        return NULL;
    for (const char *q = p; *q != '\0'; q++) {
        if (py_convert_digit_value(*q) >= base)
            return NULL;
    }
    if (decimal_guess && *p == '0' && strspn(p, "0") != strlen(p)) /* 0123 is not a literal */
        return NULL;
    if ((base & (base - 1)) != 0 && strlen(p) > MAX_STR_DIGITS)
        return py_raise(&py_ValueError,
                        "Exceeds the limit (%d digits) for integer string conversion: value has %zu digits; "
                        "use sys.set_int_max_str_digits() to increase the limit",
                        MAX_STR_DIGITS, strlen(p));
    mpz_t z;
    mpz_init_set_str(z, p, base);
    if (negative)
        mpz_neg(z, z);
    py_t *v = py_from_mpz(z);
    mpz_clear(z);
    return v;
}

/* int(text, base), with the text's repr in the message. */
static py_t *
int_from_text(py_t *text, int base)
{
    AUTO_FREE char *plain = plain_digits(text);
    bool sign = *plain == '-' || *plain == '+';

    py_t *v = parse_digits(plain + sign, base, *plain == '-');
    if (v != NULL || py_raised() != NULL)
        return v;
    AUTO(py) shown = py_repr(text);
    return py_raise(&py_ValueError, "invalid literal for int() with base %d: %.200s", base, PY_TEXT(shown));
}

/* Truncates, as int() does. */
static py_t *
int_from_float(double d)
{
    if (isinf(d))
        return py_raise(&py_OverflowError, "cannot convert float infinity to integer");
    if (isnan(d))
        return py_raise(&py_ValueError, "cannot convert float NaN to integer");
    return py_int_from_double(trunc(d));
}

py_t *
py_toint(py_t *v, int base)
{
    if (base >= 0) {
        if (base == 1 || base > 36)
            return py_raise(&py_ValueError, "int() base must be >= 2 and <= 36, or 0");
        if (!py_is(v, PY_STR) && !py_is(v, PY_BYTES))
            return py_raise(&py_TypeError, "int() can't convert non-string with explicit base");
    }
    switch (py_type(v)) {
    case PY_INT:
        return py_ref(v);
    case PY_BOOL:
        return py_int(v->aux);
    case PY_FLOAT:
        return int_from_float(py_float_value(v));
    case PY_STR:
    case PY_BYTES:
        return int_from_text(v, base < 0 ? 10 : base);
    case PY_UNDEFINED:
        return py_undef_raise(v);
    default:
        return py_raise(&py_TypeError,
                        "int() argument must be a string, a bytes-like object or a real number, not '%s'",
                        py_type_name(v));
    }
}

/* strtod() would also take hexadecimal numbers and other words, so the text is checked first. */
static py_t *
float_from_text(py_t *text)
{
    AUTO_FREE char *plain = plain_digits(text);
    const char *word = plain + (*plain == '-' || *plain == '+');
    char *end;
    bool named = strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0 ||
                 strcasecmp(word, "nan") == 0;

    if (drop_underscores(plain, false) && *plain != '\0' &&
        (named || strspn(plain, "0123456789.eE+-") == strlen(plain))) {
        double d = strtod(plain, &end);
        if (*end == '\0')
            return py_float(d);
    }
    AUTO(py) shown = py_repr(text);
    return py_raise(&py_ValueError, "could not convert string to float: %s", PY_TEXT(shown));
}

py_t *
py_tofloat(py_t *v)
{
    double d;

    switch (py_type(v)) {
    case PY_INT:
    case PY_BOOL:
        return py_int_to_double(v, &d) < 0 ? NULL : py_float(d);
    case PY_FLOAT:
        return py_ref(v);
    case PY_STR:
    case PY_BYTES:
        return float_from_text(v);
    case PY_UNDEFINED:
        return py_undef_raise(v);
    default:
        return py_raise(&py_TypeError, "float() argument must be a string or a real number, not '%s'",
                        py_type_name(v));
    }
}

/* ---- round() ---------------------------------------------------------------------------------- */

/* Rounds an int to a multiple of 10**n, ties to even. */
static py_t *
round_int(py_t *v, int64_t n)
{
    AUTO(py) unit = n < 20000 ? py_int_binary(PY_POW, py_int(10), py_int(n)) : NULL;

    if (unit == NULL)
        return py_raised() != NULL ? NULL : py_int(0);
    AUTO(py) rest = py_int_binary(PY_MOD, v, unit);
    AUTO(py) down = py_int_binary(PY_SUB, v, rest);
    AUTO(py) twice = py_int_binary(PY_MUL, rest, py_int(2));
    int order = py_int_compare(twice, unit);
    if (order == 0) {
        AUTO(py) count = py_int_binary(PY_FLOORDIV, down, unit);
        AUTO(py) odd = py_int_binary(PY_MOD, count, py_int(2));
        order = py_truth(odd) > 0 ? 1 : -1;
    }
    return order > 0 ? py_int_binary(PY_ADD, down, unit) : STEAL(down);
}

/* Rounds a float to 10**n with n > 0 by printf's exact decimal expansion, so that ties are decided exactly.
 */
static double
round_up_there(double d, int n)
{
    char text[64];

    snprintf(text, sizeof(text), "%.17e", d);
    int exponent = (int) strtol(strchr(text, 'e') + 1, NULL, 10), digits = exponent - n;
    if (digits >= 0) {
        AUTO_FREE char *rounded = xasprintf("%.*e", digits, d);
        return strtod(rounded, NULL);
    }
    snprintf(text, sizeof(text), "5e%d", n - 1);
    if (digits < -1 || fabs(d) <= strtod(text, NULL))
        return copysign(0.0, d);
    snprintf(text, sizeof(text), "1e%d", n);
    return copysign(strtod(text, NULL), d);
}

py_t *
py_round(py_t *v, py_t *digits)
{
    int64_t n = 0;

    if (!py_is_int(v) && !py_is(v, PY_FLOAT))
        return py_raise(&py_TypeError, "type %s doesn't define __round__ method", py_type_name(v));
    bool given = digits != NULL && !py_is(digits, PY_NONE);
    if (given && py_index(digits, &n) < 0)
        return NULL;
    if (py_is_int(v))
        return n < 0 ? round_int(v, n < -30000 ? 30000 : -n) : py_unary(PY_POS, v);
    double d = py_float_value(v);
    if (given) {
        /* printf rounds the exact decimal value, which is what CPython does. Digits beyond a double's
         * range change nothing, or leave nothing. */
        if (!isfinite(d) || n > 323)
            return py_float(d);
        if (n < -308)
            return py_float(copysign(0.0, d));
        if (n >= 0) {
            AUTO_FREE char *text = xasprintf("%.*f", (int) n, d);
            d = strtod(text, NULL);
        } else {
            d = round_up_there(d, (int) -n);
        }
        if (isinf(d))
            return py_raise(&py_OverflowError, "rounded value too large to represent");
        return py_float(d);
    }
    if (!isfinite(d))
        return int_from_float(d);
    return int_from_float(nearbyint(d));
}
