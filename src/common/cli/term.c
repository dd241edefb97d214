/* term.c - see term.h. */
#include "common/cli/term.h"

#include <sys/ioctl.h>

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
    size_t shown = 0;

    for (; *text != '\0'; text++) {
        bool inside = ((unsigned char) *text & 0xc0) == 0x80;
        if (!inside && ++shown > room)
            break;
        buf_putc(out, (unsigned char) *text < ' ' || *text == 0x7f ? ' ' : *text);
    }
}
