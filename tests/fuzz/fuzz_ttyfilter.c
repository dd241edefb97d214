/* fuzz_ttyfilter.c - the terminal filter over arbitrary bytes. The first byte is the size of the pieces in
 * which they come, the second chooses if Halite's own colour marks are among them.
 *
 * Checked: the output does not depend on the pieces; it has no control sequence but colours, bold and
 * underline; attributes that a value turned on end with its line; filtering the output again changes nothing.
 */
#include "common/base/visible.h"
#include "common/cli/ttyfilter.h"
#include "common/output/colour.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_INPUT = 16 * 1024, HEAD = 2, SECRET_AT = 2 };

/* True when the input holds the secret of the colour marks. A fuzzer can read it from this process's
 * comparisons; a peer can't. */
static bool
has_secret(const buf_t *text)
{
    const char *mark = colour_bound(PAINT_MARKED);

    return text->len > 0 &&
           memmem(text->data, text->len, mark + SECRET_AT, strlen(mark) - SECRET_AT - 1) != NULL;
}

/* The numbers that belong to a 38 or 48: 5 and one, or 2 and three. Any value of them is a colour. */
static size_t
colour_parts(const long *numbers, size_t n)
{
    salt_assert(n >= 2 && (numbers[0] == 5 || (numbers[0] == 2 && n >= 4)));
    return numbers[0] == 5 ? 2 : 4;
}

/* True for the SGR numbers that the filter lets through. */
static bool
may_pass(long number)
{
    return number <= 1 || number == 4 || number == 22 || number == 24 || (number >= 30 && number <= 49) ||
           (number >= 90 && number <= 107);
}

/* The attributes after a number, as bits: bold, underline, foreground, background. */
static unsigned
on_behind(unsigned on, long number)
{
    switch (number) {
    case 0:
        return 0;
    case 1:
        return on | 1;
    case 22:
        return on & ~1U;
    case 4:
        return on | 2;
    case 24:
        return on & ~2U;
    case 39:
        return on & ~4U;
    case 49:
        return on & ~8U;
    default:
        return on | (number < 40 || (number >= 90 && number < 100) ? 4U : 8U);
    }
}

/* Checks one sequence and updates the attributes; its length. */
static size_t
check_sgr(const char *s, unsigned *on)
{
    size_t len = strspn(s + 1, "[0123456789;") + 1, n = 0;
    AUTO_FREE char *text = xstrndup(s + 2, len - 2);
    long numbers[TTYFILTER_HELD];
    char *rest = text, *number;

    salt_assert(s[1] == '[' && s[len] == 'm' && len < TTYFILTER_HELD);
    while ((number = strsep(&rest, ";")) != NULL)
        numbers[n++] = strtol(number, NULL, 10);
    for (size_t i = 0; i < n; i++) {
        salt_assert(may_pass(numbers[i]));
        *on = on_behind(*on, numbers[i]);
        if (numbers[i] == 38 || numbers[i] == 48)
            i += colour_parts(numbers + i + 1, n - i - 1);
    }
    return len + 1;
}

/* Checks the output. `alone`: it has values only, no marks of Halite's. */
static void
check(const buf_t *out, bool alone)
{
    const char *s = buf_str(out), *end = s + out->len;
    unsigned on = 0;

    while (s < end) {
        s += visible_run(s, (size_t) (end - s));
        if (s == end)
            break;
        if (*s == '\033') {
            s += check_sgr(s, &on);
            continue;
        }
        salt_assert(*s == '\n' && !(alone && on != 0));
        s++;
    }
    salt_assert(on == 0);
}

/* Copies the input, with a colour, its end or a bound in the place of the bytes 1 to 3. */
static void
prepare(const uint8_t *data, size_t size, bool own, buf_t *out)
{
    const char *const marks[] = { colour_code(COLOUR_RED, PAINT_MARKED),
                                  colour_code(COLOUR_ENDC, PAINT_MARKED), colour_bound(PAINT_MARKED) };

    for (size_t i = 0; i < size; i++) {
        if (own && data[i] >= 1 && data[i] <= NELEMS(marks))
            buf_puts(out, marks[data[i] - 1]);
        else
            buf_putc(out, (char) data[i]);
    }
}

/* Filters a text in pieces of this size. */
static void
filter(const buf_t *text, size_t piece, buf_t *out)
{
    ttyfilter_t self = TTYFILTER_INIT;

    for (size_t at = 0; at < text->len; at += piece)
        ttyfilter_add(&self, text->data + at, piece < text->len - at ? piece : text->len - at, out);
    ttyfilter_end(&self, out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    buf_auto_t text = BUF_INIT, whole = BUF_INIT, pieces = BUF_INIT, again = BUF_INIT;

    if (size < HEAD || size > MAX_INPUT)
        return 0;
    bool own = (data[1] & 1) != 0;
    prepare(data + HEAD, size - HEAD, own, &text);
    if (!own && has_secret(&text))
        return 0;
    filter(&text, text.len + 1, &whole);
    filter(&text, (size_t) data[0] + 1, &pieces);
    salt_assert(whole.len == pieces.len && memcmp(buf_str(&whole), buf_str(&pieces), whole.len) == 0);
    check(&whole, !own);
    if (own)
        return 0;
    filter(&whole, whole.len + 1, &again);
    salt_assert(again.len == whole.len && memcmp(buf_str(&again), buf_str(&whole), whole.len) == 0);
    return 0;
}
