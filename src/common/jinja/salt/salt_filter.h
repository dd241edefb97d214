/* salt_filter.h - shared by the files of Salt's filters.
 *
 * Layer      common/jinja, private
 * Threads    one
 * Ownership  as filter.h
 * Errors     NULL raised
 * Tests      tests/cases/jinja */
#ifndef COMMON_JINJA_SALT_SALT_FILTER_H
#define COMMON_JINJA_SALT_SALT_FILTER_H

#include "common/jinja/filter/filter.h"

/* A filter that may leave its arguments unused. */
#define JFILTER(fn) static py_t *fn(jcontext_t *ctx, py_t *const *a, const py_args_t *args)

jfilter_fn jtest_match;
/* re.match, or TypeError when it is not text: 1, 0 or -1. */
int jregex_fullmatch(const char *pattern, py_t *text);
/* Reserves memory for the compiled expression: 0, or -1 raised. */
int jregex_room(const char *pattern);

/* A number when the text is one, else the text. NEW. */
py_t *jto_num(py_t *text);
/* os.path.normpath. NEW. */
char *jnormal_path(const char *path);

#endif
