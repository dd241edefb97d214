/* visible.c - see visible.h. */
#include "common/base/visible.h"

#include "common/base/utf8.h"

enum { DEL = 0x7f, CARET_BIT = 0x40, C1_END = 0xa0, BMP_END = 0x10000 };

/* Ranges beyond ASCII: C1 controls, marks of direction, line separators, and Unicode's default ignorable
 * characters, such as tags and variation selectors. Sorted. */
static const struct range {
    uint32_t first, last;
} hidden[] = {
    { 0x80, 0x9f },       { 0xad, 0xad },       { 0x34f, 0x34f },     { 0x61c, 0x61c },
    { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },   { 0x200b, 0x200f },
    { 0x2028, 0x202e },   { 0x2060, 0x206f },   { 0x3164, 0x3164 },   { 0xfe00, 0xfe0f },
    { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },   { 0x13430, 0x1343f },
    { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

/* ASCII is decided before, by the caller. */
static bool
visible_is_hidden(uint32_t cp)
{
    for (size_t i = 0; i < NELEMS(hidden) && cp >= hidden[i].first; i++)
        if (cp <= hidden[i].last)
            return true;
    return false;
}

size_t
visible_run(const char *s, size_t len)
{
    const unsigned char *p = (const unsigned char *) s, *end = p + len;
    uint32_t cp;
    size_t n;

    while (p < end) {
        if ((*p >= ' ' && *p < DEL) || *p == '\t') {
            p++;
            continue;
        }
        if (*p <= DEL || (n = utf8_next((const char *) p, (size_t) (end - p), &cp)) == 0 ||
            visible_is_hidden(cp))
            break;
        p += n;
    }
    return (size_t) (p - (const unsigned char *) s);
}

size_t
visible_show(buf_t *out, const char *s, size_t len, visible_how_t how)
{
    unsigned byte = (unsigned char) *s;
    uint32_t cp = byte;
    size_t n = utf8_next(s, len, &cp);

    if (byte <= DEL && how == VISIBLE_CARET)
        buf_printf(out, "^%c", (int) (byte ^ CARET_BIT));
    else if (n == 0 || cp < C1_END)
        buf_printf(out, "\\x%02x", n == 0 ? byte : (unsigned) cp);
    else
        buf_printf(out, cp < BMP_END ? "\\u%04x" : "\\U%08x", (unsigned) cp);
    return n > 0 ? n : 1;
}

void
visible_add(buf_t *out, const char *s, size_t len, visible_how_t how)
{
    for (size_t at = 0; at < len;) {
        size_t n = visible_run(s + at, len - at);
        buf_add(out, s + at, n);
        at += n;
        if (at < len)
            at += visible_show(out, s + at, len - at, how);
    }
}
