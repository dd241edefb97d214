/* values.h - data with values that JSON lacks, in py_wire's form: {"$py": [kind, ...]}.
 *
 * Layer      common/output, for the outputters only
 * Threads    any
 * Ownership  said per function
 * Tests      tests/unit/common/test_output.c, tests/cases/output/plain.json
 */
#ifndef COMMON_OUTPUT_VALUES_H
#define COMMON_OUTPUT_VALUES_H

#include "common/base/buf.h"
#include "common/py/py.h"
#include "salt/value.h"

/* The kind of such a value ("dict", "bytes", ...), and what follows it; NULL: it is plain JSON. BORROWED. */
const char *output_kind(const json_t *v, json_t **ret_rest);
/* True when there is such a value anywhere in it. */
bool output_has_kinds(json_t *v);
/* The value as far as JSON alone can say it. NEW. */
json_t *output_plain(const json_t *v);
/* str() of its value. False when Python has no value for it. */
bool output_kind_str(buf_t *out, const json_t *v);
/* The value as json.dumps(default=repr) takes it: what it does not know is its repr(). NEW. */
json_t *output_default_repr(json_t *v);
/* A dict's members as `nested` shows them: {"text": key, "value": value}, in the order of the keys, or of
 * their texts when they can't be compared. `pairs` is what follows "dict". NEW array. */
json_t *output_members(const json_t *pairs);

#endif
