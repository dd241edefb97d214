/* field.h - values that become part of a line of a system's file: crontab, sources.list, sysctl.conf, dpkg's
 * selections. One with a line break, or with what parts the fields of that file, would become lines and fields
 * of its own, so that each writer of such a file asks here first.
 *
 * Layer      plugins/lib/file
 * Threads    any
 * Ownership  values are BORROWED
 * Errors     -EINVAL, FAIL_INVOCATION: which argument, its value, and what it may not hold
 * Tests      tests/unit/plugins/test_field.c
 */
#ifndef PLUGINS_LIB_FILE_FIELD_H
#define PLUGINS_LIB_FILE_FIELD_H

#include "salt/value.h"

#define FIELD_LINE ""        /* one line, whatever else is in it */
#define FIELD_WORD " \t\v\f" /* one word; more separators may follow: FIELD_WORD "=" */

/* Characters that a word, and a text in "...", may not have in files that a shell reads. */
#define FIELD_SHELL  FIELD_WORD "\"'`$\\;&|<>()"
#define FIELD_QUOTED "\"`$\\"

/* Line breaks and the characters of `separators` are refused. */
int field_check_text(const char *argument, const char *value, const char *separators, fail_t *err);
/* The same for a value as it was given, and for each of a list; None and NULL pass. */
int field_check(const char *argument, const json_t *value, const char *separators, fail_t *err);

#endif
