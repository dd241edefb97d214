/* store_checkpoint.c - a thread that empties the write-ahead log. */
#include "master/store/store_checkpoint.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#include "master/store/store_db.h"

/* In pages of the log. The log begins anew when all of it is in the database, which never is while commits
 * follow each other: then the writer itself moves the last few pages. */
#define PAGES_BEGIN 1000  /* that wait: the thread begins */
#define PAGES_LONG  4000  /* a log so long shall begin anew, */
#define PAGES_FEW   200   /* when so few are left for the writer; */
#define PAGES_MAX   16000 /* when it is as long as this, whatever is left */

struct checkpointer {
    char *path;
    sqlite3 *writer; /* borrowed */
    sqlite3 *db;     /* the thread's */
    pthread_t thread;
    bool started;

    pthread_mutex_t lock; /* for all below */
    pthread_cond_t work;
    int pages; /* of the log, after the newest commit */
    int moved; /* of them, by the thread */
    int tried; /* how long it was when the thread last began: readers may keep it from moving all */
    bool fails;
    char *notice; /* until somebody takes it */
    bool stop;
};

/* NEW text, the lock held: what the last go on `db` has changed. A log that is held by readers or by the
 * other go is no failure. */
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

/* Pages moved, or -1. */
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
        /* After a failure the next commit asks again. */
        if (moved >= 0 && self->pages >= self->tried)
            self->moved = moved;
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* SQLite tells how long the log is after a commit; this is the writer's thread. */
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

/* Signals are the main thread's business. */
static int
start_thread(checkpointer_t *self)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&self->thread, NULL, checkpoint_main, self);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    self->started = rc == 0;
    return rc;
}

checkpointer_t *
checkpointer_new(sqlite3 *db, const char *path, fail_t *err)
{
    checkpointer_t *self = xcalloc(1, sizeof(*self));

    self->path = xstrdup(path);
    self->writer = db;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->work, NULL);
    /* The first read finds out that there is a log. */
    int tables, opened = db_open_reader(path, &self->db, err);
    if (opened < 0 || db_int(self->db, path, "SELECT count(*) FROM sqlite_schema", &tables, err) < 0) {
        checkpointer_destroy(&self);
        return NULL;
    }
    int rc = start_thread(self);
    if (rc != 0) {
        (void) fail_set(err, -rc, "the job store's second thread: %s", strerror(rc));
        checkpointer_destroy(&self);
        return NULL;
    }
    sqlite3_wal_hook(db, after_commit, self);
    return self;
}

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
