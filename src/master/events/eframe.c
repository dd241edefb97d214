/* eframe.c - write and scan event frames. Scanning relies on the fixed order of keys that eframe_write
 * produces: tag and stamp are found without parsing the data. The journal is read from disk, so every length
 * is checked. */
#include "master/events/eframe.h"

#include <arpa/inet.h>

#include "salt/value.h"

#define LENGTH     4
#define HEAD       "{\"push\":\"event\",\"seq\":"
#define TAG        ",\"tag\":\""
#define DATA       "\",\"data\":"
#define STAMP      "\"_stamp\":\""
#define STAMP_END  "\"}"
#define SEQ_DIGITS 20
#define LIT(s)     (sizeof(s) - 1)

size_t
eframe_room(size_t tag_len, size_t data_len)
{
    return LENGTH + LIT(HEAD) + SEQ_DIGITS + LIT(TAG) + tag_len + LIT(DATA) + data_len + LIT(",") +
           LIT(STAMP) + EFRAME_STAMP + LIT(STAMP_END) + LIT("}");
}

static char *
eframe_put(char *at, const char *bytes, size_t n)
{
    memcpy(at, bytes, n);
    return at + n;
}

size_t
eframe_write(char *out, uint64_t seq, const char *tag, size_t tag_len, const char *data, size_t data_len,
             const char *stamp)
{
    char *at = eframe_put(out + LENGTH, HEAD, LIT(HEAD));

    /* Writes the number in decimal, from its last digit on. */
    char text[SEQ_DIGITS];
    size_t i = sizeof(text);
    do {
        text[--i] = (char) ('0' + seq % 10);
        seq /= 10;
    } while (seq > 0);
    at = eframe_put(at, text + i, sizeof(text) - i);

    at = eframe_put(at, TAG, LIT(TAG));
    at = eframe_put(at, tag, tag_len);
    at = eframe_put(at, DATA, LIT(DATA));
    /* Drop the data's closing brace, and the white space before it, to append the stamp. */
    at = eframe_put(at, data, data_len - 1);
    while (at[-1] == ' ' || at[-1] == '\n' || at[-1] == '\r' || at[-1] == '\t')
        at--;
    if (at[-1] != '{')
        *at++ = ',';
    at = eframe_put(at, STAMP, LIT(STAMP));
    at = eframe_put(at, stamp, EFRAME_STAMP);
    at = eframe_put(at, STAMP_END "}", LIT(STAMP_END "}"));
    uint32_t n = htonl((uint32_t) (at - out - LENGTH));
    memcpy(out, &n, LENGTH);
    return (size_t) (at - out);
}

/* True and *at advanced when `text` is at *at. */
static bool
eframe_skip(const char **at, const char *end, const char *text, size_t n)
{
    if ((size_t) (end - *at) < n || memcmp(*at, text, n) != 0)
        return false;
    *at += n;
    return true;
}

static bool
eframe_read_number(const char **at, const char *end, uint64_t *ret)
{
    const char *from = *at;

    for (*ret = 0; *at < end && **at >= '0' && **at <= '9' && *at - from < SEQ_DIGITS - 1; (*at)++)
        *ret = *ret * 10 + (uint64_t) (**at - '0');
    return *at > from;
}

/* False for anything but a complete, well-formed frame. */
bool
eframe_read(const char *bytes, size_t len, eframe_t *ret)
{
    uint32_t n;

    if (len < LENGTH)
        return false;
    memcpy(&n, bytes, LENGTH);
    ret->at = bytes;
    ret->len = LENGTH + ntohl(n);
    const size_t tail = LIT(STAMP) + EFRAME_STAMP + LIT(STAMP_END) + 1;
    if (ret->len > len || ret->len < LENGTH + LIT(HEAD) + tail)
        return false;
    const char *at = bytes + LENGTH, *end = bytes + ret->len;
    if (!eframe_skip(&at, end, HEAD, LIT(HEAD)) || !eframe_read_number(&at, end, &ret->seq) ||
        !eframe_skip(&at, end, TAG, LIT(TAG)))
        return false;
    ret->tag = at;
    while (at < end && *at != '"')
        at += *at == '\\' ? 2 : 1;
    ret->tag_len = (size_t) (at - ret->tag);
    if (at > end || !eframe_skip(&at, end, DATA, LIT(DATA)) || (size_t) (end - at) <= tail)
        return false;
    ret->data = at;
    ret->data_len = (size_t) (end - at) - 1;
    ret->stamp = end - tail + LIT(STAMP);
    return true;
}

size_t
eframe_tag(const eframe_t *self, char out[LIMIT_TAG_LEN + 1])
{
    size_t n = 0;

    /* Tags have no control characters, so an escaped character stands for itself. */
    for (size_t i = 0; i < self->tag_len && n < LIMIT_TAG_LEN; i++) {
        if (self->tag[i] == '\\' && i + 1 < self->tag_len)
            i++;
        out[n++] = self->tag[i];
    }
    out[n] = '\0';
    return n;
}

json_t *
eframe_value(const eframe_t *self)
{
    char tag[LIMIT_TAG_LEN + 1];
    json_t *data = value_parse(self->data, self->data_len, LIMIT_LOCAL_MSG, "event", NULL);

    (void) eframe_tag(self, tag);
    if (data == NULL)
        return NULL;
    return json_pack("{s:I, s:s, s:o}", "seq", (json_int_t) self->seq, "tag", tag, "data", data);
}
