/* serializers.h - Salt's serializers: Python's values to text and back.
 *
 * Layer      plugins/lib/call
 * Ownership  results are NEW
 * Errors     NULL raised
 * Tests      tests/cases/exec/slsutil.serialize.json, slsutil.deserialize.json
 */
#ifndef PLUGINS_LIB_CALL_SERIALIZERS_H
#define PLUGINS_LIB_CALL_SERIALIZERS_H

#include "common/py/py_ops.h"

enum { SERIALIZER_OPTIONS = 8 };

/* `options` is a dict of what Python's library would take: indent, sort_keys, default_flow_style, ... */
typedef py_t *serializer_fn(py_t *v, py_t *options);
typedef struct serializer {
    const char *name;
    serializer_fn *serialize, *deserialize;  /* NULL: has none */
    const char *options[SERIALIZER_OPTIONS]; /* of serialize(), up to the first NULL */
    bool bytes;                              /* what it writes and reads is bytes: no text, no line */
} serializer_t;

/* BORROWED row, or NULL. */
const serializer_t *serializer_find(const char *name);
/* serialize(), which the row must have; raises TypeError for an option that it does not take. */
py_t *serializer_write(const serializer_t *self, py_t *v, py_t *options);

#endif
