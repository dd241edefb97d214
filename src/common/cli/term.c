/* term.c - see term.h. */
#include "common/cli/term.h"

#include <sys/ioctl.h>

#include "common/base/visible.h"

enum { DEFAULT_COLUMNS = 80 };

size_t
term_columns(int fd)
{
    struct winsize size = { 0 };

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : DEFAULT_COLUMNS;
}

void
term_put(buf_t *out, const char *text, size_t room)
{
    buf_auto_t shown = BUF_INIT;
    size_t used = 0;

    visible_add(&shown, text, strlen(text), VISIBLE_CARET);
    for (const char *c = buf_str(&shown); *c != '\0'; c++) {
        bool inside = ((unsigned char) *c & 0xc0) == 0x80;
        if (!inside && ++used > room)
            break;
        buf_putc(out, *c == '\t' ? ' ' : *c);
    }
}
