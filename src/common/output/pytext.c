/* pytext.c - lines and white space as Python's str defines them: more line ends and blanks than C's, in
 * UTF-8. */
#include "common/output/pytext.h"

#include "common/base/utf8.h"

/* Length of the line end at `s`, "\r\n" counted as one; 0 when there is none. */
static size_t
pytext_line_end(const char *s, size_t len)
{
    unsigned char c = (unsigned char) s[0];

    if (c == '\r')
        return len > 1 && s[1] == '\n' ? 2 : 1;
    if ((c >= '\n' && c <= '\f') || (c >= 0x1c && c <= 0x1e))
        return 1;
    if (c == 0xc2 && len > 1 && (unsigned char) s[1] == 0x85)
        return 2;
    if (c == 0xe2 && len > 2 && (memcmp(s, "\xe2\x80\xa8", 3) == 0 || memcmp(s, "\xe2\x80\xa9", 3) == 0))
        return 3;
    return 0;
}

bool
pytext_line(const char **pos, const char *end, pyline_t *ret_line)
{
    const char *s = *pos, *p = s;
    size_t n = 0;

    if (s >= end)
        return false;
    while (p < end && (n = pytext_line_end(p, (size_t) (end - p))) == 0)
        p++;
    *ret_line = (pyline_t){ s, (size_t) (p - s), (size_t) (p - s) + n };
    *pos = p + n;
    return true;
}

size_t
pytext_space(const char *s, size_t len)
{
    uint32_t cp;
    size_t n = utf8_next(s, len, &cp);

    /* The characters of str.isspace(): the separators 0x1c to 0x1f are among them. */
    bool blank = n > 0 && ((cp >= '\t' && cp <= '\r') || (cp >= 0x1c && cp <= ' ') || cp == 0x85 ||
                           cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 ||
                           cp == 0x2029 || cp == 0x202f || cp == 0x205f || cp == 0x3000);
    return blank ? n : 0;
}

/* Goes back by whole characters: a byte that continues one belongs to the byte before it. */
size_t
pytext_rstrip(const char *s, size_t len)
{
    while (len > 0) {
        size_t start = len - 1;
        while (start > 0 && len - start < 4 && ((unsigned char) s[start] & 0xc0) == 0x80)
            start--;
        if (pytext_space(s + start, len - start) != len - start)
            break;
        len = start;
    }
    return len;
}

void
pytext_strip(const char **s, size_t *len)
{
    size_t n;

    *len = pytext_rstrip(*s, *len);
    while (*len > 0 && (n = pytext_space(*s, *len)) > 0) {
        *s += n;
        *len -= n;
    }
}

/* An escape becomes a question mark: what a minion says may neither colour nor move the operator's cursor. */
void
pytext_add_safe(buf_t *out, const char *s, size_t len)
{
    size_t from = out->len;

    if (len == 0)
        return; /* a buffer that never held anything has no bytes to point at */
    buf_add(out, s, len);
    for (char *p = out->data + from, *end = out->data + out->len; p < end; p++) {
        if ((p = memchr(p, '\033', (size_t) (end - p))) == NULL)
            break;
        *p = '?';
    }
}
