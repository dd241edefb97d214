/* store_checkpoint.c - a thread that moves the write-ahead log into the database (sqlite3_wal_checkpoint_v2,
 * PASSIVE), so that commits do not pay for it. SQLite's hook reports the log's length after each commit and
 * wakes the thread. A passive checkpoint moves all pages that no reader needs, yet the log is only reused
 * from its start when all are moved while nobody commits; so at certain lengths the writer itself moves the
 * last ones. */
#include "master/store/store_checkpoint.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include "master/store/store_db.h"

/* Lengths in pages of the log. While commits follow each other the thread never catches up entirely; then the
 * writer moves the last few pages, which lets the log start over. */
#define PAGES_BEGIN 1000  /* unmoved pages at which the thread begins */
#define PAGES_LONG  4000  /* from this length on the log shall start over */
#define PAGES_FEW   200   /* once so few pages are left for the writer to move; */
#define PAGES_MAX   16000 /* at this length, however many are left */

struct checkpointer {
    char *path;
    sqlite3 *writer; /* BORROWED: the writer's connection, for its hook */
    sqlite3 *db;     /* owned, used by the thread */
    pthread_t thread;
    bool started;

    pthread_mutex_t lock; /* guards everything below */
    pthread_cond_t work;
    int pages; /* length of the log after the newest commit */
    int moved; /* pages of it that are in the database */
    int tried; /* length when the thread last began: readers may block the rest, so wait for growth */
    bool fails;
    char *notice; /* owned; until checkpointer_notice takes it */
    bool stop;
};

/* Lock held. NEW text when checkpoints on `db` begin to fail or work again, else NULL. BUSY and LOCKED are no
 * failures: readers or the other thread hold the log. */
static char *
news(checkpointer_t *self, sqlite3 *db, int rc, bool all)
{
    fail_auto_t err = FAIL_INIT;

    if (rc == SQLITE_OK && all && self->fails) {
        self->fails = false;
        return xasprintf("%s: its log is moved into it again", self->path);
    }
    if (rc == SQLITE_OK || rc == SQLITE_BUSY || rc == SQLITE_LOCKED || self->fails)
        return NULL;
    self->fails = true;
    (void) db_fail(db, self->path, &err);
    return xasprintf("%s. What is committed stays in the log %s-wal, which grows until it can be moved",
                     fail_text(&err), self->path);
}

/* Run a passive checkpoint on `db`, in either thread: pages moved, or -1. */
static int
move_pages(checkpointer_t *self, sqlite3 *db)
{
    int pages = 0, moved = 0;
    int rc = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved);

    pthread_mutex_lock(&self->lock);
    char *text = news(self, db, rc & 0xff, moved == pages);
    if (text != NULL) {
        free(self->notice);
        self->notice = text;
    }
    pthread_mutex_unlock(&self->lock);
    return rc == SQLITE_OK ? moved : -1;
}

static void *
checkpoint_main(void *arg)
{
    checkpointer_t *self = arg;

    prctl(PR_SET_NAME, "checkpoint");
    pthread_mutex_lock(&self->lock);
    while (!self->stop) {
        if (self->pages - self->moved < PAGES_BEGIN || self->pages == self->tried) {
            pthread_cond_wait(&self->work, &self->lock);
            continue;
        }
        self->tried = self->pages;
        pthread_mutex_unlock(&self->lock);
        int moved = move_pages(self, self->db);
        pthread_mutex_lock(&self->lock);
        /* A log that started over meanwhile makes `moved` meaningless; a failure leaves it, and the next
         * commit wakes the thread again. */
        if (moved >= 0 && self->pages >= self->tried)
            self->moved = moved;
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* SQLite's WAL hook: runs in the writer's thread after each commit, with the log's length. */
static int
after_commit(void *arg, sqlite3 *db, const char *name, int pages)
{
    checkpointer_t *self = arg;

    pthread_mutex_lock(&self->lock);
    if (pages < self->pages)
        self->moved = 0; /* it has begun anew */
    self->pages = pages;
    int left = pages - self->moved;
    if (left >= PAGES_BEGIN)
        pthread_cond_signal(&self->work);
    pthread_mutex_unlock(&self->lock);
    if ((pages >= PAGES_LONG && left <= PAGES_FEW) || pages >= PAGES_MAX)
        (void) move_pages(self, db);
    return SQLITE_OK;
}

checkpointer_t *
checkpointer_new(sqlite3 *db, const char *path, fail_t *err)
{
    checkpointer_t *self = xcalloc(1, sizeof(*self));

    self->path = xstrdup(path);
    self->writer = db;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->work, NULL);
    /* SQLite's connection learns that the database has a log only by its first read. */
    int tables, opened = db_open_reader(path, &self->db, err);
    if (opened < 0 || db_int(self->db, path, "SELECT count(*) FROM sqlite_schema", &tables, err) < 0) {
        checkpointer_destroy(&self);
        return NULL;
    }

    /* Block all signals in the new thread; the main thread handles them. */
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&self->thread, NULL, checkpoint_main, self);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    self->started = rc == 0;

    if (rc != 0) {
        (void) fail_set(err, -rc, "the job store's second thread: %s", strerror(rc));
        checkpointer_destroy(&self);
        return NULL;
    }
    sqlite3_wal_hook(db, after_commit, self);
    return self;
}

/* The hook goes first: no commit may call into a struct that is being freed. */
void
checkpointer_destroy(checkpointer_t **self_p)
{
    checkpointer_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    sqlite3_wal_hook(self->writer, NULL, NULL);
    pthread_mutex_lock(&self->lock);
    self->stop = true;
    pthread_cond_signal(&self->work);
    pthread_mutex_unlock(&self->lock);
    if (self->started)
        pthread_join(self->thread, NULL);
    pthread_cond_destroy(&self->work);
    pthread_mutex_destroy(&self->lock);
    sqlite3_close(self->db);
    free(self->notice);
    free(self->path);
    free(self);
}

char *
checkpointer_notice(checkpointer_t *self)
{
    pthread_mutex_lock(&self->lock);
    char *text = STEAL(self->notice);
    pthread_mutex_unlock(&self->lock);
    return text;
}
