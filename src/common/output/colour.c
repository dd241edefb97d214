/* colour.c - terminal colours by Salt's names, as sequences or as marks for the filter. A mark holds a random
 * secret of this process, so that no value can contain one. */
#include "common/output/colour.h"

#include <pthread.h>
#include <sys/random.h>

#define COLOUR_CODE(name, codes) "\033[" codes "m",
static const char *const sequences[COLOUR_COUNT] = { COLOURS(COLOUR_CODE) };
#undef COLOUR_CODE

/* A mark: ESC _, the secret in hexadecimal, a letter for the colour. */
enum { SECRET = 8, HEAD = 2 + 2 * SECRET, MARK = HEAD + 1, BOUND = COLOUR_COUNT, FIRST_LETTER = 'A' };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char marks[BOUND + 1][MARK + 1];

/* Makes marks that no peer can guess, so that a text can't forge Halite's own colours. An escape sequence of
 * the kind that terminals ignore holds the secret. */
static void
make_marks(void)
{
    unsigned char secret[SECRET];

    salt_assert(getrandom(secret, sizeof(secret), 0) == (ssize_t) sizeof(secret));
    for (size_t c = 0; c < NELEMS(marks); c++) {
        memcpy(marks[c], "\033_", 2);
        for (size_t i = 0; i < SECRET; i++)
            (void) snprintf(marks[c] + 2 + 2 * i, 3, "%02x", secret[i]);
        marks[c][HEAD] = (char) (FIRST_LETTER + c);
    }
}

static const char *
colour_mark_of(size_t c)
{
    (void) pthread_once(&once, make_marks);
    return marks[c];
}

const char *
colour_code(colour_t c, paint_t how)
{
    if (how == PAINT_PLAIN)
        return sequences[c];
    return how == PAINT_MARKED ? colour_mark_of(c) : colour_bound(how);
}

const char *
colour_bound(paint_t how)
{
    return how == PAINT_MARKED || how == PAINT_BOUNDS ? colour_mark_of(BOUND) : "";
}

void
colour_add(buf_t *out, colour_t c, paint_t how, const char *text)
{
    buf_puts(out, colour_code(c, how));
    buf_puts(out, text);
    buf_puts(out, colour_code(COLOUR_ENDC, how));
}

int
colour_mark(const char *s, size_t len, colour_t *ret_colour)
{
    const char *any = colour_mark_of(BOUND);

    if (memcmp(s, any, len < HEAD ? len : (size_t) HEAD) != 0)
        return 0;
    if (len <= HEAD)
        return -1;
    if (s[HEAD] < FIRST_LETTER || s[HEAD] > FIRST_LETTER + BOUND)
        return 0;
    *ret_colour = (colour_t) (s[HEAD] - FIRST_LETTER);
    return MARK;
}
