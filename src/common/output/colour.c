/* colour.c - terminal colours by Salt's names. */
#include "common/output/colour.h"

#define COLOUR_CODE(name, codes) "\033[" codes "m",
static const char *const sequences[COLOUR_COUNT] = { COLOURS(COLOUR_CODE) };
#undef COLOUR_CODE

const char *
colour_code(colour_t c, bool on)
{
    return on ? sequences[c] : "";
}

void
colour_add(buf_t *out, colour_t c, bool on, const char *text)
{
    buf_puts(out, colour_code(c, on));
    buf_puts(out, text);
    buf_puts(out, colour_code(COLOUR_ENDC, on));
}
