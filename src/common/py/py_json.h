/* py_json.h - Python values to jansson's and back. This table decides what becomes of values that JSON lacks:
 *
 *   tuple, set, frozenset, range, views, iterators   array (a set in its order)
 *   OrderedDict, namespace                           object
 *   key that is not a str                            Python's str() of it; of two equal ones the later value,
 *                                                    at the earlier place
 *   int beyond 64 bits                               string of its digits
 *   inf, -inf, nan                                   string ".inf", "-.inf", ".nan"
 *   bytes                                            string; invalid UTF-8 replaced
 *   str with a lone surrogate                        U+FFFD in its place
 *   Markup                                           string
 *   Undefined                                        null, or raised when its class forbids printing
 *   functions, hosts                                 string: Python's str() of it
 *   a container that contains itself                 raised: ValueError "Circular reference detected"
 *   more than LIMIT_YAML_NODES values, or            raised: LimitError; a shared value counts at each place
 *   LIMIT_YAML_TEXT bytes of texts and keys
 *
 * Layer      common/py
 * Threads    as py.h
 * Tests      tests/unit/common/test_py_json.c, tests/cases/py/json.json */
#ifndef COMMON_PY_PY_JSON_H
#define COMMON_PY_PY_JSON_H

#include "common/py/py_error.h"

/* NEW, or NULL raised. */
json_t *py_to_json(py_t *v);
/* Checks that py_to_json(v) stays within these limits, for callers that convert it in parts: 0, or -1 raised.
 */
int py_json_fits(py_t *v);
/* NEW; NULL becomes None. Objects become dicts. */
py_t *py_from_json(const json_t *v);
/* The same for a peer's data: each text is marked (py_peer.h). */
py_t *py_from_json_peer(const json_t *v);
/* The same for data of the machine that the result is for (SPAN_OWN). */
py_t *py_from_json_own(const json_t *v);
/* Building blocks for other conversions, NEW or NULL raised: an array of an iterable's elements, each by
 * `convert`; and the result of `fn` for a container, unless that contains itself or is nested too deep. */
typedef json_t *py_json_fn(py_t *v);
json_t *py_json_items(py_t *v, py_json_fn *convert);
json_t *py_json_within(py_t *v, py_json_fn *fn);
/* Counts a value made by `fn`, with `key_len` bytes of key for a member. 0, or -1 raised: too many in total.
 */
int py_json_count(const json_t *made, size_t key_len);

/* json.dumps with Python's text, separators and escapes. */
typedef struct py_dumps {
    const char *item_sep, *key_sep; /* NULL: ", " (or "," with indent) and ": " */
    int indent;                     /* -1: none */
    bool sort_keys;
    bool ensure_ascii;
} py_dumps_t;
#define PY_DUMPS_INIT ROW(NULL, NULL, -1, false, true)
/* NEW str, or NULL raised: TypeError "Object of type set is not JSON serializable". */
py_t *py_json_dumps(py_t *v, const py_dumps_t *how);
/* json.loads of UTF-8 text: NEW, or NULL raised: JSONDecodeError, a ValueError. */
extern const py_exc_t py_JSONDecodeError;
py_t *py_json_loads(const char *text, size_t len);

#endif
