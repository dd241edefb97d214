/* store_copy.h - copies of the store: made while the master writes, looked at, and made ready to take its
 * place.
 *
 * A copy is as of one moment, is written beside its name (".part"), looked at, and only then given the name.
 * The writer does not wait for it: it takes small pieces, has each on the disk before the next one, and rests
 * as long as that took.
 *
 * Layer      master; SQLite and common/base only
 * Threads    any, each with connections of its own; one copy is made at one time
 * Ownership  results are NEW
 * Errors     negative errno: -EEXIST a file has the name, or is another program's; -EUCLEAN damaged; -EPROTO a newer
 *            master's; -ENOSPC no room, said before anything is written where that can be known; -EBUSY another copy is
 *            under way; -ECANCELED the watcher said so. Nothing is left of a copy that failed
 * Tests      tests/unit/master/test_store_copy.c, tests/t/7030-backup.bats
 */
#ifndef MASTER_STORE_STORE_COPY_H
#define MASTER_STORE_STORE_COPY_H

#include "salt/base.h"
#include "salt/value.h"

/* Who waits for a copy. Both functions may be NULL. */
typedef struct store_watch {
    /* Told after each piece: `done` of `of`, of what `what` says. False: give it up. */
    bool (*go_on)(void *cookie, uint64_t done, uint64_t of, const char *what);
    /* The backup is whole and gets its name now; a failure takes it back. */
    int (*whole)(void *cookie, fail_t *err);
    void *cookie;
} store_watch_t;

#define STORE_KEPT                                                                                           \
    "store_kept" /* the store's own text: the name of the store whose place it took, without folder */
#define STORE_BACKUP   "store_backup" /* of when a copy is, in microseconds of the wall clock */
#define RESTORE_SUFFIX ".restore"     /* what waits beside a store to take its place */

/* A copy of the store at `path`, with the name `to`, which must be free. Of it: {"backup", "size", "jobs",
 * "returns", "events", "orchestrations", "made"}. */
json_t *store_backup(const char *path, const char *to, const store_watch_t *watch, fail_t *err);
/* What is in the database at `path`, the store or a copy, and whether it is whole; `full` compares indexes
 * with tables, too. {"store", "size", "log", "free", "format", "jobs", ..., "damage": [text]}; "kept" and
 * "made" as above where it has them, "waits" when a copy waits to take its place. A file that can't be
 * looked into is an error. */
json_t *store_check(const char *path, bool full, const store_watch_t *watch, fail_t *err);
/* The copy `from` waits to take the place of the store at `path`, at the next store_new there: of it as
 * store_backup says, {"waits", "kept"}, and {"after": {"jobs", "returns"}}: how many of the present store
 * are not in it, which stay in "kept"; no "after" when the present store can't be read. What waited before
 * is dropped. */
json_t *store_restore(const char *path, const char *from, const store_watch_t *watch, fail_t *err);
/* What waits at `path`, if anything, takes its place by one rename; the present store has another name
 * before that. The numbers of events go on behind all that were used, what is known of minions stays as it
 * is, and the reactor begins anew. The log says so, or why what waits can't: then the present store stays.
 * For store_new. */
int store_restore_take(const char *path, fail_t *err);

#endif
