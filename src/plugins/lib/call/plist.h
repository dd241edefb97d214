/* plist.h - property lists, in XML and in the binary form, as Python's plistlib reads and writes them.
 *
 * A date is py_yaml_time() of "2020-01-02T03:04:05Z", with a fraction of the second where the binary form has
 * one.
 *
 * Layer      plugins/lib/call
 * Ownership  results are NEW
 * Errors     NULL raised, in plistlib's words where it has some
 * Tests      tests/cases/exec/slsutil.serialize.json, slsutil.deserialize.json,
 *            tests/cases/state/file.serialize.json
 */
#ifndef PLUGINS_LIB_CALL_PLIST_H
#define PLUGINS_LIB_CALL_PLIST_H

#include "common/py/py_ops.h"

typedef struct plist_options {
    bool unsorted;  /* keys stay in the order of the mapping */
    bool skip_keys; /* keys that are no text are left out instead of an error */
} plist_options_t;

/* bytes of the XML form, which end with a line feed. */
py_t *plist_write_xml(py_t *v, const plist_options_t *how);
/* bytes of the binary form. */
py_t *plist_write_binary(py_t *v, const plist_options_t *how);
/* Reads either form. Other encodings of the XML than UTF-8, and UIDs of key archives, are refused. */
py_t *plist_read(const char *bytes, size_t len);

#endif
