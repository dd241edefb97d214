/* diff.h - unified differences, line for line what Python's difflib prints, since Salt shows them as changes.
 *
 * Layer      common/data
 * Ownership  lines are BORROWED; the text is NEW
 * Tests      tests/unit/common/test_diff.c, with answers recorded from difflib
 */
#ifndef COMMON_DATA_DIFF_H
#define COMMON_DATA_DIFF_H

#include "salt/base.h"

/* A line with its line end; not NUL-terminated. */
typedef struct diff_line {
    const char *text;
    size_t len;
} diff_line_t;

enum {
    DIFF_LINES = 1000000,           /* of a text that is compared */
    DIFF_STEPS = 200 * 1000 * 1000, /* comparisons for that; below a second of a processor */
};

/* The lines of `text`, ends kept, split at LF only when `lf_only`, else at LF, CRLF and CR. NEW array. */
diff_line_t *diff_lines(const char *text, size_t len, bool lf_only, size_t *ret_n);

/* NEW text, "" when equal: difflib.unified_diff(a, b, from_name, to_name) joined. The header is "---
 * FROM\n+++ TO\n"; empty names give Salt's "--- \n+++ \n". Above LIMIT_DIFF_TEXT it is cut, and says by
 * how much; texts above LIMIT_DIFF_FILE or DIFF_LINES, and such as take more than DIFF_STEPS, are not
 * compared: "Replace text of N bytes by one of M bytes (...)", without a line end. */
char *diff_unified(const diff_line_t *a, size_t n_a, const diff_line_t *b, size_t n_b, const char *from_name,
                   const char *to_name);
/* The same for two whole texts, split as Python's splitlines(True) does, and at LF only. */
char *diff_texts(const char *a, size_t len_a, const char *b, size_t len_b, const char *from_name,
                 const char *to_name);
char *diff_texts_lf(const char *a, size_t len_a, const char *b, size_t len_b, const char *from_name,
                    const char *to_name);

#endif
