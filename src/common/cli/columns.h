/* columns.h - rows as columns that fit the width of a terminal: for people, not for programs, which read what
 * an outputter writes.
 *
 * A column is as wide as its widest cell. Where all are too wide together, the widest of those that may
 * shrink gives way, and its cells end in a mark where they are cut; where that is not enough, columns are left
 * out, those that are needed least first.
 *
 * Pure. Layer      common/cli
 * Threads    any
 * Tests      tests/unit/common/test_columns.c
 */
#ifndef COMMON_CLI_COLUMNS_H
#define COMMON_CLI_COLUMNS_H

#include "common/output/colour.h"
#include "salt/base.h"

enum { COLUMNS_MAX = 12 };

typedef struct column {
    const char *title;
    size_t least; /* columns of the terminal to which it may shrink; 0: never */
    int leave;    /* the highest is left out first; 0: it stays */
} column_t;

typedef struct columns_look {
    size_t width; /* of the terminal */
    bool utf8;    /* the mark may be an ellipsis */
    paint_t paint;
} columns_look_t;

/* Appends a line of titles and a line for each row. `rows`: arrays of texts, one for each of the `n` columns
 * (at most COLUMNS_MAX), and behind them, if there is one, a number: the colour_t of the row. */
void columns_draw(const column_t *columns, size_t n, const json_t *rows, const columns_look_t *look,
                  buf_t *out);

#endif
