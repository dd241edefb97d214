/* descent.h - into folders inside folders, however many: of those that one is in, a bounded number is open.
 *
 * A folder above is opened again as ".." of the one below it, and must be the one that it was: who moves a
 * folder meanwhile ends the descent. No link is followed.
 *
 * Layer      common/base
 * Threads    one at a time
 * Ownership  what a level is given goes with it
 * Errors     negative errno; the caller words it
 * Tests      tests/unit/common/test_descent.c
 */
#ifndef COMMON_BASE_DESCENT_H
#define COMMON_BASE_DESCENT_H

#include <dirent.h>

#include "salt/base.h"

#define DESCENT_OPEN 16 /* descriptors */

typedef void descent_free_fn(void *own);

typedef struct descent {
    struct descent_level *v;
    size_t depth, cap;
    descent_free_fn *free_own; /* NULL: nothing is given */
} descent_t;
#define DESCENT_INIT   ROW(NULL, 0, 0, NULL)
#define descent_auto_t __attribute__((cleanup(descent_end))) descent_t

/* Into the folder `name` of `dir`, which is the innermost one's descriptor, or at first any. */
int descent_down(descent_t *self, int dir, const char *name);
/* Out of the innermost folder. -ESTALE: it was moved, or the one above it was replaced. */
int descent_up(descent_t *self);
void descent_end(descent_t *self);

/* Stream of the innermost folder, BORROWED until the next step. A folder may have to be read again from its
 * start after a step back out of a deeper one. */
DIR *descent_dir(const descent_t *self);
const char *descent_name(const descent_t *self);
void *descent_own(const descent_t *self);
void descent_give(descent_t *self, void *own);

#endif
