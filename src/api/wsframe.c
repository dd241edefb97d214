/* wsframe.c - see wsframe.h. */
#include "api/wsframe.h"

#include "common/base/base64.h"
#include "common/base/digest.h"

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

enum { FIN = 0x80, RESERVED = 0x70, OPCODE = 0x0f, MASKED = 0x80, LENGTH = 0x7f, SMALL = 125, KEY_LEN = 24 };

int
wsframe_take(buf_t *in, wsop_t *ret_op, buf_t *out)
{
    const unsigned char *at = (const unsigned char *) in->data;
    size_t head = 2;

    if (in->len < head)
        return 0;
    unsigned op = at[0] & OPCODE;
    size_t len = at[1] & LENGTH;
    /* Clients mask what they send, and control frames are short. */
    if ((at[0] & RESERVED) != 0 || (at[0] & FIN) == 0 || (at[1] & MASKED) == 0 ||
        !(op == WS_TEXT || op == WS_BINARY || op == WS_CLOSE || op == WS_PING || op == WS_PONG) ||
        (op >= WS_CLOSE && len > SMALL))
        return -EPROTO;
    if (len == SMALL + 2)
        return -EMSGSIZE;
    if (len == SMALL + 1) {
        head = 4;
        if (in->len < head)
            return 0;
        len = (size_t) at[2] << 8 | at[3];
    }
    if (len > WSFRAME_MAX)
        return -EMSGSIZE;
    if (in->len < head + 4 + len)
        return 0;
    for (size_t i = 0; i < len; i++)
        buf_putc(out, (char) (at[head + 4 + i] ^ at[head + i % 4]));
    *ret_op = (wsop_t) op;
    buf_consume(in, head + 4 + len);
    return 1;
}

void
wsframe_head(buf_t *out, wsop_t op, size_t len)
{
    buf_putc(out, (char) (FIN | op));
    if (len <= SMALL) {
        buf_putc(out, (char) len);
        return;
    }
    int bytes = len <= UINT16_MAX ? 2 : 8;
    buf_putc(out, (char) (bytes == 2 ? SMALL + 1 : SMALL + 2));
    for (int i = bytes - 1; i >= 0; i--)
        buf_putc(out, (char) ((uint64_t) len >> (8 * i) & 0xff));
}

char *
wsframe_accept(const char *key)
{
    unsigned char bytes[20];

    if (strlen(key) != KEY_LEN)
        return NULL;
    AUTO_FREE char *text = xasprintf("%s" GUID, key);
    AUTO_FREE char *hex = digest_bytes("sha1", text, strlen(text), NULL);
    if (hex == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        unsigned byte = 0;
        (void) sscanf(hex + 2 * i, "%2x", &byte);
        bytes[i] = (unsigned char) byte;
    }
    return base64_encode(bytes, sizeof(bytes), 0);
}
