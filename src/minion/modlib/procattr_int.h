/* procattr_int.h - attributes of a process that have files of their own; private to procattr.c.
 *
 * Layer      minion/modlib
 */
#ifndef MINION_MODLIB_PROCATTR_INT_H
#define MINION_MODLIB_PROCATTR_INT_H

#include "common/base/procfs.h"

/* NEW; None where they may not be seen, and with *err as in procfs.h. */
typedef json_t *attr_fn(const procfs_proc_t *p, fail_t *err);
attr_fn attr_connections, attr_ionice, attr_memory_maps;

#endif
