/* term.c - see term.h. */
#include "common/cli/term.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>

#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/base/visible.h"

enum { DEFAULT_COLUMNS = 80, DEFAULT_ROWS = 24 };

size_t
term_columns(int fd)
{
    struct winsize size = { 0 };

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : DEFAULT_COLUMNS;
}

size_t
term_rows(int fd)
{
    struct winsize size = { 0 };

    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : DEFAULT_ROWS;
}

/* Whether the terminal shows UTF-8: the first variable that is set decides, as in setlocale(3). */
bool
term_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < NELEMS(names); i++) {
        const char *value = getenv(names[i]);
        if (!str_empty(value))
            return strcasestr(value, "UTF-8") != NULL || strcasestr(value, "UTF8") != NULL;
    }
    return false;
}

/* False for a terminal that can't move its cursor, such as Emacs's shell. */
bool
term_moves(void)
{
    const char *kind = getenv("TERM");

    return !str_eq(kind, "dumb");
}

/* Columns of one character: 2 for the wide ones of East Asia and pictures, 0 for marks that join the one
 * before (Unicode's East Asian Width W and F, and the blocks of combining marks). */
static size_t
columns_of(uint32_t cp)
{
    static const struct {
        uint32_t first, last;
        size_t columns;
    } ranges[] = { { 0x300, 0x36f, 0 },     { 0x1100, 0x115f, 2 },   { 0x1ab0, 0x1aff, 0 },
                   { 0x1dc0, 0x1dff, 0 },   { 0x20d0, 0x20ff, 0 },   { 0x2e80, 0x303e, 2 },
                   { 0x3041, 0x4dbf, 2 },   { 0x4e00, 0xa4cf, 2 },   { 0xa960, 0xa97f, 2 },
                   { 0xac00, 0xd7a3, 2 },   { 0xf900, 0xfaff, 2 },   { 0xfe20, 0xfe2f, 0 },
                   { 0xfe30, 0xfe6f, 2 },   { 0xff01, 0xff60, 2 },   { 0xffe0, 0xffe6, 2 },
                   { 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 }, { 0x1f900, 0x1f9ff, 2 },
                   { 0x20000, 0x3fffd, 2 } };

    for (size_t i = 0; i < NELEMS(ranges); i++)
        if (cp >= ranges[i].first && cp <= ranges[i].last)
            return ranges[i].columns;
    return 1;
}

/* Appends as many characters as have room, with controls made visible. Returns the columns used. */
size_t
term_put(buf_t *out, const char *text, size_t room)
{
    buf_auto_t shown = BUF_INIT;
    size_t used = 0;

    visible_add(&shown, text, strlen(text), VISIBLE_CARET);
    for (const char *c = buf_str(&shown), *end = c + shown.len; c < end;) {
        uint32_t cp = 0;
        size_t len = utf8_next(c, (size_t) (end - c), &cp), columns = columns_of(cp);
        len = len > 0 ? len : 1;
        if (used + columns > room)
            break;
        if (*c == '\t')
            buf_putc(out, ' ');
        else
            buf_add(out, c, len);
        used += columns;
        c += len;
    }
    return used;
}

size_t
term_width(const char *text)
{
    buf_auto_t none = BUF_INIT;

    return term_put(&none, text, SIZE_MAX);
}
