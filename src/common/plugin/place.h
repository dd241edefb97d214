/* place.h - assign values to arguments by Python's rules, with its error texts. Values are indices here, so
 * that JSON and Python's values are bound alike.
 *
 * Layer      common/plugin
 * Threads    any
 * Tests      tests/unit/common/test_plugin.c
 */
#ifndef COMMON_PLUGIN_PLACE_H
#define COMMON_PLUGIN_PLACE_H

#include "salt/plugin.h"

/* The rows of a function by how they are passed. */
typedef struct shape {
    const arg_t *pos; /* positional or keyword */
    size_t n_pos, n_required;
    const arg_t *only; /* after *args: by keyword only */
    size_t n_only;
    const arg_t *star, *starstar;
    size_t n; /* all of them */
} shape_t;
shape_t shape_of(const func_t *f);
/* The row for a keyword, except *args and **kwargs. NULL: none. BORROWED. */
const arg_t *shape_named(const shape_t *self, const char *key);

/* A given keyword: BORROWED name, and its row; NULL when **kwargs takes it. */
typedef struct keyword {
    const char *name;
    const arg_t *row;
} keyword_t;

#define NO_PLACE SIZE_MAX
typedef struct places {
    const func_t *f;
    shape_t shape;
    size_t n, nkw; /* values given by position and by keyword */
    keyword_t *kw;
    size_t *of; /* by row: its value's index, those by keyword from `n` on; NO_PLACE: none, or several */
} places_t;
#define PLACES_AUTO __attribute__((cleanup(places_free))) places_t

/* NEW room for so many values; the caller fills kw[].name in. */
places_t places_new(const func_t *f, size_t n, size_t nkw);
void places_free(places_t *self);
/* Finds kw[].row and of[]. -EINVAL with FAIL_ARGUMENTS: "echo() missing 1 required positional argument:
 * 'text'". */
int places_find(places_t *self, fail_t *err);

#endif
