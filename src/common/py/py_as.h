/* py_as.h - a value as the struct of its type, with the type asserted: templates and SLS files decide which
 * types they pass, and a wrong cast would corrupt memory. BORROWED, as the value is. */
#ifndef COMMON_PY_PY_AS_H
#define COMMON_PY_PY_AS_H

#include "common/py/py_obj.h"

static inline pydict_t *
py_as_dict(const py_t *v)
{
    salt_assert(py_is(v, PY_DICT) || py_is(v, PY_SET));
    return (pydict_t *) v;
}

static inline pylist_t *
py_as_list(const py_t *v)
{
    salt_assert(py_is(v, PY_LIST));
    return (pylist_t *) v;
}

static inline pytuple_t *
py_as_tuple(const py_t *v)
{
    salt_assert(py_is(v, PY_TUPLE));
    return (pytuple_t *) v;
}

#endif
