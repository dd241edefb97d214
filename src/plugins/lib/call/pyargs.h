/* pyargs.h - the arguments of native functions: Python's values by name.
 *
 * Layer      plugins/lib/call
 * Ownership  BORROWED
 */
#ifndef PLUGINS_LIB_CALL_PYARGS_H
#define PLUGINS_LIB_CALL_PYARGS_H

#include "common/py/py_error.h"
#include "common/py/py_ops.h"

/* Python's truth; an undefined value, and one that is not there, is false. */
static inline bool
pyarg_flag(py_t *args, const char *name)
{
    py_t *v = py_dict_gets(args, name);
    int truth = v != NULL ? py_truth(v) : 0;

    if (truth < 0)
        py_clear();
    return truth > 0;
}

/* False, with the exception raised, for an undefined value whose class forbids its use. */
static inline bool
pyarg_defined(py_t *args, const char *name)
{
    py_t *v = py_dict_gets(args, name);

    return v == NULL || py_truth(v) >= 0;
}

/* `dflt` for what is not a str. */
static inline const char *
pyarg_text(py_t *args, const char *name, const char *dflt)
{
    py_t *v = py_dict_gets(args, name);

    return v != NULL && py_is(v, PY_STR) ? py_cstr(v) : dflt;
}

#endif
