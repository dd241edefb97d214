/* ini_read.h - text in the form of Python's configparser as a dict of dicts.
 *
 * Layer      plugins/lib/call
 * Ownership  results are NEW
 * Errors     NULL raised, with the text of Python's exception
 * Tests      tests/cases/exec/slsutil.deserialize.json, tests/cases/state/file.serialize.json
 */
#ifndef PLUGINS_LIB_CALL_INI_READ_H
#define PLUGINS_LIB_CALL_INI_READ_H

#include "common/py/py_ops.h"

/* {section: {option: text}}: options in lower case, those of DEFAULT in each section, %(name)s replaced.
 * TAKES `defaults`, {option: text} of DEFAULT before the text is read. */
py_t *ini_read(const char *text, size_t len, py_t *defaults);
/* An option's name as it counts: in lower case. */
py_t *ini_option(py_t *name);

#endif
