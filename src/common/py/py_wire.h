/* py_wire.h - Python values through JSON and back without loss: how pillar travels and is kept.
 *
 * None, booleans, integers of 64 bits, finite floats, text, lists, and dicts whose keys are text are what
 * they are in JSON. The rest is an object with the one key "$py":
 *   {"$py": ["dict", [[key, value], ...]]}   other keys, a key with NUL, or the key "$py" itself
 *   {"$py": ["int", "digits"]}  {"$py": ["float", "inf" | "-inf" | "nan"]}  {"$py": ["bytes", "base64"]}
 *   {"$py": ["peer", [text or bytes, from, to, flags, ...]]}   what peers said of it (py_peer.h); no places: all of it
 *   {"$py": ["peer", [list or dict]]}   peers said all texts and keys in it
 *   {"$py": ["tuple", [...]]}  {"$py": ["set", [...]]}  {"$py": ["frozenset", [...]]}
 * An OrderedDict is a dict, Markup is text, what is undefined is None; functions and objects are their str().
 *
 * Layer      common/py
 * Threads    as py.h
 * Ownership  results are NEW
 * Errors     py_to_wire: NULL raised, as py_to_json does for too many values. py_from_wire: a tag that is
 *            none of these stays the dict that it is
 * Tests      tests/unit/common/test_py_wire.c
 */
#ifndef COMMON_PY_PY_WIRE_H
#define COMMON_PY_PY_WIRE_H

#include "common/py/py.h"

json_t *py_to_wire(py_t *v);
/* The same with the marks of peers' data, except those of SPAN_OWN and of the keys of `v`: for the machine
 * that all of it is for. */
json_t *py_to_wire_peer(py_t *v);
py_t *py_from_wire(const json_t *v);
/* True when plain JSON represents all of it: py_to_wire(v) would have no "$py". */
bool py_wire_plain(const py_t *v);

#endif
