/* lists.h - what runners list, as tables for a person at a terminal, the newest first. Programs, and who asks
 * for an outputter, get the whole return.
 *
 * Layer      cli
 * Threads    one
 * Tests      tests/unit/cli/test_lists.c, tests/t/8110-pictures.bats
 */
#ifndef CLI_LISTS_H
#define CLI_LISTS_H

#include "cli/show.h"
#include "common/cli/columns.h"

/* The return of runner `fun` as a table. False: it is none of those, or has another shape. Pure. */
bool lists_text(const char *fun, const json_t *data, const columns_look_t *look, buf_t *out);
/* Prints it where stdout is a terminal and nothing else was asked for. False: nothing was printed. */
bool lists_show(show_t *show, const char *fun, const json_t *data);

#endif
