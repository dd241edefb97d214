/* mailtext.c - see mailtext.h. */
#include "plugins/lib/returner/mailtext.h"

#include <time.h>

#include "common/base/base64.h"
#include "common/base/str.h"
#include "common/base/utf8.h"

enum {
    LINE_MOST = 998,  /* bytes of a line */
    PLAIN_MOST = 900, /* bytes of a header's value that stays as it is */
    WORD_BYTES = 45,  /* of text in an encoded word, which may have 75 letters */
    BASE64_LINE = 76,
    PER_LINE = 8 /* addresses */
};

/* True when no byte is outside of ASCII, or a control character other than a tab or a line break. */
static bool
mailtext_is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char) text[i] >= 0x7f ||
            ((unsigned char) text[i] < ' ' && strchr("\t\r\n", text[i]) == NULL))
            return false;
    return memchr(text, '\0', len) == NULL;
}

/* ---- the header ---------------------------------------------------------------------------------------- */

/* Appends a value; in encoded words when it needs that, each of whole characters. */
static void
mailtext_value(buf_t *out, const char *text, size_t len)
{
    AUTO_FREE char *line = xstrndup(text, len);

    for (char *p = line; *p != '\0'; p++)
        *p = *p == '\r' || *p == '\n' ? ' ' : *p;
    if (len <= PLAIN_MOST && mailtext_is_plain(line, len) && strstr(line, "=?") == NULL) {
        buf_puts(out, line);
        return;
    }
    for (size_t at = 0; at < len;) {
        size_t n = 0;
        while (at + n < len && n < WORD_BYTES) {
            uint32_t cp;
            size_t one = utf8_next(line + at + n, len - at - n, &cp);
            one = one > 0 ? one : 1;
            if (n > 0 && n + one > WORD_BYTES)
                break;
            n += one;
        }
        AUTO_FREE char *word = base64_encode(line + at, n, 0);
        buf_printf(out, "%s=?utf-8?b?%s?=", at > 0 ? "\r\n " : "", word);
        at += n;
    }
}

void
mailtext_header(buf_t *out, const char *name, const char *value)
{
    buf_printf(out, "%s: ", name);
    mailtext_value(out, value, strlen(value));
    buf_puts(out, "\r\n");
}

void
mailtext_addresses(buf_t *out, const char *name, const char *addresses)
{
    char **list = str_split(addresses, ",", true);

    buf_printf(out, "%s: ", name);
    for (size_t i = 0; list[i] != NULL; i++) {
        const char *one = str_trim(list[i]), *angle = strrchr(one, '<');
        buf_puts(out, i == 0 ? "" : i % PER_LINE == 0 ? ",\r\n " : ", ");
        if (angle == NULL || angle == one) {
            mailtext_value(out, one, strlen(one));
            continue;
        }
        mailtext_value(out, one, (size_t) (angle - one) - (angle[-1] == ' ' ? 1 : 0));
        buf_putc(out, ' ');
        mailtext_value(out, angle, strlen(angle));
    }
    buf_puts(out, "\r\n");
    strv_free(list);
}

void
mailtext_date(buf_t *out, int64_t wall_s)
{
    static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t when = (time_t) wall_s;
    struct tm tm;

    (void) localtime_r(&when, &tm);
    long east = tm.tm_gmtoff / 60;
    buf_printf(out, "Date: %.3s, %02d %.3s %04d %02d:%02d:%02d %c%02ld%02ld\r\n", days + 3 * tm.tm_wday,
               tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec,
               east < 0 ? '-' : '+', labs(east) / 60, labs(east) % 60);
}

char *
mailtext_bare(const char *address)
{
    const char *from = strrchr(address, '<');
    AUTO_FREE char *copy = xstrdup(from != NULL ? from + 1 : address);
    char *end = from != NULL ? strchr(copy, '>') : NULL;

    if ((from != NULL && end == NULL) || strpbrk(address, "\r\n") != NULL)
        return NULL;
    if (end != NULL)
        *end = '\0';
    const char *bare = str_trim(copy);
    for (const char *p = bare; *p != '\0'; p++)
        if ((unsigned char) *p <= ' ' || *p == 0x7f || *p == '<' || *p == '>')
            return NULL;
    return *bare != '\0' ? xstrdup(bare) : NULL;
}

/* ---- the body ------------------------------------------------------------------------------------------ */

/* Appends the text with CR LF for each line break of whatever kind. */
static void
mailtext_lines(buf_t *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool cr = text[i] == '\r';
        if (cr || text[i] == '\n')
            buf_puts(out, "\r\n");
        else
            buf_putc(out, text[i]);
        if (cr && i + 1 < len && text[i + 1] == '\n')
            i++;
    }
}

void
mailtext_body(buf_t *out, const char *text, size_t len)
{
    buf_auto_t lines = BUF_INIT;

    mailtext_lines(&lines, text, len);
    size_t longest = 0, n = 0;
    for (size_t i = 0; i < lines.len; i++) {
        n = lines.data[i] == '\n' ? 0 : n + 1;
        longest = n > longest ? n : longest;
    }
    /* Lines that a mail may have go as they are (RFC 5322, 2.1.1), anything else as base64. */
    if (mailtext_is_plain(text, len) && longest <= LINE_MOST - 2) {
        buf_puts(out, "\r\n");
        buf_add(out, buf_str(&lines), lines.len);
        return;
    }
    AUTO_FREE char *base64 = base64_encode(buf_str(&lines), lines.len, BASE64_LINE);
    buf_puts(out, "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=\"utf-8\"\r\n"
                  "Content-Transfer-Encoding: base64\r\n\r\n");
    mailtext_lines(out, base64, strlen(base64));
}
