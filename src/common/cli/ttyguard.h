/* ttyguard.h - puts a program's stdout and stderr behind a filter (ttyfilter.h) where they are terminals.
 * Pipes and files get every byte as it is. Status lines (progress, waitline, live) and the log write to the
 * descriptor and make their texts visible themselves (term.h).
 *
 * Layer      common/cli
 * Threads    any, as stdio's
 * Tests      tests/unit/common/test_ttyguard.c, tests/t/8100-terminals.bats
 */
#ifndef COMMON_CLI_TTYGUARD_H
#define COMMON_CLI_TTYGUARD_H

#include <stdio.h>

#include "common/output/colour.h"

/* Call it first in main(), before anything is printed. Ends by itself at exit. */
void ttyguard_begin(void);
/* With true, output to stdout may be held back and written in larger pieces. With false all of it is written;
 * returns false with errno when that fails. */
bool ttyguard_hold(bool hold);
/* How an outputter has to mark colours for stdout, depending on whether it uses any. */
paint_t ttyguard_paint(bool colour);
/* The text that ends a value when other text follows on its line (colour.h); "" when the stream is not
 * guarded. BORROWED. */
const char *ttyguard_bound(FILE *stream);
/* The descriptor of a stream. A guarded stream has none that fileno() could tell. */
int ttyguard_fd(FILE *stream);
/* Writes a whole text to a file that the user named; if it is a terminal, through a filter. */
bool ttyguard_write(FILE *stream, const buf_t *text);

#endif
