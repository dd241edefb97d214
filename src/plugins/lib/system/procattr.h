/* procattr.h - the attributes of a process as psutil's Process.as_dict names them.
 *
 * Layer      plugins/lib/system
 * Threads    any but for user names (getpwuid)
 * Ownership  results are NEW
 * Errors     what may not be read is None or empty; *err as in procfs.h
 * Tests      tests/cases/exec/ps.proc_info.json
 */
#ifndef PLUGINS_LIB_SYSTEM_PROCATTR_H
#define PLUGINS_LIB_SYSTEM_PROCATTR_H

#include "common/host/procfs.h"

/* Name of the owner, or the number as text. */
json_t *procattr_user(const procfs_proc_t *p);
/* {"rss", "vms", "shared", "text", "lib", "data", "dirty"} in bytes. */
json_t *procattr_memory(pid_t pid, fail_t *err);
/* {"user", "system", "children_user", "children_system", "iowait"} in seconds. */
json_t *procattr_times(const procfs_proc_t *p);
/* When it started, in seconds since 1970. */
double procattr_created(const procfs_proc_t *p, fail_t *err);
/* Add the attributes named in a list, or all for an empty one, to `out`. -EINVAL for an unknown name;
 * `err` is not NULL. */
int procattr_add(const procfs_proc_t *p, json_t *names, json_t *out, fail_t *err);

#endif
