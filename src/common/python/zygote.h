/* zygote.h - the daemon's side of its zygote (door.h): starts it when a message for it waits, and notices its
 * end.
 *
 * A daemon has one, opens it before it forks or begins threads, and calls zygote_ready() when zygote_fd() is
 * readable. The zygote runs as the daemon does, ends with it, and leaves by itself after LIMIT_ZYGOTE_IDLE_S
 * without work.
 *
 * Layer      common/python; defined in src/pyhost
 * Threads    the one that made it; those that use the door may be others
 * Tests      tests/t/3075-zygote.bats */
#ifndef COMMON_PYTHON_ZYGOTE_H
#define COMMON_PYTHON_ZYGOTE_H

#include "salt/base.h"

typedef struct zygote zygote_t;

/* NEW, or NULL with *err: no descriptors. Nothing is started yet. */
zygote_t *zygote_new(fail_t *err);
int zygote_fd(const zygote_t *self);
void zygote_ready(zygote_t *self);
/* Ends the zygote, but not its children. */
void zygote_destroy(zygote_t **self_p);

#endif
