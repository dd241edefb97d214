/* store_checkpoint.h - move committed pages from the write-ahead log into the database in a thread of its
 * own, so that the writer does not wait for it.
 *
 * Layer      master; included by store_write.c only
 * Threads    new and destroy belong to the writer; a thread inside
 * Errors     pages that can't be moved stay in the log, which grows; see checkpointer_notice. Nothing is lost
 * Tests      tests/unit/master/test_store.c; figures by tests/bench/history.c
 */
#ifndef MASTER_STORE_STORE_CHECKPOINT_H
#define MASTER_STORE_STORE_CHECKPOINT_H

#include <sqlite3.h>

#include "salt/base.h"

typedef struct checkpointer checkpointer_t;

/* Start the thread for the writer's connection `db` (BORROWED until destroy) to the database `path`. NEW, or
 * NULL with *err. */
checkpointer_t *checkpointer_new(sqlite3 *db, const char *path, fail_t *err);
/* Remove the hook and join the thread. Call before `db` is closed. */
void checkpointer_destroy(checkpointer_t **self_p);
/* The news that the log can't be moved, with the reason, or that it can again; each once. NEW or NULL. */
char *checkpointer_notice(checkpointer_t *self);

#endif
