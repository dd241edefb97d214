/* waitline.c - see waitline.h. */
#include "common/cli/waitline.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/cli/term.h"
#include "salt/log.h"

enum { PATIENCE_MS = 1000, EVERY_MS = 100 };

struct waitline {
    int fd;
    pid_t owner; /* in a forked child there is no thread, and the lock may stay locked */
    pthread_t thread;
    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t stop;
    bool over;
    char *what;
    int64_t since_ms, first_ms;
    int64_t drawn_s; /* seconds that the terminal shows */
    bool changed;
    bool shown;
};

/* The thread: looks every EVERY_MS, and draws only what has changed. */
static void *
waitline_main(void *cookie)
{
    waitline_t *self = cookie;

    pthread_mutex_lock(&self->lock);
    while (!self->over) {
        int64_t now_ms = clock_mono_ms(), next_ms = now_ms + EVERY_MS;
        struct timespec until = { next_ms / 1000, next_ms % 1000 * 1000000 };

        /* Draws the line when its text or its seconds have changed. The caller holds the lock. */
        int64_t seconds = (now_ms - self->since_ms) / 1000;
        buf_auto_t line = BUF_INIT;
        if (now_ms >= self->first_ms && !(!self->changed && seconds == self->drawn_s)) {
            AUTO_FREE char *text = xasprintf("%s, %lld s", self->what, (long long) seconds);
            buf_puts(&line, LOG_ERASE_LINE);
            /* The last column stays free: a line that wraps could not be erased. */
            (void) term_put(&line, text, term_columns(self->fd) - 1);
            if (self->fd == STDERR_FILENO)
                log_over_line(true);
            (void) fs_write_all(self->fd, line.data, line.len);
            self->drawn_s = seconds;
            self->changed = false;
            self->shown = true;
        }

        pthread_cond_timedwait(&self->stop, &self->lock, &until);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

static void
waitline_free(waitline_t *self)
{
    pthread_cond_destroy(&self->stop);
    pthread_mutex_destroy(&self->lock);
    free(self->what);
    free(self);
}

waitline_t *
waitline_new_after(int fd, const char *what, int64_t delay_ms)
{
    pthread_condattr_t attributes;

    if (isatty(fd) != 1 || !term_moves())
        return NULL;
    waitline_t *self = xcalloc(1, sizeof(*self));
    self->fd = fd;
    self->owner = getpid();
    self->what = xstrdup(what);
    self->since_ms = clock_mono_ms();
    self->first_ms = self->since_ms + delay_ms;
    self->changed = true;
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self->stop, &attributes);
    pthread_condattr_destroy(&attributes);
    /* The thread has all signals blocked: other threads wait for them. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&self->thread, NULL, waitline_main, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        return self;
    waitline_free(self);
    return NULL;
}

waitline_t *
waitline_new(int fd, const char *what)
{
    return waitline_new_after(fd, what, PATIENCE_MS);
}

void
waitline_destroy(waitline_t **self_p)
{
    waitline_t *self = STEAL(*self_p);

    if (self == NULL || self->owner != getpid())
        return;
    pthread_mutex_lock(&self->lock);
    self->over = true;
    pthread_cond_signal(&self->stop);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    if (self->shown)
        (void) fs_write_all(self->fd, LOG_ERASE_LINE, strlen(LOG_ERASE_LINE));
    if (self->fd == STDERR_FILENO)
        log_over_line(false);
    waitline_free(self);
}

/* A further step has its own seconds. */
void
waitline_step(waitline_t *self, size_t step, size_t of, const char *what)
{
    if (self == NULL || self->owner != getpid())
        return;
    pthread_mutex_lock(&self->lock);
    free(self->what);
    self->what = xasprintf("[%4zu/%4zu] %s", step, of, what);
    self->since_ms = clock_mono_ms();
    self->changed = true;
    pthread_mutex_unlock(&self->lock);
}
