/* wrap.c - Python's textwrap: words, hyphens and dashes, lines of limited width.
 *
 * The text is cut into chunks that may not be broken (words with the punctuation behind them, parts of
 * hyphenated words, runs of blanks), then the chunks are packed into lines. */
#include "common/base/utf8.h"
#include "common/output/pytext.h"

enum { TAB_STOP = 8 };

typedef struct text {
    uint32_t *cp; /* code points, one column each */
    size_t n;
} text_t;

static bool
wrap_is_letter(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0xc0 || c == 0xaa ||
           c == 0xb5 || c == 0xba;
}

static bool
wrap_is_word(uint32_t c)
{
    return wrap_is_letter(c) || (c >= '0' && c <= '9');
}

static bool
is_word_or_punct(uint32_t c)
{
    return wrap_is_word(c) || (c < 0x80 && c != 0 && strchr("!\"'&.,?", (int) c) != NULL);
}

/* The character at `i`; 0 outside of the text, since the patterns look to both sides. */
static uint32_t
wrap_at(const text_t *t, size_t i)
{
    return i < t->n ? t->cp[i] : 0;
}

/* Counts how often a character repeats from `i` on. */
static size_t
wrap_run_of(const text_t *t, size_t i, uint32_t c)
{
    size_t n = 0;

    while (wrap_at(t, i + n) == c)
        n++;
    return n;
}

/* True for two or more dashes with a word behind them. */
static bool
dash_before_word(const text_t *t, size_t i)
{
    size_t n = wrap_run_of(t, i, '-');

    return n >= 2 && wrap_is_word(wrap_at(t, i + n));
}

/* True when a word may be broken behind the hyphen at `i`: "re-use", "a-b-c", but not "2-3" or "--x". */
static bool
breaks_behind_hyphen(const text_t *t, size_t i)
{
    bool two_letters = i >= 2 && wrap_is_letter(wrap_at(t, i - 1)) && wrap_is_letter(wrap_at(t, i - 2));
    bool short_part = i >= 3 && wrap_is_letter(wrap_at(t, i - 3)) && wrap_at(t, i - 2) == '-' &&
                      is_word_or_punct(wrap_at(t, i - 1));

    if (wrap_at(t, i) != '-' || !(two_letters || short_part) || !wrap_is_letter(wrap_at(t, i + 1)))
        return false;
    return wrap_at(t, i + 2) == '-' ? wrap_is_letter(wrap_at(t, i + 3)) : wrap_is_letter(wrap_at(t, i + 2));
}

/* The end of the chunk that starts at `i`. */
static size_t
wrap_chunk_end(const text_t *t, size_t i)
{
    if (wrap_at(t, i) == ' ')
        return i + wrap_run_of(t, i, ' ');
    if (i > 0 && is_word_or_punct(wrap_at(t, i - 1)) && dash_before_word(t, i))
        return i + wrap_run_of(t, i, '-');
    for (size_t p = i + 1;; p++) {
        if (breaks_behind_hyphen(t, p))
            return p + 1;
        if (p >= t->n || wrap_at(t, p) == ' ')
            return p;
        if (is_word_or_punct(wrap_at(t, p - 1)) && dash_before_word(t, p))
            return p;
    }
}

/* Appends code points [from, to) as UTF-8. */
static void
wrap_add_range(buf_t *out, const text_t *t, size_t from, size_t to)
{
    for (; from < to; from++) {
        uint32_t c = t->cp[from];
        if (c < 0x80) {
            buf_putc(out, (char) c);
            continue;
        }
        if (c >= 0x10000) {
            buf_putc(out, (char) (0xf0 | c >> 18));
            buf_putc(out, (char) (0x80 | (c >> 12 & 0x3f)));
        } else if (c >= 0x800) {
            buf_putc(out, (char) (0xe0 | c >> 12));
        }
        buf_putc(out, (char) (c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6));
        buf_putc(out, (char) (0x80 | (c & 0x3f)));
    }
}

/* Break a chunk that is longer than a line: behind its last hyphen that fits, else at the line's end. */
static size_t
break_long(const text_t *t, size_t from, size_t room)
{
    for (size_t i = from + room; i-- > from + 1;) {
        if (wrap_at(t, i) != '-')
            continue;
        for (size_t k = from; k < i; k++) {
            if (wrap_at(t, k) != '-')
                return i + 1;
        }
        break;
    }
    return from + room;
}

/* Pack chunks from *pos into a line of at most `width` columns; [*from, *to) is the line without trailing
 * blanks. Chunks are contiguous, so a line is a range. */
static void
pack_line(const text_t *t, size_t *pos, size_t *chunk, size_t width, size_t *from, size_t *to)
{
    size_t start = *pos, end = start, last = start;

    while (start < t->n) {
        size_t next = *chunk > end ? *chunk : wrap_chunk_end(t, end);
        *chunk = next;
        if (next - start > width) {
            if (next - end > width) {
                last = end;
                end = break_long(t, end, width - (end - start));
            }
            break;
        }
        last = end;
        end = next;
        if (end >= t->n)
            break;
    }
    *pos = end;
    *from = start;
    *to = end > last && wrap_at(t, last) == ' ' ? last : end; /* a chunk is blank as a whole or not at all */
}

void
pytext_wrap(buf_t *out, const char *text, int width, int indent)
{
    size_t room = width > 1 ? (size_t) width : 1, pos = 0, chunk = 0, from, to;
    bool first = true;
    text_t t;

    /* Decode to code points; tabs are expanded, other white space becomes blanks. */
    size_t len = strlen(text), column = 0, tabs = 0;
    for (const char *p = text; (p = strchr(p, '\t')) != NULL; p++)
        tabs++;
    t = (text_t){ xcalloc(len + tabs * (TAB_STOP - 1) + 1, sizeof(uint32_t)), 0 };
    for (size_t i = 0, n; i < len; i += n) {
        uint32_t cp = (unsigned char) text[i];
        n = utf8_next(text + i, len - i, &cp);
        n = n == 0 ? 1 : n;
        size_t blanks = cp == '\t' ? TAB_STOP - column % TAB_STOP : cp >= '\n' && cp <= '\r' ? 1 : 0;
        for (size_t k = 0; k < blanks; k++)
            t.cp[t.n++] = ' ';
        if (blanks == 0)
            t.cp[t.n++] = cp;
        column = cp == '\n' || cp == '\r' ? 0 : column + (blanks > 0 ? blanks : 1);
    }

    while (pos < t.n) {
        if (!first && wrap_at(&t, pos) == ' ')
            pos += wrap_run_of(&t, pos, ' ');
        pack_line(&t, &pos, &chunk, room, &from, &to);
        if (to == from)
            continue;
        if (!first) {
            buf_putc(out, '\n');
            buf_fill(out, ' ', (size_t) indent);
        }
        wrap_add_range(out, &t, from, to);
        first = false;
    }
    free(t.cp);
}
