/* store_forget.h - expire old jobs, orchestrations and events from the store, a little at a time.
 *
 * An expired job or run disappears for readers at once and as a whole: its own row goes first, and the table
 * `expired` names those that still have parts (returns, steps) to be deleted, also after a crash.
 *
 * A reaction's note outlives its job until its event is settled (table `spared`), or the reactor would repeat
 * it.
 *
 * Freed space is reused; beyond a reserve it goes back to the file system.
 *
 * Layer      master; included by store_forget.c and store_write.c only
 * Threads    the writer's only
 * Errors     negative errno with *err set; the caller rolls back
 * Tests      tests/unit/master/test_store_forget.c, tests/t/7020-history.bats; figures by
 *            tests/bench/history.c
 */
#ifndef MASTER_STORE_STORE_FORGET_H
#define MASTER_STORE_STORE_FORGET_H

#include <sqlite3.h>

#include "master/store/store.h"

typedef struct forgetter forgetter_t;

/* Prepare the statements. `db` and `path` are BORROWED until destroy. NEW, or NULL with *err. */
forgetter_t *forgetter_new(sqlite3 *db, const char *path, fail_t *err);
void forgetter_destroy(forgetter_t **self_p);

/* Inside a transaction: expire until `until_us` (clock_mono_us) or until nothing is left to do, when
 * *ret_more is false. Rows deleted, or a negative errno. */
int forgetter_step(forgetter_t *self, const store_keep_t *keep, int64_t until_us, bool *ret_more,
                   fail_t *err);
/* Inside a transaction: delete blocks of events beyond the newest `keep_events` or LIMIT_JOURNAL_BYTES.
 * Blocks deleted, or a negative errno. */
int forgetter_events(forgetter_t *self, uint64_t keep_events, fail_t *err);
/* Invalidate the cached size: grains, a pillar or a mine was written or removed. */
void forgetter_docs_changed(forgetter_t *self);
/* Inside a transaction: delete the rest of an expired job at once, because new rows have come for it. 1, 0
 * when the job is not expired, or a negative errno. */
int forgetter_finish(forgetter_t *self, const char *jid, fail_t *err);

#endif
