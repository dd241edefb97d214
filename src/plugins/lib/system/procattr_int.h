/* procattr_int.h - attributes of a process that have files of their own; private to procattr.c.
 *
 * Layer      plugins/lib/system
 */
#ifndef PLUGINS_LIB_SYSTEM_PROCATTR_INT_H
#define PLUGINS_LIB_SYSTEM_PROCATTR_INT_H

#include "common/host/procfs.h"

/* NEW; None where they may not be seen, and with *err as in procfs.h. */
typedef json_t *attr_fn(const procfs_proc_t *p, fail_t *err);
attr_fn attr_connections, attr_ionice, attr_memory_maps;

#endif
