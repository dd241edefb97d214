/* store_checkpoint.h - what was committed goes from the write-ahead log into the database beside the writer,
 * which does not wait for it.
 *
 * Layer      master; included by store_write.c only
 * Threads    new and destroy belong to the writer; a thread inside
 * Errors     the log keeps what could not be moved, and grows; see checkpointer_notice. Nothing of it is lost
 * Tests      tests/unit/master/test_store.c; figures by tests/bench/history.c
 */
#ifndef MASTER_STORE_STORE_CHECKPOINT_H
#define MASTER_STORE_STORE_CHECKPOINT_H

#include <sqlite3.h>

#include "salt/base.h"

typedef struct checkpointer checkpointer_t;

/* For the writer's connection `db` (BORROWED while it lives) to the database `path`. NEW, or NULL with *err. */
checkpointer_t *checkpointer_new(sqlite3 *db, const char *path, fail_t *err);
void checkpointer_destroy(checkpointer_t **self_p);
/* That the log can't be moved, and why, or that it can again: each once. NEW or NULL. */
char *checkpointer_notice(checkpointer_t *self);

#endif
