/* py_merge.h - deep copies, and Salt's ways to merge two trees (salt.utils.dictupdate).
 *
 * Layer      common/py
 * Threads    as py.h
 * Ownership  results are NEW
 * Errors     NULL raised, or -1
 * Tests      tests/unit/common/test_py_merge.c */
#ifndef COMMON_PY_PY_MERGE_H
#define COMMON_PY_PY_MERGE_H

#include "common/py/py_ops.h"

/* copy.deepcopy: what is shared inside `v` is shared inside the copy, cycles too. */
py_t *py_deepcopy(py_t *v);
/* copy.copy: the container alone. */
py_t *py_copy(py_t *v);

/* dictupdate.update: merges `upd` into `dest`, which changes. Dicts in both are merged recursively; lists are
 * replaced, or with `merge_lists` extended by missing elements. Values of `upd` are shared, not copied. 0 or
 * -1. */
int py_update(py_t *dest, py_t *upd, bool merge_lists);
/* The same as dict.update when not `recursive`. */
int py_update_how(py_t *dest, py_t *upd, bool recursive, bool merge_lists);

/* dictupdate.merge: `a` with `b` over it. `strategy` is "recurse", "list" (of both values), "aggregate",
 * "overwrite" (changes `a`), "none" or "smart"; another is "recurse" with a warning in the log. `renderer`
 * ("jinja|yamlex") decides what "smart" means; NULL: "yaml". */
py_t *py_merge(py_t *a, py_t *b, const char *strategy, bool merge_lists);
py_t *py_merge_for(py_t *a, py_t *b, const char *strategy, const char *renderer, bool merge_lists);

#endif
