/* store_copy.c - back up, check and prepare to restore the store's database, while the master runs.
 *
 * A copy is made with SQLite's backup API inside one read transaction, in pieces whose size adapts to the
 * disk's speed, each synced before the next, with pauses as long as the work. It grows as NAME.part, is
 * checked table by table, and only then renamed, so a file under its proper name is always whole. */
#include "master/store/store_copy.h"

#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "master/store/store.h"
#include "master/store/store_db.h"

#define PART      ".part"
#define PIECE_MIN 16 /* pages of a piece, at least */
#define PIECE_MAX 1024
#define PIECE_US                                                                                             \
    10000 /* target time of one piece, its sync to the disk included: commits wait for the disk, too */
#define REST_MAX_MS 100 /* the longest pause between pieces */
#define RESERVE                                                                                              \
    (64 << 20)          /* bytes that a copy on the store's own file system leaves free for rows meanwhile */
#define DAMAGE_SHOWN 20 /* messages reported per table */
#define LOOK_STEPS   1000000 /* virtual machine steps of SQLite between questions to the watcher */

/* Held while a copy is made; trylock makes a second one fail with -EBUSY. */
static pthread_mutex_t copying = PTHREAD_MUTEX_INITIALIZER;

static bool
store_copy_goes_on(const store_watch_t *watch, uint64_t done, uint64_t of, const char *what)
{
    return watch->go_on == NULL || watch->go_on(watch->cookie, done, of, what);
}

static int
given_up(const char *path, fail_t *err)
{
    return fail_set(err, -ECANCELED, "%s: given up: the master ends", path);
}

static bool
begin_copying(fail_t *err)
{
    if (pthread_mutex_trylock(&copying) == 0)
        return true;
    (void) fail_set(err, -EBUSY,
                    "another backup or restore is under way: wait for its end (salt-run jobs.master)");
    return false;
}

/* ---- a file that grows beside its name ------------------------------------------------------- */

/* Remove a part and SQLite's files beside it, also those of a master that was killed. */
static int
store_copy_remove_part(const char *part, fail_t *err)
{
    static const char *const ends[] = { "", "-journal", "-wal", "-shm" };

    for (size_t i = 0; i < NELEMS(ends); i++) {
        AUTO_FREE char *name = xasprintf("%s%s", part, ends[i]);
        if (unlink(name) < 0 && errno != ENOENT)
            return fail_set(err, -errno, "%s: %s; it is of a copy that was cut short: remove it", name,
                            strerror(errno));
    }
    return 0;
}

/* Create the part with mode 0600 from the start, as it holds secrets. A descriptor, or a negative errno. */
static int
begin_part(const char *part, fail_t *err)
{
    if (store_copy_remove_part(part, err) < 0)
        return err->code;
    int fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return fail_set(
            err, -errno,
            "%s: %s; the master's user must be able to write into the folder, and its unit must allow "
            "it (ReadWritePaths=; /var/lib/salt is)",
            part, strerror(errno));
    return fd;
}

/* NEW folder of an absolute path. */
static char *
store_copy_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == path ? xstrdup("/") : xasprintf("%.*s", (int) (slash - path), path);
}

/* Check the free space before writing: -ENOSPC. On the store's own file system RESERVE is added, so that a
 * copy does not take the space that commits need. */
static int
need_room(const char *path, const char *to, uint64_t bytes, fail_t *err)
{
    AUTO_FREE char *folder = store_copy_folder_of(to);
    struct statvfs fs;
    struct stat of_store, of_copy;

    if (stat(folder, &of_copy) < 0 || statvfs(folder, &fs) < 0)
        return fail_set(err, -errno, "%s: %s; make the folder first, for the master's user", folder,
                        strerror(errno));
    uint64_t room = (uint64_t) fs.f_bavail * fs.f_frsize;
    bool shared = stat(path, &of_store) == 0 && of_store.st_dev == of_copy.st_dev;
    if (shared)
        bytes += RESERVE;
    if (room >= bytes)
        return 0;
    return fail_set(err, -ENOSPC,
                    "%s: a copy needs %" PRIu64 " MB there%s, and %" PRIu64
                    " MB are free: make room, or name a file on another file system",
                    folder, bytes >> 20, shared ? ", beside the store and what comes meanwhile" : "",
                    room >> 20);
}

