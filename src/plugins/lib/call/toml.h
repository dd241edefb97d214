/* toml.h - TOML 1.0, written as Python's library toml writes it, which Salt's serialiser uses.
 *
 * A date or time is py_yaml_time() of its own text.
 *
 * Layer      plugins/lib/call
 * Ownership  results are NEW
 * Errors     NULL raised: ValueError with the line
 * Tests      tests/cases/exec/slsutil.serialize.json, slsutil.deserialize.json,
 *            tests/cases/state/file.serialize.json
 */
#ifndef PLUGINS_LIB_CALL_TOML_H
#define PLUGINS_LIB_CALL_TOML_H

#include "common/py/py_ops.h"

/* The text of a dict; None is left out, as TOML has none. */
py_t *toml_write(py_t *v);
/* An OrderedDict. */
py_t *toml_read(const char *text, size_t len);

#endif
