/* descent.h - a walk into nested folders of any depth with a bounded number of open descriptors.
 *
 * A folder far above is closed, and opened again as ".." of the one below it. It must be the same folder
 * then: a folder that was moved meanwhile ends the walk. Links are not followed.
 *
 * Layer      common/base
 * Threads    one at a time
 * Ownership  data attached to a level is freed with it
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
    descent_free_fn *free_own; /* NULL: levels have no data */
} descent_t;
#define DESCENT_INIT   ROW(NULL, 0, 0, NULL)
#define descent_auto_t __attribute__((cleanup(descent_end))) descent_t

/* Enters the folder `name` of `dir`: the descriptor of the innermost folder, or any folder for the first
 * step. */
int descent_down(descent_t *self, int dir, const char *name);
/* Leaves the innermost folder. -ESTALE: it was moved, or the one above it was replaced. */
int descent_up(descent_t *self);
void descent_end(descent_t *self);

/* The stream of the innermost folder, BORROWED until the next step. After a step back out of a deep folder
 * the stream may start again from its beginning. */
DIR *descent_dir(const descent_t *self);
const char *descent_name(const descent_t *self);
void *descent_own(const descent_t *self);
void descent_give(descent_t *self, void *own);

#endif
