/* yaml_number.c - the numbers and base64 texts of YAML 1.1 as PyYAML and Salt construct them.
 *
 * Integers may be binary, octal, hexadecimal or base 60 and of any size up to Python's limit of 4300 digits
 * for conversions; they are accumulated in decimal limbs, as their decimal text is the result beyond 64 bits.
 * Floats may be base 60. */
#include "common/data/yaml_scalar.h"

#include <math.h>
#include <strings.h>

#include "common/base/buf.h"

enum { PYTHON_MAX_DIGITS = 4300, LIMB = 1000000000, MAX_LIMBS = PYTHON_MAX_DIGITS / 9 + 2 };

/* A decimal accumulator: little-endian limbs of nine digits. */
typedef struct big {
    uint32_t limbs[MAX_LIMBS];
    size_t n;
    bool overflow;
} big_t;

/* b = b * base + digit. Quadratic in the number of digits, which the limbs bound. */
static void
big_push(big_t *b, unsigned base, unsigned digit)
{
    uint64_t carry = digit;

    for (size_t i = 0; i < b->n; i++) {
        carry += (uint64_t) b->limbs[i] * base;
        b->limbs[i] = (uint32_t) (carry % LIMB);
        carry /= LIMB;
    }
    if (carry == 0)
        return;
    if (b->n == MAX_LIMBS)
        b->overflow = true;
    else
        b->limbs[b->n++] = (uint32_t) carry;
}

/* Chooses between a 64-bit value and decimal text. strtoll's ERANGE tells them apart. */
static yaml_int_t
big_result(const big_t *b, bool negative, json_int_t *ret_v, char **ret_digits)
{
    buf_auto_t text = BUF_INIT;

    if (b->overflow)
        return YAML_INT_HUGE;
    if (negative && b->n > 0)
        buf_putc(&text, '-');
    buf_printf(&text, "%u", b->n > 0 ? b->limbs[b->n - 1] : 0);
    for (size_t i = b->n; i-- > 1;)
        buf_printf(&text, "%09u", b->limbs[i - 1]);
    if (text.len - (negative ? 1 : 0) > PYTHON_MAX_DIGITS)
        return YAML_INT_HUGE;
    errno = 0;
    *ret_v = strtoll(buf_str(&text), NULL, 10);
    if (errno == 0)
        return YAML_INT_64;
    *ret_digits = buf_steal(&text);
    return YAML_INT_BIG;
}

/* Value of one digit in up to base 16, or 16. */
static unsigned
yaml_number_digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned) (c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned) (c - 'a' + 10);
    return c >= 'A' && c <= 'F' ? (unsigned) (c - 'A' + 10) : 16;
}

static bool
push_digits(big_t *b, const char *p, const char *end, unsigned base)
{
    if (p == end)
        return false;
    for (; p < end && !b->overflow; p++) {
        unsigned digit = yaml_number_digit_value(*p);
        if (digit >= base)
            return false;
        big_push(b, base, digit);
    }
    return true;
}

/* 1:30:00, each part worth sixty of the next. Parts are small after the first in any plain scalar; an
 * explicit !!int may have larger ones. */
static bool
push_sixties(big_t *b, const char *p, const char *end)
{
    const char *colon = memchr(p, ':', (size_t) (end - p));

    if (colon == NULL)
        colon = end;
    if (!push_digits(b, p, colon, 10))
        return false;
    while (colon < end && !b->overflow) {
        unsigned long part = 0;
        p = colon + 1;
        colon = memchr(p, ':', (size_t) (end - p));
        if (colon == NULL)
            colon = end;
        if (p == colon || colon - p > 6)
            return false;
        for (; p < colon; p++) {
            if (*p < '0' || *p > '9')
                return false;
            part = part * 10 + (unsigned long) (*p - '0');
        }
        big_push(b, 60, (unsigned) part);
    }
    return true;
}

/* Removes underscores, and the leading zeros that Salt's loader drops so that 0644 is decimal; "0b" and "0x"
 * keep theirs. */
static void
clean_int(buf_t *out, const char *text, size_t len)
{
    const char *end = text + len;

    if (len > 1 && *text == '0' && text[1] != 'b' && text[1] != 'x') {
        while (text < end && *text == '0')
            text++;
        if (text == end)
            buf_putc(out, '0');
    }
    for (; text < end; text++) {
        if (*text != '_')
            buf_putc(out, *text);
    }
}

