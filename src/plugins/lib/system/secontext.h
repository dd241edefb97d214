/* secontext.h - contexts of SELinux ("user:role:type:level"), and what restorecon says it changes of them.
 *
 * Layer      plugins/lib/system
 * Threads    any: pure functions
 * Ownership  results are NEW
 * Errors     NULL with *err
 * Tests      tests/cases/exec/selinux.fcontext_*.json
 */
#ifndef PLUGINS_LIB_SYSTEM_SECONTEXT_H
#define PLUGINS_LIB_SYSTEM_SECONTEXT_H

#include "salt/value.h"

/* {"sel_user", "sel_role", "sel_type", "sel_level"} */
json_t *secontext_of(const char *text, fail_t *err);
/* What `restorecon -n -v` would relabel: {path: {"old": {...}, "new": {...}}}, of each context the parts that
 * differ. NULL without *err: this is no output of restorecon. */
json_t *secontext_relabels(const char *said, fail_t *err);

#endif
