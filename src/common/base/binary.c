/* binary.c - see binary.h. */
#include "common/base/binary.h"

#include <string.h>

#include "common/base/utf8.h"

enum { MOST_NOT_TEXT = 30 };

bool
binary_mostly_text(const char *s, size_t len, bool utf8, const char *controls)
{
    size_t other = 0, total = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char) s[i];
        if (utf8 && (c & 0xc0) == 0x80)
            continue;
        total++;
        other += (c < 32 || c > 126) && strchr(controls, c) == NULL;
    }
    return other * 100 <= total * MOST_NOT_TEXT;
}

bool
binary_is(const char *s, size_t len)
{
    size_t n = len < BINARY_BLOCK ? len : BINARY_BLOCK;

    return n > 0 &&
           (!utf8_valid(s, n) || memchr(s, '\0', n) != NULL || !binary_mostly_text(s, n, true, "\n\r\t\b"));
}

bool
binary_no_template(const char *s, size_t len)
{
    return !utf8_valid(s, len) && binary_is(s, len);
}
