/* ttyfilter.c - see ttyfilter.h. */
#include "common/cli/ttyfilter.h"

#include "common/base/visible.h"
#include "common/output/colour.h"

#define RESET "\033[0m"
enum { ESC = '\033', NUMBERS_MAX = 24, NUMBER_MAX = 255 };

/* ---- colours, bold, underline ---------------------------------------------------------------- */

enum {
    BOLD = 1 << 0,
    UNDERLINE = 1 << 1,
    FRONT = 1 << 2,
    BACK = 1 << 3,
    ALL = BOLD | UNDERLINE | FRONT | BACK,
    TOUCHED = 1 << 4 /* any sequence passed: Halite's own colour is no longer on */
};

/* SGR numbers that pass, with the attributes that each switches on and off. `more`: the numbers of a colour
 * follow. */
static const struct sgr {
    int first, last;
    unsigned on, off;
    bool more;
} sgrs[] = {
    { 0, 0, 0, ALL, false },      { 1, 1, BOLD, 0, false },        { 4, 4, UNDERLINE, 0, false },
    { 22, 22, 0, BOLD, false },   { 24, 24, 0, UNDERLINE, false }, { 30, 37, FRONT, 0, false },
    { 38, 38, FRONT, 0, true },   { 39, 39, 0, FRONT, false },     { 40, 47, BACK, 0, false },
    { 48, 48, BACK, 0, true },    { 49, 49, 0, BACK, false },      { 90, 97, FRONT, 0, false },
    { 100, 107, BACK, 0, false },
};

/* Reads a sequence "\033[1;31m" at `s`. Returns its length, with the attributes that are on behind it in
 * *begun; 0: not such a sequence, or not allowed; negative: more bytes may make it one. */
static int
take_sgr(const char *s, size_t len, unsigned *begun)
{
    int numbers[NUMBERS_MAX] = { 0 };
    size_t n = 1, at = 2;
    unsigned after = *begun | TOUCHED;

    if (len >= 2 && s[1] != '[')
        return 0;
    for (; at < len && at < TTYFILTER_HELD && s[at] != 'm'; at++) {
        int *number = &numbers[n - 1];
        if (s[at] == ';' && n < NUMBERS_MAX)
            n++;
        else if (s[at] < '0' || s[at] > '9' || (*number = 10 * *number + s[at] - '0') > NUMBER_MAX)
            return 0;
    }
    if (at == TTYFILTER_HELD)
        return 0;
    if (at >= len)
        return -1;

    /* Follows the numbers of a sequence in *begun. */
    for (size_t i = 0, more = 0; i < n; i += 1 + more) {
        enum { BY_INDEX = 5, BY_PARTS = 2 };
        const struct sgr *row = NULL;
        for (size_t k = 0; k < NELEMS(sgrs) && row == NULL; k++)
            row = numbers[i] >= sgrs[k].first && numbers[i] <= sgrs[k].last ? &sgrs[k] : NULL;
        if (row == NULL)
            return 0;

        /* Behind 38 or 48 come "5;INDEX" or "2;RED;GREEN;BLUE". */
        size_t left = n - i - 1;
        more = !row->more || left == 0                   ? 0
               : left >= 2 && numbers[i + 1] == BY_INDEX ? 2
               : left >= 4 && numbers[i + 1] == BY_PARTS ? 4
                                                         : 0;
        if (row->more && more == 0)
            return 0;
        after = (after & ~row->off) | row->on;
    }

    *begun = after;
    return (int) at + 1;
}

/* ---- what ends with a line or a value -------------------------------------------------------- */

/* Resets what a value has left on, so that it does not colour what follows. */
static void
ttyfilter_end_value(const ttyfilter_t *self, buf_t *out)
{
    if ((self->begun & ALL) != 0)
        buf_puts(out, RESET);
}

