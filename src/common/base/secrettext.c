/* secrettext.c - see secrettext.h. */
#include "common/base/secrettext.h"

#include <sys/random.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"

/* A number below n, each as likely as the others: numbers above the last whole multiple of n are drawn
 * again. */
static uint32_t
secrettext_below(uint32_t n)
{
    uint32_t v, rest = UINT32_MAX - UINT32_MAX % n;

    do {
        salt_assert(getrandom(&v, sizeof(v), 0) == (ssize_t) sizeof(v));
    } while (v >= rest);
    return v % n;
}

char *
secret_text(const char *chars, size_t length)
{
    size_t len = strlen(chars), n = utf8_count(chars, len);
    buf_auto_t out = BUF_INIT;
    uint32_t cp;

    while (length-- > 0) {
        const char *p = chars;
        for (uint32_t skip = secrettext_below((uint32_t) n); skip > 0; skip--)
            p += utf8_next(p, strlen(p), &cp);
        buf_add(&out, p, utf8_next(p, strlen(p), &cp));
    }
    return buf_steal(&out);
}
