/* ttyfilter.h - makes text that peers had a hand in safe for a terminal.
 *
 * Only colours, bold and underline pass (SGR 0, 1, 4, 22, 24, 30-49 without 48/38's other forms than 5;N and
 * 2;R;G;B, 90-107). They end with the line, and at a bound (common/output/colour.h). Every other control
 * character is shown instead of sent: ^[, \x9b, \u202e. Line breaks and tabs pass. Halite's own colours come
 * as marks and may cover several lines.
 *
 * Layer      common/cli
 * Threads    one at a time
 * Bounds     at most TTYFILTER_HELD bytes are held back until later bytes decide about them
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

/* Appends what the terminal gets for these bytes. The input may be cut anywhere. */
void ttyfilter_add(ttyfilter_t *self, const char *s, size_t len, buf_t *out);
/* Appends the bytes that were held back, and a reset when something is still on. */
void ttyfilter_end(ttyfilter_t *self, buf_t *out);

#endif
