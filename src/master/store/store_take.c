/* store_take.c - at the master's start, put a restored backup in the store's place. See store_copy.h for what
 * is kept.
 *
 * Steps: fold the present store's log into its file; merge its documents into the backup, in one transaction;
 * give the present store a second name (link); rename the backup over the first. Each step can be repeated,
 * so a start that is killed midway is completed by the next. */
#include "master/store/store_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "master/store/store.h"
#include "master/store/store_db.h"
#include "salt/log.h"

typedef struct take {
    const char *path;
    char *waits, *kept;
} take_t;

/* The highest event number or time that may have been used: by the present store, by the backup, and the
 * clock's microseconds (?1), for the case that a store was lost in between and nothing else is known of
 * it. */
#define LAST_OF(db) "coalesce((SELECT last FROM " db ".event_blocks ORDER BY first DESC LIMIT 1), 0)"
#define USED                                                                                                 \
    "max(coalesce((SELECT max(CAST(value AS INTEGER)) FROM main.meta WHERE key IN ('" STORE_NUMBERS          \
    "', '" STORE_REPLACED                                                                                    \
    "')), 0), coalesce((SELECT max(CAST(value AS INTEGER)) FROM present.meta WHERE key IN ('" STORE_NUMBERS  \
    "', '" STORE_REPLACED "')), 0), " LAST_OF("main") ", " LAST_OF("present") ", CAST(?1 AS INTEGER))"

/* Documents of minions and cursors of their events come from the present store, which is newer, unless it was
 * just begun and has none. Tokens of logins are the present ones in any case: one that was revoked after the
 * backup stays revoked. */
#define PRESENT_DOCS(table)                                                                                  \
    "DELETE FROM main." table " WHERE EXISTS (SELECT 1 FROM present.grains);"                                \
    "INSERT OR REPLACE INTO main." table " SELECT * FROM present." table ";"

static const char merge[] = PRESENT_DOCS("grains") PRESENT_DOCS("pillar")
    PRESENT_DOCS("mine") "DELETE FROM main.meta WHERE key GLOB '" STORE_TOKENS "*';"
                         "INSERT OR REPLACE INTO main.meta SELECT * FROM present.meta WHERE key GLOB "
                         "'events_of/*' OR key GLOB 'calls_of/*' OR key GLOB '" STORE_TOKENS "*';"
                         "DELETE FROM main.meta WHERE key IN ('" STORE_NUMBERS "', '" STORE_REACTOR "');";

/* Merge in one transaction of the backup; repeating it after a kill gives the same result. */
static int
merge_present(const take_t *self, sqlite3 *db, fail_t *err)
{
    AUTO_FREE char *now = xasprintf("%" PRId64, clock_wall_us());
    char *unused = NULL;
    int rc = db_text(db, self->waits, "ATTACH ?1 AS present", self->path, &unused, err);

    if (rc == 0)
        rc = db_exec(db, self->waits, "BEGIN IMMEDIATE", err);
    if (rc == 0)
        rc = db_text(db, self->waits,
                     "INSERT OR REPLACE INTO main.meta(key, value) SELECT '" STORE_REPLACED "', " USED, now,
                     &unused, err);
    if (rc == 0)
        rc = db_exec(db, self->waits, merge, err);
    return rc == 0 ? db_exec(db, self->waits, "COMMIT", err) : rc;
}

/* A database is complete in its one file when no process has it open, that is without a -wal file. */
static int
need_one_file(const char *path, fail_t *err)
{
    AUTO_FREE char *log = xasprintf("%s-wal", path);

    return fs_absent(log)
               ? 0
               : fail_set(err, -EBUSY, "%s is there: another process has the file open, end it first", log);
}

/* Link the present store to its second name. An interrupted start may have done so: the same inode is
 * success. */
static int
keep_present(const take_t *self, fail_t *err)
{
    struct stat present, kept;

    if (link(self->path, self->kept) == 0)
        return 0;
    if (errno == EEXIST && stat(self->path, &present) == 0 && stat(self->kept, &kept) == 0 &&
        present.st_ino == kept.st_ino && present.st_dev == kept.st_dev)
        return 0;
    return fail_set(err, -errno, "%s: the present store can't be kept under this name: %s", self->kept,
                    strerror(errno));
}

/* Check the tables that are taken over from the present store: 0, or -EUCLEAN. */
static int
look_at_present(const take_t *self, sqlite3 *db, fail_t *err)
{
    static const char *const tables[] = { "grains", "pillar", "mine", "meta" };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < NELEMS(tables); i++) {
        AUTO_FREE char *found = NULL;
        rc = db_text(db, self->path, "SELECT quick_check FROM pragma_quick_check(?1)", tables[i], &found,
                     err);
        if (rc == 0 && found != NULL && strcmp(found, "ok") != 0)
            rc = fail_set(err, -EUCLEAN, "%s: %s", self->path, found);
    }
    return rc;
}

static int
store_take(take_t *self, fail_t *err)
{
    /* Upgrade and merge the backup; set self->kept, the name that the present store gets. */
    AUTO_FREE char *name = NULL;
    sqlite3 *db = NULL;
    int rc = db_open_file(self->waits, &db, err);
    if (rc == 0)
        rc = db_text(db, self->waits, "SELECT value FROM meta WHERE key = ?1", STORE_KEPT, &name, err);
    if (rc == 0 && (name == NULL || strchr(name, '/') != NULL))
        rc = fail_set(err, -EINVAL, "%s: store.restore has not made it", self->waits);
    if (rc == 0)
        rc = merge_present(self, db, err);
    sqlite3_close(db);
    if (rc == 0)
        self->kept = xasprintf("%.*s%s", (int) (strrchr(self->path, '/') - self->path + 1), self->path, name);

    if (rc == 0)
        rc = need_one_file(self->path, err);
    if (rc == 0)
        rc = need_one_file(self->waits, err);
    if (rc == 0)
        rc = keep_present(self, err);
    /* fs_settle syncs both names before the new store acknowledges anything that the old one lacks. */
    return rc == 0 ? fs_settle(self->waits, self->path, err) : rc;
}

/* Fails only when the present store can't be opened either; a backup that can't be used is logged and left
 * waiting. */
int
store_restore_take(const char *path, fail_t *err)
{
    AUTO_FREE char *waits = xasprintf("%s" RESTORE_SUFFIX, path);
    take_t self = { .path = path, .waits = waits };
    fail_auto_t why = FAIL_INIT;

    if (fs_absent(waits))
        return 0;

    /* Open and close the present store, which moves its log into the file. A damaged one is moved aside. */
    AUTO_FREE char *notice = NULL;
    fail_auto_t damage = FAIL_INIT;
    sqlite3 *db = NULL;
    int rc = db_open_writer(self.path, &db, &notice, err);
    bool damaged = rc == 0 && look_at_present(&self, db, &damage) == -EUCLEAN;
    sqlite3_close(db);
    if (damaged)
        rc = db_set_aside(self.path, fail_text(&damage), &notice, err);
    if (notice != NULL)
        log_error("%s", notice);

    if (rc < 0)
        return rc;
    if (store_take(&self, &why) == 0)
        log_warning("the job store is the restored backup now; the one of before is kept as %s", self.kept);
    else
        log_error("the backup that waits in %s can't take the job store's place, which stays as it is: %s",
                  waits, fail_text(&why));
    free(self.kept);
    return 0;
}
