/* py_traverse.h - "a:b:0" through dicts and lists, as salt.utils.data.traverse_dict_and_list does.
 *
 * Layer      common/py
 * Threads    as py.h
 * Errors     NULL: nothing there, or raised (py_raised() tells)
 * Tests      tests/cases/jinja (the filter `traverse`), tests/cases/exec (grains.get, ...)
 */
#ifndef COMMON_PY_PY_TRAVERSE_H
#define COMMON_PY_PY_TRAVERSE_H

#include "common/py/py_ops.h"

/* Follows `key`, a str, an int or a list of parts. In a list a part is an index, or the key of a dict in it;
 * a part that is a number in YAML also finds a numeric key. NEW. */
py_t *py_traverse(py_t *data, py_t *key, const char *delimiter);

#endif
