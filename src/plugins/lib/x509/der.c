/* der.c - DER, written and read. Lengths are written behind their value: each value is appended with its tag
 * first, and der_end() moves it when the length is known. The reader takes what openssl and others write; it
 * does not refuse BER's longer forms of a length. */
#include <time.h>

#include "common/base/utf8.h"
#include "common/base/str.h"
#include "plugins/lib/x509/der.h"

enum { OID_PARTS_MAX = 64 };

/* ---- writing ------------------------------------------------------------------------------------ */

/* The returned place is that of the length, which der_end() puts in. */
size_t
der_begin(buf_t *b, uint8_t tag)
{
    buf_putc(b, (char) tag);
    return b->len;
}

/* The value is moved by as many bytes as its length needs, from one to nine. */
void
der_end(buf_t *b, size_t at)
{
    size_t len = b->len - at, n = 0;
    uint8_t head[1 + sizeof(size_t)];

    if (len < 0x80) {
        head[n++] = (uint8_t) len;
    } else {
        for (size_t rest = len; rest > 0; rest >>= 8)
            n++;
        head[0] = (uint8_t) (0x80 | n);
        for (size_t i = 0; i < n; i++)
            head[1 + i] = (uint8_t) (len >> (8 * (n - 1 - i)));
        n++;
    }
    buf_fill(b, '\0', n);
    memmove(b->data + at + n, b->data + at, len);
    memcpy(b->data + at, head, n);
}

void
der_put(buf_t *b, uint8_t tag, const void *bytes, size_t len)
{
    size_t at = der_begin(b, tag);

    buf_add(b, bytes, len);
    der_end(b, at);
}

void
der_text(buf_t *b, uint8_t tag, const char *text)
{
    der_put(b, tag, text, strlen(text));
}

/* Leading zeros go; one comes back where the first bit would make the number negative. */
void
der_number(buf_t *b, uint8_t tag, const uint8_t *bytes, size_t len)
{
    size_t at = der_begin(b, tag);

    for (; len > 0 && *bytes == 0; len--)
        bytes++;
    if (len == 0 || *bytes >= 0x80)
        buf_putc(b, '\0');
    buf_add(b, bytes, len);
    der_end(b, at);
}

/* Two's complement in as few bytes as it takes; negative numbers are not written here. */
void
der_int(buf_t *b, uint8_t tag, json_int_t v)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t) ((uint64_t) v >> (8 * (7 - i)));
    der_number(b, tag, bytes, sizeof(bytes));
}

void
der_true(buf_t *b, uint8_t tag)
{
    der_put(b, tag, "\xff", 1);
}

/* Seven bits a byte, the highest first; all bytes but the last have their first bit set. */
static void
put_base128(buf_t *b, uint64_t v)
{
    char bytes[10];
    size_t n = 0;

    do {
        bytes[n] = (char) ((v & 0x7f) | (n > 0 ? 0x80 : 0));
        n++;
    } while ((v >>= 7) > 0);
    while (n > 0)
        buf_putc(b, bytes[--n]);
}

/* The first two numbers share one: 40 * first + second, so below 2 the second is less than 40. */
bool
der_oid(buf_t *b, uint8_t tag, const char *dotted)
{
    char **parts = str_split(dotted, ".", false);
    size_t n = strv_len(parts);
    long long v[OID_PARTS_MAX];
    bool good = n >= 2 && n <= OID_PARTS_MAX;

    for (size_t i = 0; good && i < n; i++)
        good = str_to_int(parts[i], 0, INT64_MAX / 4, &v[i]) && (i > 0 || v[0] <= 2) &&
               (i != 1 || v[0] == 2 || v[1] < 40);
    strv_free(parts);
    if (!good)
        return false;
    size_t at = der_begin(b, tag);
    put_base128(b, (uint64_t) (v[0] * 40 + v[1]));
    for (size_t i = 2; i < n; i++)
        put_base128(b, (uint64_t) v[i]);
    der_end(b, at);
    return true;
}

/* Bit 0 is the highest of the first byte; the byte before them tells how many at the end are unused. */
void
der_named_bits(buf_t *b, uint8_t tag, unsigned flags)
{
    uint8_t bytes[5] = { 0 };
    size_t bits = 0;

    for (size_t i = 0; i < 32; i++) {
        if ((flags >> i & 1) == 0)
            continue;
        bytes[1 + i / 8] |= (uint8_t) (0x80 >> i % 8);
        bits = i + 1;
    }
    bytes[0] = (uint8_t) ((8 - bits % 8) % 8);
    der_put(b, tag, bytes, 1 + (bits + 7) / 8);
}

