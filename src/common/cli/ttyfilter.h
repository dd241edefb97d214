/* ttyfilter.h - what a terminal gets of a text in which peers had a hand.
 *
 * Of what drives a terminal only colours, bold and underline pass (SGR 0, 1, 4, 22, 24, 30-49 without 48/38's
 * other forms than 5;N and 2;R;G;B, 90-107): they end with the line, and where a bound stands
 * (common/output/colour.h). All else is shown: ^[, \x9b, \u202e. Line breaks and tabs pass. Halite's own
 * colours, which come as marks, may go over several lines.
 *
 * Layer      common/cli
 * Threads    one at a time
 * Bounds     what is held back until more bytes tell what it is: TTYFILTER_HELD bytes
 * Tests      tests/unit/common/test_ttyfilter.c; fuzz target tests/fuzz/fuzz_ttyfilter.c
 */
#ifndef COMMON_CLI_TTYFILTER_H
#define COMMON_CLI_TTYFILTER_H

#include "common/base/buf.h"
#include "salt/base.h"

enum { TTYFILTER_HELD = 64 };

typedef struct ttyfilter {
    char held[TTYFILTER_HELD]; /* the start of a sequence or a character, as far as it came */
    size_t n_held;
    unsigned begun;  /* what a value's sequences have switched on */
    const char *own; /* Halite's colour that is on. BORROWED; NULL: none */
} ttyfilter_t;

#define TTYFILTER_INIT ROW(.n_held = 0)

/* Append what the terminal gets of these bytes. Pieces may be cut anywhere. */
void ttyfilter_add(ttyfilter_t *self, const char *s, size_t len, buf_t *out);
/* What was held back, and the reset of what is on. */
void ttyfilter_end(ttyfilter_t *self, buf_t *out);

#endif