/* Switches Halite's own colour on again after a value has changed it. */
static void
go_on_with_own(ttyfilter_t *self, buf_t *out)
{
    if (self->begun != 0 && self->own != NULL)
        buf_puts(out, self->own);
    self->begun = 0;
}

/* Handles a mark of Halite's own: a bound behind a value, or a colour of an outputter. */
static void
take_mark(ttyfilter_t *self, colour_t colour, buf_t *out)
{
    if (colour == COLOUR_COUNT) {
        ttyfilter_end_value(self, out);
        go_on_with_own(self, out);
        return;
    }
    self->own = colour_code(colour, PAINT_PLAIN);
    buf_puts(out, self->own);
    if (colour == COLOUR_ENDC)
        self->own = NULL;
    self->begun = 0; /* every colour code begins with a reset */
}

/* ---- the text -------------------------------------------------------------------------------- */

/* Each take_ function returns the bytes done, 0 when it needs more bytes to decide. */

/* True when a UTF-8 character begins here and is not complete yet. */
static bool
is_cut(const char *s, size_t len)
{
    unsigned char lead = (unsigned char) s[0];
    size_t need = lead >= 0xf0 && lead < 0xf8   ? 4
                  : lead >= 0xe0 && lead < 0xf0 ? 3
                  : lead >= 0xc0 && lead < 0xe0 ? 2
                                                : 1;

    for (size_t i = 1; i < len && i < need; i++)
        if (((unsigned char) s[i] & 0xc0) != 0x80)
            return false;
    return len < need;
}

/* Handles one character that is not plain text. A line break ends what a value has switched on; all else that
 * could drive the terminal is made visible. */
static size_t
take_other(ttyfilter_t *self, const char *s, size_t len, bool last, buf_t *out)
{
    if (*s == ESC) {
        colour_t colour = COLOUR_ENDC;
        int mark = colour_mark(s, len, &colour), sgr = mark > 0 ? 0 : take_sgr(s, len, &self->begun);
        if (mark > 0) {
            take_mark(self, colour, out);
            return (size_t) mark;
        }
        if (sgr > 0) {
            buf_add(out, s, (size_t) sgr);
            return (size_t) sgr;
        }
        return (mark < 0 || sgr < 0) && !last ? 0 : visible_show(out, s, 1, VISIBLE_CARET);
    }
    if (*s == '\n') {
        ttyfilter_end_value(self, out);
        buf_putc(out, '\n');
        go_on_with_own(self, out);
        return 1;
    }
    return !last && is_cut(s, len) ? 0 : visible_show(out, s, len, VISIBLE_CARET);
}

/* Handles a piece and keeps the undecided rest for the next one. */
static void
take_piece(ttyfilter_t *self, const char *s, size_t len, bool last, buf_t *out)
{
    size_t done = 0, n;

    /* Plain text goes out in runs; all else is decided a character at a time. */
    do {
        n = visible_run(s + done, len - done);
        buf_add(out, s + done, n);
        done += n;
        n = done < len ? take_other(self, s + done, len - done, last, out) : 0;
        done += n;
    } while (n > 0);
    self->n_held = len - done;
    salt_assert(self->n_held <= sizeof(self->held));
    memcpy(self->held, s + done, self->n_held);
}

void
ttyfilter_add(ttyfilter_t *self, const char *s, size_t len, buf_t *out)
{
    if (self->n_held == 0) {
        take_piece(self, s, len, false, out);
        return;
    }
    buf_auto_t whole = BUF_INIT;
    buf_add(&whole, self->held, self->n_held);
    buf_add(&whole, s, len);
    take_piece(self, buf_str(&whole), whole.len, false, out);
}

void
ttyfilter_end(ttyfilter_t *self, buf_t *out)
{
    char rest[TTYFILTER_HELD];
    size_t n = self->n_held;

    memcpy(rest, self->held, n);
    take_piece(self, rest, n, true, out);
    if (self->own != NULL || (self->begun & ALL) != 0)
        buf_puts(out, RESET);
    self->own = NULL;
    self->begun = 0;
}
