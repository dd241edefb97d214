/* optrow.h - what the parser, the help and the manual pages ask of an option row.
 *
 * Layer      common/cli, for optparse*.c, complete*.c and the manual pages
 * Tests      tests/unit/common/test_optparse.c
 */
#ifndef COMMON_CLI_OPTROW_H
#define COMMON_CLI_OPTROW_H

#include "common/cli/optparse.h"

/* Walk the names of a row: for (size_t len; (name = optrow_next_name(&pos, &len)) != NULL;) with `pos` at
 * row->names. */
const char *optrow_next_name(const char **pos, size_t *ret_len);

static inline bool
optrow_is_long(const char *name)
{
    return name[0] == '-' && name[1] == '-';
}

/* First long name of a row, else its first name. */
const char *optrow_first_name(const opt_row_t *row, size_t *ret_len);
/* Walk the options of all tables: for (size_t t = 0, r = 0; (row = optrow_next(spec, &t, &r)) != NULL;) */
const opt_row_t *optrow_next(const opt_spec_t *spec, size_t *table, size_t *row);

bool optrow_takes_value(const opt_row_t *row);
/* NEW key of the result. */
char *optrow_key(const opt_row_t *row);
/* NEW: what its value is called. */
char *optrow_metavar(const opt_row_t *row);

#endif
