/* ttyguard.h - a program's stdout and stderr, each where it is a terminal, behind a filter (ttyfilter.h).
 * What goes into pipes and files is not touched. Status lines (progress, waitline, live) write to the
 * descriptor, and make their texts visible themselves (term.h); so does the log.
 *
 * Layer      common/cli
 * Threads    any, as stdio's
 * Tests      tests/unit/common/test_ttyguard.c, tests/t/8100-terminals.bats
 */
#ifndef COMMON_CLI_TTYGUARD_H
#define COMMON_CLI_TTYGUARD_H

#include <stdio.h>

#include "common/output/colour.h"

/* First thing in main(): before anything is printed. Ends with the program. */
void ttyguard_begin(void);
/* What goes to stdout may wait for more, to be written with it, until this is called with false: then all
 * of it is written. False when it can't be, with errno. */
bool ttyguard_hold(bool hold);
/* How an outputter writes colours into stdout, when it shall write some or none. */
paint_t ttyguard_paint(bool colour);
/* What stands between a value and text behind it on the same line (colour.h); "" when the stream is not
 * guarded. BORROWED. */
const char *ttyguard_bound(FILE *stream);
/* The descriptor beneath a stream: a guarded one has none of its own. */
int ttyguard_fd(FILE *stream);
/* A whole text for a file that somebody named: on a terminal what the filter makes of it. */
bool ttyguard_write(FILE *stream, const buf_t *text);

#endif
