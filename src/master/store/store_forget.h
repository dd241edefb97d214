/* store_forget.h - old jobs, orchestrations and events leave the store, a little at a time.
 *
 * What goes is gone for readers at once and whole: a job's or a run's own row goes first, and the table
 * `expired` names what still has parts (returns, steps) to be removed, also after a crash.
 *
 * The note of a reaction outlives its job until its event will not be looked at again: the table `spared`.
 *
 * Space that becomes free is used again. What is free beyond a reserve goes back to the file system.
 *
 * Layer      master; included by store_forget.c and store_write.c only
 * Threads    the writer's only
 * Errors     negative errno with *err set; the caller rolls back
 * Tests      tests/unit/master/test_store_forget.c, tests/t/7020-history.bats; figures by tests/bench/history.c
 */
#ifndef MASTER_STORE_STORE_FORGET_H
#define MASTER_STORE_STORE_FORGET_H

#include <sqlite3.h>

#include "master/store/store.h"

typedef struct forgetter forgetter_t;

/* `db` and `path` BORROWED while it lives. NEW, or NULL with *err. */
forgetter_t *forgetter_new(sqlite3 *db, const char *path, fail_t *err);
void forgetter_destroy(forgetter_t **self_p);

/* Inside a transaction: forget until `until_us` (clock_mono_us) or until there is nothing left to do,
 * which makes
 * *ret_more false. Rows deleted, or a negative errno. */
int forgetter_step(forgetter_t *self, const store_keep_t *keep, int64_t until_us, bool *ret_more,
                   fail_t *err);
/* Inside a transaction: blocks of events beyond the newest `keep_events`, or beyond LIMIT_JOURNAL_BYTES.
 * Rows deleted, or a negative errno. */
int forgetter_events(forgetter_t *self, uint64_t keep_events, fail_t *err);
/* Grains, a pillar or the mine of a minion were written or removed. */
void forgetter_docs_changed(forgetter_t *self);
/* Inside a transaction: what is left of an expired job goes at once, as something new has come for it. 1,
 * 0 when the job is not one of those, or a negative errno. */
int forgetter_finish(forgetter_t *self, const char *jid, fail_t *err);

#endif