void
der_time(buf_t *b, int64_t seconds)
{
    time_t t = (time_t) seconds;
    struct tm tm;
    char text[32];

    (void) gmtime_r(&t, &tm);
    /* Years 1950 to 2049 have two digits (RFC 5280, 4.1.2.5). */
    bool utc = tm.tm_year >= 50 && tm.tm_year < 150;
    (void) strftime(text, sizeof(text), "%Y%m%d%H%M%SZ", &tm);
    der_text(b, utc ? DER_UTC : DER_GENERAL, text + (utc ? 2 : 0));
}

/* ---- reading ------------------------------------------------------------------------------------- */

/* Tags of several bytes, indefinite lengths and lengths of more than four bytes are in no certificate. */
bool
der_next(der_t *in, uint8_t *ret_tag, der_t *ret_body, der_t *ret_whole)
{
    size_t at = 2, len;

    if (in->len < 2 || (in->p[0] & 0x1f) == 0x1f)
        return false;
    len = in->p[1];
    if (len >= 0x80) {
        size_t n = len & 0x7f;
        if (n == 0 || n > 4 || in->len < 2 + n)
            return false;
        for (len = 0; n > 0; n--)
            len = len << 8 | in->p[at++];
    }
    if (len > in->len - at)
        return false;
    const der_t was = *in; /* a caller may read a value into the same variable */
    *in = (der_t){ was.p + at + len, was.len - at - len };
    *ret_tag = was.p[0];
    *ret_body = (der_t){ was.p + at, len };
    if (ret_whole != NULL)
        *ret_whole = (der_t){ was.p, at + len };
    return true;
}

/* A member that is optional is asked for so: what is not there stays for the next. */
bool
der_take(der_t *in, uint8_t tag, der_t *ret_body)
{
    uint8_t is;

    return in->len > 0 && in->p[0] == tag && der_next(in, &is, ret_body, NULL);
}

char *
der_oid_text(der_t body)
{
    buf_auto_t out = BUF_INIT;
    uint64_t v = 0;

    if (body.len == 0 || (body.p[body.len - 1] & 0x80) != 0)
        return NULL;
    for (size_t i = 0; i < body.len; i++) {
        if (v > UINT64_MAX >> 8)
            return NULL;
        v = v << 7 | (body.p[i] & 0x7f);
        if ((body.p[i] & 0x80) != 0)
            continue;
        if (out.len > 0)
            buf_printf(&out, ".%llu", (unsigned long long) v);
        else
            buf_printf(&out, "%d.%llu",
                       v < 40   ? 0
                       : v < 80 ? 1
                                : 2,
                       (unsigned long long) (v < 40   ? v
                                             : v < 80 ? v - 40
                                                      : v - 80));
        v = 0;
    }
    return buf_steal(&out);
}

/* Two's complement, as the sign is the first bit. */
bool
der_to_int(der_t body, json_int_t *ret_v)
{
    uint64_t v = 0;

    if (body.len == 0 || body.len > 8)
        return false;
    if ((body.p[0] & 0x80) != 0)
        v = UINT64_MAX;
    for (size_t i = 0; i < body.len; i++)
        v = v << 8 | body.p[i];
    *ret_v = (json_int_t) v;
    return true;
}

bool
der_to_bits(der_t body, unsigned *ret_flags)
{
    unsigned flags = 0;

    if (body.len == 0 || body.p[0] > 7 || body.len > 5)
        return false;
    for (size_t i = 0; i < (body.len - 1) * 8; i++)
        if ((body.p[1 + i / 8] & 0x80 >> i % 8) != 0)
            flags |= 1u << i;
    *ret_flags = flags;
    return true;
}

