/* machineinfo.h - PRETTY_HOSTNAME in the text of /etc/machine-info: what people call this computer.
 *
 * Layer      plugins/lib/system
 * Threads    any
 * Ownership  results are NEW
 * Tests      tests/unit/plugins/test_system.c
 */
#ifndef PLUGINS_LIB_SYSTEM_MACHINEINFO_H
#define PLUGINS_LIB_SYSTEM_MACHINEINFO_H

#include "salt/base.h"

/* The last description in the file's text, unquoted; NULL when there is none. */
char *machineinfo_get(const char *text);
/* The text with this description, in the place of the first one or at its end. */
char *machineinfo_set(const char *text, const char *desc);
/* A description as the file and hostnamectl spell it: quotes, line breaks and tabs behind a backslash. */
char *machineinfo_escape(const char *desc);
char *machineinfo_unescape(const char *spelled);

#endif
