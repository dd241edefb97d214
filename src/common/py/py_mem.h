/* py_mem.h - memory within a render's budget. The caller remembers sizes: blocks have no header.
 *
 * Layer      common/py; for the files of this folder, and for arrays of an engine
 * Threads    one scope per thread
 * Tests      tests/unit/common/test_py_*.c */
#ifndef COMMON_PY_PY_MEM_H
#define COMMON_PY_PY_MEM_H

#include "common/py/py.h"
#include "common/py/py_host.h"

/* These never fail; they count for the limit, which the next tick checks. */
void *py_alloc(size_t size);
void py_release(void *p, size_t size);
/* As py_alloc when the limit has room for it, else NULL raised. */
void *py_alloc_room(size_t size);
void *py_resize(void *p, size_t old, size_t size);
/* Next capacity of a full array of `cap` elements of `size` bytes: half as many again, or a sixteenth near
 * the limit, where the next step raises. */
size_t py_next_cap(size_t cap, size_t size);
/* A new value with one reference; py_new_held also links it into the scope's list of containers. */
void *py_new(size_t size, py_type_t type);
void *py_new_held(size_t size, py_type_t type);
struct pyheld;
void py_unlink(struct pyheld *v);
/* Releases all that `v` holds, leaving a valid empty value; calls `visit` for each value that it holds. */
void py_drop_held(py_t *v);
void py_walk_held(py_t *v, py_visit_fn *visit, void *cookie);

#endif
