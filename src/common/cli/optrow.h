/* optrow.h - questions about one option row, for the parser, the help, the completion and the manual pages.
 *
 * Layer      common/cli, for optparse*.c, complete*.c and the manual pages
 * Tests      tests/unit/common/test_optparse.c
 */
#ifndef COMMON_CLI_OPTROW_H
#define COMMON_CLI_OPTROW_H

#include "common/cli/optparse.h"

/* Walks the names of a row: for (size_t len; (name = optrow_next_name(&pos, &len)) != NULL;) with `pos` at
 * row->names at first. The names are not NUL-terminated; *ret_len is their length. */
const char *optrow_next_name(const char **pos, size_t *ret_len);

static inline bool
optrow_is_long(const char *name)
{
    return name[0] == '-' && name[1] == '-';
}

/* The first long name of a row, else its first name. BORROWED. */
const char *optrow_first_name(const opt_row_t *row, size_t *ret_len);
/* Walks the options of all tables, without the headlines: for (size_t t = 0, r = 0; (row = optrow_next(spec,
 * &t, &r)) != NULL;) */
const opt_row_t *optrow_next(const opt_spec_t *spec, size_t *table, size_t *row);

bool optrow_takes_value(const opt_row_t *row);
/* The key of the option in the result. NEW. */
char *optrow_key(const opt_row_t *row);
/* The placeholder of the option's value in the help, such as TIMEOUT. NEW. */
char *optrow_metavar(const opt_row_t *row);

#endif