/* ---- page by page ---------------------------------------------------------------------------- */

typedef struct copy {
    const char *path, *part;
    sqlite3 *from, *to;
    int fd;
    const store_watch_t *watch;
} copy_t;

/* Copy all pages. The piece doubles while it takes less than half of PIECE_US and halves above it. -ECANCELED
 * when the watcher says so. */
static int
copy_pages(const copy_t *self, fail_t *err)
{
    sqlite3_backup *pages = sqlite3_backup_init(self->to, "main", self->from, "main");
    int n = PIECE_MIN, step = SQLITE_OK;
    bool go = true;

    if (pages == NULL)
        return db_fail(self->to, self->part, err);
    while (step == SQLITE_OK && go) {
        int64_t began = clock_mono_us();
        step = sqlite3_backup_step(pages, n);
        if (step == SQLITE_OK && sync_file_range(self->fd, 0, 0,
                                                 SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                                                     SYNC_FILE_RANGE_WAIT_AFTER) < 0)
            step = SQLITE_IOERR_FSYNC;
        int64_t took = clock_mono_us() - began;
        n = took < PIECE_US / 2 && n < PIECE_MAX ? n * 2 : took > PIECE_US && n > PIECE_MIN ? n / 2 : n;
        uint64_t of = (uint64_t) sqlite3_backup_pagecount(pages);
        go = store_copy_goes_on(self->watch, of - (uint64_t) sqlite3_backup_remaining(pages), of,
                                "pages of the store are copied");
        if (step == SQLITE_OK && go) {
            /* Pause as long as the piece took, so that at least half of the disk's time is left to
             * commits. */
            int64_t ms = took / 1000 + 1;
            (void) poll(NULL, 0, (int) (ms < REST_MAX_MS ? ms : REST_MAX_MS));
        }
    }
    int rc = sqlite3_backup_finish(pages);
    if (!go)
        return given_up(self->part, err);
    /* Blame the source when its connection has the error. */
    if (rc != SQLITE_OK)
        return db_fail(self->to, sqlite3_errcode(self->from) != SQLITE_OK ? self->path : self->part, err);
    return step == SQLITE_DONE ? 0 : fail_set(err, -EIO, "%s: can't be written: check the disk", self->part);
}

/* Leave WAL mode, so that the copy is one file, and run `sql`, which stamps it. */
static int
date_copy(const copy_t *self, const char *sql, fail_t *err)
{
    int rc = db_exec(self->to, self->part, "PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL;", err);

    return rc == 0 ? db_exec(self->to, self->part, sql, err) : rc;
}

