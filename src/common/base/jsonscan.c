/* jsonscan.c - see jsonscan.h. */
#include "common/base/jsonscan.h"

#include "common/base/utf8.h"

bool
scan_fail(scan_t *s, const char *why)
{
    if (s->why == NULL)
        s->why = why;
    return false;
}

bool
scan_at_end(scan_t *s)
{
    (void) scan_peek(s);
    return s->at == s->end && s->why == NULL;
}

bool
scan_string(scan_t *s, bool *ret_escaped)
{
    const char *from = s->at, *at = from, *end = s->end;
    unsigned char all = 0;
    bool escaped = false;

    for (; at < end && *at != '"' && (unsigned char) *at >= 0x20; at++) {
        all |= (unsigned char) *at;
        if (*at != '\\')
            continue;
        escaped = true;
        at += at + 1 < end;
    }
    s->at = at;
    *ret_escaped = escaped;
    if (at < end && *at != '"')
        return scan_fail(s, "a control character in a string must be escaped");
    if (at == end)
        return scan_fail(s, "a string without its closing quote");
    if (all >= 0x80 && !utf8_valid(from, (size_t) (s->at - from)))
        return scan_fail(s, "a string that is not UTF-8");
    s->at++;
    return true;
}

static size_t
jsonscan_digits(scan_t *s)
{
    const char *from = s->at;

    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    return (size_t) (s->at - from);
}

/* Steps over a byte that is `a` or `b`. */
static bool
take_one(scan_t *s, char a, char b)
{
    bool there = s->at < s->end && (*s->at == a || *s->at == b);

    s->at += there;
    return there;
}

bool
scan_number(scan_t *s, scan_number_t *ret)
{
    *ret = (scan_number_t){ .minus = take_one(s, '-', '-') };
    bool zero = s->at < s->end && *s->at == '0';
    ret->whole = jsonscan_digits(s);
    if (ret->whole == 0)
        return scan_fail(s, ret->minus ? "a minus sign without a number" : "no value");
    if (zero && ret->whole > 1)
        return scan_fail(s, "a number that begins with 0");
    if (take_one(s, '.', '.') && (ret->fraction = jsonscan_digits(s)) == 0)
        return scan_fail(s, "a number without digits after its point");
    ret->exponent = take_one(s, 'e', 'E');
    if (!ret->exponent)
        return true;
    (void) take_one(s, '+', '-');
    return jsonscan_digits(s) > 0 || scan_fail(s, "a number without digits in its exponent");
}

bool
scan_word(scan_t *s)
{
    static const char *const words[] = { "true", "false", "null" };

    for (size_t i = 0; i < NELEMS(words); i++) {
        size_t n = strlen(words[i]);
        if ((size_t) (s->end - s->at) < n || memcmp(s->at, words[i], n) != 0)
            continue;
        s->at += n;
        return true;
    }
    return scan_fail(s, "no value");
}

char
scan_escaped(char letter)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *at = letter != '\0' ? strchr(from, letter) : NULL;

    return at != NULL ? to[at - from] : '\0';
}

static bool
hex4(const char *at, const char *end, uint32_t *ret_value)
{
    *ret_value = 0;
    if (end - at < 4)
        return false;
    for (const char *p = at; p < at + 4; p++) {
        char lower = (char) (*p | 0x20);
        bool decimal = *p >= '0' && *p <= '9';
        if (!decimal && (lower < 'a' || lower > 'f'))
            return false;
        *ret_value = *ret_value * 16 + (uint32_t) (decimal ? *p - '0' : lower - 'a' + 10);
    }
    return true;
}

bool
scan_unicode(const char **at, const char *end, uint32_t *ret_cp)
{
    uint32_t high, low;

    if (!hex4(*at, end, &high))
        return false;
    *at += 4;
    *ret_cp = high;
    const char *next = *at;
    if (high < 0xd800 || high > 0xdbff || end - next < 2 || next[0] != '\\' || next[1] != 'u' ||
        !hex4(next + 2, end, &low) || low < 0xdc00 || low > 0xdfff)
        return true;
    *at += 6;
    *ret_cp = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    return true;
}
