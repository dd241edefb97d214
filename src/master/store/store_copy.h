/* store_copy.h - back up the store while the master writes, check a database, and prepare a backup to take
 * the store's place.
 *
 * A copy shows one moment. It is written as NAME.part, checked, and only then renamed. The writer does not
 * wait for it: pieces are small, each is synced before the next, and pauses are as long as the work.
 *
 * Layer      master; SQLite and common/base only
 * Threads    any, each with connections of its own; one copy is made at one time
 * Ownership  results are NEW
 * Errors     negative errno: -EEXIST the name is taken, or the file is another program's; -EUCLEAN damaged;
 *            -EPROTO written by a newer master; -ENOSPC no room, where possible before anything is written;
 *            -EBUSY another copy is under way; -ECANCELED the watcher gave up. A failed copy leaves no files
 * Tests      tests/unit/master/test_store_copy.c, tests/t/7030-backup.bats
 */
#ifndef MASTER_STORE_STORE_COPY_H
#define MASTER_STORE_STORE_COPY_H

#include "salt/base.h"
#include "salt/value.h"

/* Callbacks of the caller that waits for a copy. Both functions may be NULL. */
typedef struct store_watch {
    /* Called after each piece: `done` of `of` of the things that `what` names. False: cancel. */
    bool (*go_on)(void *cookie, uint64_t done, uint64_t of, const char *what);
    /* The backup is complete and about to get its name; a failure discards it. 0, or negative with *err. */
    int (*whole)(void *cookie, fail_t *err);
    void *cookie;
} store_watch_t;

#define STORE_KEPT                                                                                           \
    "store_kept" /* key of the store's own: name, without folder, of the store that it replaced */
#define STORE_BACKUP   "store_backup" /* key in a backup: when it was made, wall clock, microseconds */
#define RESTORE_SUFFIX ".restore"     /* suffix of the backup that waits beside a store to replace it */

/* Back up the store at `path` as the new file `to`. Returns {"backup", "size", "jobs", "returns", "events",
 * "orchestrations", "made"}. */
json_t *store_backup(const char *path, const char *to, const store_watch_t *watch, fail_t *err);
/* Check the database at `path`, the store or a backup; `full` also compares indexes with tables. Returns
 * {"store", "size", "log", "free", "format", "jobs", ..., "damage": [text]}; "kept" and "made" as above where
 * it has them, "waits" when a backup waits to replace it. A file that can't be opened is an error. */
json_t *store_check(const char *path, bool full, const store_watch_t *watch, fail_t *err);
/* Prepare the backup `from` to replace the store at `path` at the next store_new. Returns the fields of
 * store_backup, {"waits", "kept"}, and {"after": {"jobs", "returns"}}: how many rows of the present store the
 * backup lacks, which remain in "kept"; no "after" when the present store can't be read. An earlier backup
 * that waits is replaced. */
json_t *store_restore(const char *path, const char *from, const store_watch_t *watch, fail_t *err);
/* Called by the writer before it opens the store: if a backup waits at `path`, rename it into place, after
 * giving the present store another name. Event numbers continue after all that were used, documents of
 * minions are kept, and the reactor starts over. Outcome or reason goes to the log; a backup that can't be
 * used leaves the present store in place. 0, or negative with *err: the present store can't be opened. */
int store_restore_take(const char *path, fail_t *err);

#endif