/* A transaction on `from` fixes the moment that the copy shows: it begins with the first read. */
static int
copy_open(copy_t *self, const char *sql, fail_t *err)
{
    int tables;
    int rc = db_exec(self->from, self->path, "BEGIN", err);

    if (rc == 0)
        rc = db_int(self->from, self->path, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (rc == 0)
        rc = copy_pages(self, err);
    (void) sqlite3_exec(self->from, "ROLLBACK", NULL, NULL, NULL);
    return rc == 0 ? date_copy(self, sql, err) : rc;
}

static int
store_copy_open_part(const char *part, sqlite3 **ret_db, fail_t *err)
{
    if (sqlite3_open_v2(part, ret_db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return db_fail(*ret_db, part, err);
    /* No journal and no syncs by SQLite: a part that is cut short is removed, and each piece is synced
     * here. */
    return db_exec(*ret_db, part, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;", err);
}

/* Copy the database of `from` into the new file `part`, then run `sql` in it. The part stays on failure; the
 * caller removes it. */
static int
copy_to(sqlite3 *from, const char *path, const char *part, const char *sql, const store_watch_t *watch,
        fail_t *err)
{
    copy_t self = { .path = path, .part = part, .from = from, .watch = watch };

    self.fd = begin_part(part, err);
    int rc = self.fd < 0 ? self.fd : store_copy_open_part(part, &self.to, err);
    if (rc == 0)
        rc = copy_open(&self, sql, err);
    sqlite3_close(self.to);
    if (self.fd >= 0)
        close(self.fd);
    return rc;
}

/* ---- checking a database --------------------------------------------------------------------- */

typedef struct look {
    sqlite3 *db;
    const char *path;
    const store_watch_t *watch;
    uint64_t done, of; /* tables */
    bool given_up;
} look_t;

/* SQLite's progress handler: ask the watcher; non-zero interrupts the query. */
static int
on_steps(void *arg)
{
    look_t *self = arg;

    self->given_up = !store_copy_goes_on(self->watch, self->done, self->of, "tables are looked at");
    return self->given_up;
}

static void
add_damage(json_t *damage, const char *table, const char *text)
{
    json_array_append_new(damage, value_fmt("%s: %s", table, text));
}

/* Check one table. Damage is a result and is added to `damage`; anything else that prevents the check is an
 * error. */
static int
look_at_table(look_t *self, const char *table, bool full, json_t *damage, fail_t *err)
{
    AUTO_FREE char *sql = xasprintf("PRAGMA %s('%s')", full ? "integrity_check" : "quick_check", table);
    sqlite3_stmt *stmt = NULL;
    int rc = db_prepare(self->db, self->path, sql, &stmt, err), step = SQLITE_ERROR;

    for (int n = 0; rc == 0 && n < DAMAGE_SHOWN && (step = sqlite3_step(stmt)) == SQLITE_ROW; n++) {
        const char *text = (const char *) sqlite3_column_text(stmt, 0);
        if (text == NULL && sqlite3_errcode(self->db) == SQLITE_NOMEM)
            break; /* out of memory: proves nothing about the table */
        if (text == NULL || strcmp(text, "ok") != 0)
            add_damage(damage, table, text != NULL ? text : "damaged");
    }
    if (rc == 0 && (sqlite3_errcode(self->db) == SQLITE_NOMEM || (step != SQLITE_ROW && step != SQLITE_DONE)))
        rc = self->given_up ? given_up(self->path, err) : db_fail(self->db, self->path, err);
    sqlite3_finalize(stmt);
    if (rc != -EUCLEAN)
        return rc;
    add_damage(damage, table, fail_text(err));
    fail_clear(err);
    return 0;
}

/* NEW list of table names; NULL with *err. Names with quotes are left out, as they go into SQL text; ours
 * have none. */
static json_t *
tables_of(look_t *self, fail_t *err)
{
    static const char sql[] =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND"
        " name NOT LIKE '%''%' ORDER BY name";
    sqlite3_stmt *stmt = NULL;
    json_t *names = json_array();
    int rc = db_prepare(self->db, self->path, sql, &stmt, err), step = SQLITE_ERROR;

    while (rc == 0 && (step = sqlite3_step(stmt)) == SQLITE_ROW)
        json_array_append_new(names, json_string((const char *) sqlite3_column_text(stmt, 0)));
    if (rc == 0 && step != SQLITE_DONE)
        rc = db_fail(self->db, self->path, err);
    sqlite3_finalize(stmt);
    if (rc == 0)
        return names;
    json_decref(names);
    return NULL;
}

static const struct counted {
    const char *name, *sql;
} counted[] = {
    { "jobs", "SELECT count(*) FROM jobs" },
    { "returns", "SELECT count(*) FROM returns" },
    { "events", "SELECT coalesce(sum(last - first + 1), 0) FROM event_blocks" },
    { "orchestrations", "SELECT count(*) FROM runs" },
};

/* Add the number of jobs, returns, events and orchestrations. */
static int
count_rows(look_t *self, json_t *out, fail_t *err)
{
    int n;

    for (size_t i = 0; i < NELEMS(counted); i++) {
        int rc = db_int(self->db, self->path, counted[i].sql, &n, err);
        if (rc < 0)
            return rc;
        json_object_set_new(out, counted[i].name, json_integer(n));
    }
    return 0;
}

/* Check every table and count rows. NEW {counts, texts, "format", "damage"}, or NULL with *err. */
static json_t *
store_copy_look(sqlite3 *db, const char *path, bool full, const store_watch_t *watch, fail_t *err)
{
    look_t self = { .db = db, .path = path, .watch = watch };
    json_t *out = json_object(), *damage = json_array();
    int format = 0;
    int rc = db_format(db, path, &format, err);

    json_object_set_new(out, "damage", damage);
    if (rc == 0) {
        /* Tables one by one, so that progress can be told and the watcher can cancel between them, or within
         * one through the progress handler. */
        json_auto_t *tables = tables_of(&self, err);
        size_t i;
        json_t *name;
        rc = tables != NULL ? 0 : err->code;

        self.of = json_array_size(tables);
        sqlite3_progress_handler(self.db, LOOK_STEPS, on_steps, &self);
        json_array_foreach (tables, i, name) {
            self.done = i;
            if (rc == 0 && on_steps(&self))
                rc = given_up(self.path, err);
            if (rc == 0)
                rc = look_at_table(&self, json_string_value(name), full, damage, err);
        }
        sqlite3_progress_handler(self.db, 0, NULL, NULL);
    }
    json_object_set_new(out, "format", json_integer(format));
    /* A damaged store is counted as far as it can be read. */
    if (rc == 0)
        rc = count_rows(&self, out, err);
    if (rc == 0) {
        /* Add what the file records about itself: when the copy was made, and the name of the store that it
         * replaces. */
        static const char sql[] = "SELECT value FROM meta WHERE key = ?1";
        AUTO_FREE char *made = NULL, *kept = NULL;
        rc = db_text(self.db, self.path, sql, STORE_BACKUP, &made, err);

        if (rc == 0)
            rc = db_text(self.db, self.path, sql, STORE_KEPT, &kept, err);
        if (made != NULL) {
            char stamp[CLOCK_STAMP_LEN];
            clock_stamp(stamp, strtoll(made, NULL, 10));
            json_object_set_new(out, "made", json_string(stamp));
        }
        if (kept != NULL)
            json_object_set_new(out, "kept", json_string(kept));
    }
    if (rc == -EUCLEAN) {
        add_damage(damage, "the file", fail_text(err));
        fail_clear(err);
        rc = 0;
    }
    if (rc == 0)
        return out;
    json_decref(out);
    return NULL;
}

/* NEW file: URI with immutable=1, which makes SQLite skip locks and the log: the copy is read as it is. */
static char *
uri_of(const char *path)
{
    buf_t uri = BUF_INIT;

    buf_puts(&uri, "file:");
    for (const unsigned char *c = (const unsigned char *) path; *c != '\0'; c++)
        buf_printf(&uri, *c == '/' || isalnum(*c) ? "%c" : "%%%02X", *c);
    buf_puts(&uri, "?immutable=1");
    return buf_steal(&uri);
}

/* Open a copy read-only without creating files beside it. A copy with a -wal file is not complete in itself:
 * -EBUSY. */
static int
open_copy(const char *path, sqlite3 **ret_db, fail_t *err)
{
    AUTO_FREE char *log = xasprintf("%s-wal", path);
    struct stat st;

    if (stat(path, &st) < 0)
        return fail_set(err, -errno, "%s: %s; the master's user must be able to read it", path,
                        strerror(errno));
    if (!S_ISREG(st.st_mode))
        return fail_set(err, -EINVAL, "%s: no file; name one that store.backup has made", path);
    if (!fs_absent(log))
        return fail_set(err, -EBUSY,
                        "%s: a program has it open, or it was copied while one had (%s is there): name a "
                        "file that store.backup has made",
                        path, log);
    AUTO_FREE char *uri = uri_of(path);
    if (sqlite3_open_v2(uri, ret_db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        return db_fail(*ret_db, path, err);
    return 0;
}

/* ---- backup and check ------------------------------------------------------------------------ */

static uint64_t
file_size(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (uint64_t) st.st_size : 0;
}

/* The size in bytes of the database as `db` sees it, its log included. */
static int
store_copy_size_of(sqlite3 *db, const char *path, uint64_t *ret_bytes, fail_t *err)
{
    int pages = 0, bytes = 0;
    int rc = db_int(db, path, "PRAGMA page_count", &pages, err);

    if (rc == 0)
        rc = db_int(db, path, "PRAGMA page_size", &bytes, err);
    *ret_bytes = (uint64_t) pages * (uint64_t) bytes;
    return rc;
}

static int
say_damaged(const char *path, const char *why, fail_t *err)
{
    return fail_set(err, -EUCLEAN, "%s: damaged: %s", path, why);
}

/* Check a finished part, as the disk may have spoilt it. NEW, or NULL with *err, also when it is damaged
 * (-EUCLEAN); `of` is the file named in the error. */
static json_t *
look_at_part(const char *part, const char *of, const store_watch_t *watch, fail_t *err)
{
    sqlite3 *db = NULL;
    json_t *out = open_copy(part, &db, err) == 0 ? store_copy_look(db, part, false, watch, err) : NULL;

    sqlite3_close(db);
    json_t *damage = json_object_get(out, "damage");
    if (json_array_size(damage) == 0) {
        json_object_del(out, "damage");
        return out;
    }
    (void) say_damaged(of, json_string_value(json_array_get(damage, 0)), err);
    json_decref(out);
    return NULL;
}

/* The watcher's `whole` runs after the check and before the rename, so its failure still takes the backup
 * back. */
static json_t *
backup(const char *path, const char *to, const char *part, const store_watch_t *watch, fail_t *err)
{
    AUTO_FREE char *sql = xasprintf(
        "INSERT OR REPLACE INTO meta(key, value) VALUES('" STORE_BACKUP "', '%" PRId64 "')", clock_wall_us());
    sqlite3 *db = NULL;
    uint64_t bytes = 0;
    int rc = db_open_reader(path, &db, err);

    if (rc == 0)
        rc = store_copy_size_of(db, path, &bytes, err);
    if (rc == 0)
        rc = need_room(path, to, bytes, err);
    if (rc == 0)
        rc = copy_to(db, path, part, sql, watch, err);
    sqlite3_close(db);
    json_t *out = rc == 0 ? look_at_part(part, path, watch, err) : NULL;
    bool whole = out != NULL && (watch->whole == NULL || watch->whole(watch->cookie, err) == 0);
    if (whole && fs_settle_new(part, to, err) == 0) {
        json_object_set_new(out, "backup", json_string(to));
        json_object_set_new(out, "size", json_integer((json_int_t) file_size(to)));
        return out;
    }
    json_decref(out);
    (void) store_copy_remove_part(part, NULL);
    return NULL;
}

json_t *
store_backup(const char *path, const char *to, const store_watch_t *watch, fail_t *err)
{
    AUTO_FREE char *part = xasprintf("%s" PART, to);

    /* The target must be an absolute path that does not exist: -EINVAL, -EEXIST. */
    if (to[0] != '/' || to[strlen(to) - 1] == '/') {
        (void) fail_set(err, -EINVAL,
                        "'%s': name a file by its whole path, such as /var/lib/salt/jobs.backup", to);
        return NULL;
    }
    if (!fs_absent(to)) {
        (void) fail_set(err, -EEXIST, "%s: is there already; name another file, or move it away", to);
        return NULL;
    }

    if (!begin_copying(err))
        return NULL;
    json_t *out = backup(path, to, part, watch, err);
    pthread_mutex_unlock(&copying);
    return out;
}

json_t *
store_check(const char *path, bool full, const store_watch_t *watch, fail_t *err)
{
    AUTO_FREE char *log = xasprintf("%s-wal", path), *waits = xasprintf("%s" RESTORE_SUFFIX, path);
    sqlite3 *db = NULL;
    /* While a master runs, the store has a log and must be read through it. */
    int rc = fs_absent(log) ? open_copy(path, &db, err) : db_open_reader(path, &db, err);
    json_t *out = rc == 0 ? store_copy_look(db, path, full, watch, err) : NULL;

    sqlite3_close(db);
    if (out == NULL)
        return NULL;
    json_object_set_new(out, "store", json_string(path));
    /* The sizes of the database and its log, and the space that is free beside them. */
    AUTO_FREE char *wal = xasprintf("%s-wal", path), *folder = store_copy_folder_of(path);
    struct statvfs fs;

    json_object_set_new(out, "size", json_integer((json_int_t) file_size(path)));
    json_object_set_new(out, "log", json_integer((json_int_t) file_size(wal)));
    if (statvfs(folder, &fs) == 0)
        json_object_set_new(out, "free", json_integer((json_int_t) (fs.f_bavail * fs.f_frsize)));
    if (!fs_absent(waits))
        json_object_set_new(out, "waits", json_string(waits));
    return out;
}

/* ---- restore --------------------------------------------------------------------------------- */

/* NEW {"jobs", "returns"}: rows of the store at `path` that `part` lacks; NULL when the store can't be
 * read. */
static json_t *
count_after(const char *path, const char *part)
{
    static const char jobs[] = "SELECT count(*) FROM main.jobs n WHERE NOT EXISTS"
                               " (SELECT 1 FROM part.jobs p WHERE p.jid = n.jid)";
    static const char returns[] = "SELECT count(*) FROM main.returns n WHERE NOT EXISTS"
                                  " (SELECT 1 FROM part.returns p WHERE p.jid = n.jid AND p.id = n.id)";
    sqlite3 *db = NULL;
    char *unused = NULL;
    int n_jobs = 0, n_returns = 0;
    int rc = db_open_reader(path, &db, NULL);

    if (rc == 0)
        rc = db_text(db, path, "ATTACH ?1 AS part", part, &unused, NULL);
    if (rc == 0)
        rc = db_int(db, path, jobs, &n_jobs, NULL);
    if (rc == 0)
        rc = db_int(db, path, returns, &n_returns, NULL);
    sqlite3_close(db);
    return rc == 0 ? json_pack("{s:i, s:i}", "jobs", n_jobs, "returns", n_returns) : NULL;
}

/* Upgrade a copy of an older master's now, where errors can be reported, rather than at the start. */
static int
bring_up(const char *part, const char *from, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    sqlite3 *db = NULL;
    int rc = db_open_file(part, &db, &why);

    sqlite3_close(db);
    if (rc == -EUCLEAN)
        return say_damaged(from, fail_text(&why), err);
    return rc < 0 ? fail_set(err, rc, "%s", fail_text(&why)) : 0;
}

/* Copy, upgrade, check, count, then rename to WAITS, from which the next start takes it. `sql` stores the
 * name that the present store will get. */
static json_t *
store_copy_restore(const char *path, const char *from, const char *waits, const store_watch_t *watch,
                   fail_t *err)
{
    char stamp[CLOCK_STAMP_LEN];
    AUTO_FREE char *part = xasprintf("%s" PART, waits);
    const char *name = strrchr(path, '/') + 1;

    clock_jid(stamp);
    AUTO_FREE char *sql = xasprintf(
        "INSERT OR REPLACE INTO meta(key, value) VALUES('" STORE_KEPT "', '%s.before-%s')", name, stamp);

    /* Copy the backup `from` into `part` beside the store at `path`. */
    sqlite3 *db = NULL;
    uint64_t bytes = 0;
    int format = 0;
    int rc = open_copy(from, &db, err);

    if (rc == 0)
        rc = db_format(db, from, &format, err);
    if (rc == 0)
        rc = store_copy_size_of(db, from, &bytes, err);
    if (rc == 0)
        rc = need_room(path, path, bytes, err);
    if (rc == 0)
        rc = copy_to(db, from, part, sql, watch, err);
    sqlite3_close(db);

    if (rc == 0)
        rc = bring_up(part, from, err);
    json_t *out = rc == 0 ? look_at_part(part, from, watch, err) : NULL;
    json_t *after = out != NULL ? count_after(path, part) : NULL;
    if (after != NULL)
        json_object_set_new(out, "after", after);
    if (out != NULL && fs_settle_new(part, waits, err) == 0) {
        json_object_set_new(out, "waits", json_string(waits));
        return out;
    }
    json_decref(out);
    (void) store_copy_remove_part(part, NULL);
    return NULL;
}

json_t *
store_restore(const char *path, const char *from, const store_watch_t *watch, fail_t *err)
{
    AUTO_FREE char *waits = xasprintf("%s" RESTORE_SUFFIX, path);

    if (!begin_copying(err))
        return NULL;
    json_t *out = store_copy_restore(path, from, waits, watch, err);
    pthread_mutex_unlock(&copying);
    return out;
}