/* The forms with seconds and Z alone, which RFC 5280 asks for. */
bool
der_to_time(uint8_t tag, der_t body, int64_t *ret_seconds)
{
    size_t want = tag == DER_UTC ? 13 : tag == DER_GENERAL ? 15 : 0;
    char text[16] = "";
    struct tm tm = { .tm_isdst = 0 };

    if (want == 0 || body.len != want)
        return false;
    memcpy(text, body.p, want);
    int year = (text[0] - '0') * 10 + (text[1] - '0');
    if (tag == DER_GENERAL)
        year = year * 100 + (text[2] - '0') * 10 + (text[3] - '0');
    else
        year += year < 50 ? 2000 : 1900;
    const char *end = strptime(text + (tag == DER_UTC ? 2 : 4), "%m%d%H%M%SZ", &tm);
    if (end == NULL || *end != '\0')
        return false;
    tm.tm_year = year - 1900;
    *ret_seconds = timegm(&tm);
    return true;
}

/* Latin-1 (1 byte) or UCS-2 (2) as UTF-8. */
static json_t *
widened(der_t body, size_t width)
{
    buf_auto_t out = BUF_INIT;

    for (size_t i = 0; i + width <= body.len; i += width) {
        char bytes[4];
        buf_add(&out, bytes,
                utf8_encode(width == 1 ? body.p[i] : (uint32_t) (body.p[i] << 8 | body.p[i + 1]), bytes));
    }
    return value_utf8(buf_str(&out), out.len);
}

/* T.61 is read as Latin-1, as most who write it mean that; all kinds that are left are parts of UTF-8, or are
 * it. */
json_t *
der_to_text(uint8_t tag, der_t body)
{
    switch (tag) {
    case DER_BMP:
        return widened(body, 2);
    case DER_T61:
        return widened(body, 1);
    default:
        return value_utf8((const char *) body.p, body.len);
    }
}

/* ---- texts --------------------------------------------------------------------------------------- */

/* The empty text for no bytes. */
char *
der_hex(const void *bytes, size_t len)
{
    buf_auto_t out = BUF_INIT;

    buf_puts(&out, "");
    for (size_t i = 0; i < len; i++)
        buf_printf(&out, "%02x", ((const uint8_t *) bytes)[i]);
    return out.len > 0 ? buf_steal(&out) : xstrdup("");
}

/* Multiplies the digits by 256 for each further byte. */
char *
der_decimal(const void *bytes, size_t len)
{
    char *digits = xcalloc(len * 3 + 2, 1); /* the last one first */
    size_t n = 1;

    digits[0] = '0';
    for (size_t i = 0; i < len; i++) {
        unsigned carry = ((const uint8_t *) bytes)[i];
        for (size_t k = 0; k < n; k++) {
            carry += (unsigned) (digits[k] - '0') * 256;
            digits[k] = (char) ('0' + carry % 10);
            carry /= 10;
        }
        for (; carry > 0; carry /= 10)
            digits[n++] = (char) ('0' + carry % 10);
    }
    for (size_t k = 0; k < n / 2; k++) {
        char c = digits[k];
        digits[k] = digits[n - 1 - k];
        digits[n - 1 - k] = c;
    }
    return digits;
}

/* Pairs of digits; an odd one at the end is an error. */
bool
der_unhex(const char *hex, buf_t *out)
{
    int high = -1;

    for (const char *p = hex; *p != '\0'; p++) {
        if (*p == ':')
            continue;
        int v = *p >= '0' && *p <= '9'   ? *p - '0'
                : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10
                : *p >= 'A' && *p <= 'F' ? *p - 'A' + 10
                                         : -1;
        if (v < 0)
            return false;
        if (high >= 0)
            buf_putc(out, (char) (high << 4 | v));
        high = high >= 0 ? -1 : v;
    }
    return high < 0;
}

char *
der_pretty(const void *bytes, size_t len)
{
    buf_auto_t out = BUF_INIT;

    for (size_t i = 0; i < len; i++)
        buf_printf(&out, "%s%02X", i > 0 ? ":" : "", ((const uint8_t *) bytes)[i]);
    return out.len > 0 ? buf_steal(&out) : xstrdup("");
}

/* UTC, as all times of certificates. */
char *
der_time_text(int64_t seconds)
{
    time_t t = (time_t) seconds;
    struct tm tm;
    char text[40];

    (void) gmtime_r(&t, &tm);
    (void) strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
    return xstrdup(text);
}

/* Salt's format, read as UTC. */
bool
der_time_parse(const char *text, int64_t *ret_seconds)
{
    struct tm tm = { .tm_isdst = 0 };
    const char *end = text != NULL ? strptime(text, "%Y-%m-%d %H:%M:%S", &tm) : NULL;

    if (end == NULL || *end != '\0')
        return false;
    *ret_seconds = timegm(&tm);
    return true;
}
