/* plist_int.h - what the files of plist.h share.
 *
 * Layer      plugins/lib/call
 * Ownership  results are NEW
 * Errors     NULL, or -1, raised
 * Tests      as plist.h
 */
#ifndef PLUGINS_LIB_CALL_PLIST_INT_H
#define PLUGINS_LIB_CALL_PLIST_INT_H

#include "plugins/lib/call/plist.h"

/* Lists and mappings inside each other: what is deeper is refused. */
enum { PLIST_DEPTH = 200 };

/* The keys of a mapping in the order in which they are written: a list of str. */
py_t *plist_keys(py_t *dict, const plist_options_t *how);
/* The date of these many seconds after 1970; `micros` is 0 to 999,999. */
py_t *plist_date(int64_t seconds, int micros);
/* The same of a date's text, "2020-01-02T03:04:05Z" or shorter. */
py_t *plist_date_read(const char *text);
/* BORROWED text of a date; NULL for other values. */
const char *plist_date_text(const py_t *v);
/* Seconds after 1970 of a date's text. */
double plist_date_seconds(const char *text);
py_t *plist_read_xml(const char *text, size_t len);
py_t *plist_read_binary(const char *bytes, size_t len);

#endif
