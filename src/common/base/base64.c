/* base64.c - bytes to base64 text. */
#include "common/base/base64.h"

#include "common/base/buf.h"

char *
base64_encode(const void *bytes, size_t len, size_t line)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = bytes;
    buf_auto_t out = BUF_INIT;
    size_t column = 0;

    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        uint32_t v = (uint32_t) in[i] << 16;
        if (n > 1)
            v |= (uint32_t) in[i + 1] << 8;
        if (n > 2)
            v |= in[i + 2];
        buf_putc(&out, digits[v >> 18]);
        buf_putc(&out, digits[v >> 12 & 63]);
        buf_putc(&out, n > 1 ? digits[v >> 6 & 63] : '=');
        buf_putc(&out, n > 2 ? digits[v & 63] : '=');
        column += 4;
        if (line != 0 && (column >= line || i + 3 >= len)) {
            buf_putc(&out, '\n');
            column = 0;
        }
    }
    return buf_steal(&out);
}
