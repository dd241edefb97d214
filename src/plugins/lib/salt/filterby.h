/* filterby.h - salt.utils.data.filter_by: grains.filter_by and pillar.filter_by.
 *
 * Layer      plugins/lib/salt
 * Tests      tests/cases/exec/grains.filter_by.json
 */
#ifndef PLUGINS_LIB_SALT_FILTERBY_H
#define PLUGINS_LIB_SALT_FILTERBY_H

#include "common/py/py_ops.h"

/* The value of `lookup` whose key, a glob, fits what `data` has at the path `key`; `args` is the dict with
 * lookup_dict, merge, default and base. Its merge is laid over the value where that stands. NEW, or NULL
 * raised. */
py_t *filter_by(py_t *data, py_t *key, py_t *args);
/* The value of `lookup` for one of `values`, a list or one of them: under its own text, else under a glob
 * that fits. BORROWED; NULL: nothing fits, it is None, or raised. */
py_t *filter_by_find(py_t *lookup, py_t *values);

#endif