yaml_int_t
yaml_to_int(const char *text, size_t len, json_int_t *ret_v, char **ret_digits)
{
    buf_auto_t clean = BUF_INIT;
    big_t b;
    bool ok;

    b.n = 0;
    b.overflow = false;
    clean_int(&clean, text, len);
    const char *p = buf_str(&clean), *end = p + clean.len;
    bool negative = *p == '-';
    if (negative || *p == '+')
        p++;
    if (p == end)
        return YAML_INT_BAD;
    if (*p != '0')
        ok = push_sixties(&b, p, end);
    else if (p[1] == 'b' || p[1] == 'x')
        ok = push_digits(&b, p + 2, end, p[1] == 'b' ? 2 : 16);
    else
        ok = push_digits(&b, p, end, 8);
    return ok ? big_result(&b, negative, ret_v, ret_digits) : YAML_INT_BAD;
}

/* Python's float(): decimal only, so C's hexadecimal floats are refused. */
static bool
python_float(const char *text, double *ret_v)
{
    static const char *const names[] = { "inf", "infinity", "nan" };
    const char *bare = text + (*text == '-' || *text == '+');
    char *end;

    *ret_v = strtod(text, &end);
    if (end == text || *end != '\0')
        return false;
    for (size_t i = 0; i < NELEMS(names); i++) {
        if (strcasecmp(bare, names[i]) == 0)
            return true;
    }
    return strspn(bare, "0123456789.eE+-") == strlen(bare);
}

/* Base-60 float, "1:30.5" is 90.5. Cuts `text` apart at its colons. */
static bool
sixties_float(char *text, double *ret_v)
{
    double total = 0.0, part;

    for (char *p = text, *colon; p != NULL; p = colon) {
        colon = strchr(p, ':');
        if (colon != NULL)
            *colon++ = '\0';
        if (!python_float(p, &part))
            return false;
        total = total * 60 + part;
    }
    *ret_v = total;
    return true;
}

/* PyYAML's construct_yaml_float: underscores dropped, one sign, then a special value, base 60, or Python's
 * float(). */
bool
yaml_to_float(const char *text, size_t len, double *ret_v)
{
    buf_auto_t clean = BUF_INIT;

    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\0')
            return false;
        if (text[i] != '_')
            buf_putc(&clean, text[i]);
    }
    if (clean.len == 0)
        return false;
    char *p = clean.data;
    bool negative = *p == '-';
    if (negative || *p == '+')
        p++;
    if (strcasecmp(p, ".inf") == 0)
        *ret_v = HUGE_VAL;
    else if (strcasecmp(p, ".nan") == 0)
        *ret_v = NAN;
    else if (strchr(p, ':') != NULL ? !sixties_float(p, ret_v) : !python_float(p, ret_v))
        return false;
    if (negative)
        *ret_v = -*ret_v;
    return true;
}

/* binascii.a2b_base64: bytes outside of the alphabet are skipped; `=` ends the data once a group is half
 * full. The error texts are Python's. */
char *
yaml_from_base64(const char *text, size_t len, size_t *ret_len, char **ret_why)
{
    buf_auto_t out = BUF_INIT;
    unsigned group = 0, have = 0, pads = 0;

    for (size_t i = 0; i < len; i++) {
        if (text[i] == '=') {
            if (have >= 2 && have + ++pads >= 4)
                goto padded;
            continue;
        }

        char c = text[i];
        static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const char *at = c != '\0' ? strchr(alphabet, c) : NULL;
        int v = at != NULL ? (int) (at - alphabet) : -1;

        if (v < 0)
            continue;
        pads = 0;
        group = (group << 6 | (unsigned) v) & 0xffffff;
        have = (have + 1) % 4;
        if (have != 1)
            buf_putc(&out, (char) (group >> ((4 - (have == 0 ? 4 : have)) * 2) & 0xff));
    }
    if (have == 1)
        *ret_why = xasprintf(
            "Invalid base64-encoded string: number of data characters (%zu) cannot be 1 more than a "
            "multiple of 4",
            out.len / 3 * 4 + 1);
    else if (have != 0)
        *ret_why = xstrdup("Incorrect padding");
    if (have != 0)
        return NULL;
padded:
    *ret_len = out.len;
    return out.len > 0 ? buf_steal(&out) : xstrdup("");
}
