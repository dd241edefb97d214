/* files_work.c - a file worker's thread: a ring of requests, one step each. The lock is held except while a
 * step works or a configuration is applied, so a request is only touched by its worker while `busy`. */
#include "master/files/files_int.h"

#include <unistd.h>

#include "common/base/clock.h"
#include "salt/limits.h"
#include "salt/log.h"

#define SLEEP_MS      5000 /* between searches for stalled requests */
#define SLEEP_FULL_MS 1000 /* the same while places are short */

void
files_take_opts(files_worker_t *w)
{
    /* Repeat: a newer configuration may have come while the lock was free, and requests after it must see
     * it. */
    for (char *text; (text = STEAL(w->fresh_opts));) {
        (void) pthread_mutex_unlock(&w->owner->lock);
        fileserver_destroy(&w->server);
        json_decref(w->opts);
        w->opts = json_loads(text, JSON_ALLOW_NUL, NULL);
        w->server = fileserver_new(w->opts, NULL);
        free(text);
        (void) pthread_mutex_lock(&w->owner->lock);
    }
}

/* Lock held. Remove a request from the ring and free it. */
static void
files_work_drop(files_worker_t *w, asking_t **at)
{
    asking_t *a = *at;
    *at = a->next;
    if (a->next == NULL)
        w->tail = at;
    files_forget(w->owner, a);
    asking_free(a);
}

/* How long a request may stall. A slow receiver has chunks in flight for long; one without any that grants no
 * credit merely occupies a place, and loses it sooner when another request, of any minion or of the same one,
 * waits for the place. Lock held. */
static int64_t
files_work_patience(const files_t *files, const asking_t *a)
{
    return a->state == ASKING_DATA && a->under_way == 0 &&
                   ((files->n_open >= LIMIT_FILE_OPEN && files->n_asking > files->n_open) ||
                    (a->share->n_open >= LIMIT_FILE_MINION && a->share->n_asking > a->share->n_open))
               ? LIMIT_FILE_STALL_FULL
               : LIMIT_FILE_STALL;
}

/* Lock held. The next request that can step, moved to the ring's end; NULL without one. Frees ended ones on
 * the way. */
static asking_t *
files_work_next(files_worker_t *w)
{
    for (asking_t **at = &w->ring; *at;) {
        asking_t *a = *at;
        if (a->gone || a->state == ASKING_DONE) {
            files_work_drop(w, at);
            continue;
        }
        if (!asking_can_step(a, w->owner)) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        if (a->next == NULL)
            w->tail = at;
        a->next = NULL;
        *w->tail = a;
        w->tail = &a->next;
        return a;
    }
    return NULL;
}

/* Lock held. Queue what a step produced, or drop it if the request ended meanwhile. */
static void
files_work_deliver(files_worker_t *w, asking_t *a, files_out_t *made, files_out_t **made_tail)
{
    files_t *files = w->owner;
    uint64_t one = 1;
    if (a->gone) {
        for (files_out_t *out; (out = made);) {
            made = out->next;
            files_out_free(out);
        }
        return;
    }
    if (made == NULL)
        return;
    *files->out_tail = made;
    files->out_tail = made_tail;
    (void) !write(files->fd, &one, sizeof(one));
}

/* Lock held, released during the step. Counts places and bytes before and after. */
static void
files_work_serve(files_worker_t *w, asking_t *a)
{
    files_out_t *made = NULL, **tail = &made;
    int64_t before = a->at;
    bool sends = a->state == ASKING_DATA, opens = a->state == ASKING_NEW;
    bool takes = a->state == ASKING_TAKE;
    files_in_t *one = takes ? a->in : NULL;
    a->busy = true;
    w->owner->n_open += opens;
    a->share->n_open += opens;
    (void) pthread_mutex_unlock(&w->owner->lock);
    asking_step(a, w, &tail);
    (void) pthread_mutex_lock(&w->owner->lock);
    a->busy = false;
    if (one != NULL) {
        a->in = one->next;
        if (a->in == NULL)
            a->in_tail = &a->in;
        free(one->tag);
        free(one);
    }
    if (takes) {
        a->granted += a->regranted;
        a->regranted = 0;
    }
    if (sends && a->at > before) {
        a->credit--;
        a->under_way += (size_t) (a->at - before);
        a->share->under_way += (size_t) (a->at - before);
        w->owner->under_way += (size_t) (a->at - before);
    }
    files_work_deliver(w, a, made, tail);
}

/* Sleeps until it is woken, or to look for stalled requests. */
void *
files_work(void *worker)
{
    files_worker_t *w = worker;
    (void) pthread_mutex_lock(&w->owner->lock);
    while (!w->owner->stop) {
        files_take_opts(w);
        int64_t now = clock_mono_ms();
        if (now - w->swept_ms >= SLEEP_FULL_MS) {
            /* Lock held. End requests whose receivers have fallen silent. */
            w->swept_ms = now;
            for (asking_t *a = w->ring; a; a = a->next) {
                bool waits = a->state == ASKING_DATA ? a->credit == 0
                                                     : a->state == ASKING_TAKE && a->in == NULL;
                if (!waits || a->gone || now - a->heard_ms <= files_work_patience(w->owner, a))
                    continue;
                log_debug("%s: minion %s takes it no more", a->path, a->id);
                files_give_up(w->owner, a, -EAGAIN, "it was not taken in time; ask again");
            }
        }
        if (files_names_step(w))
            continue;
        asking_t *a = files_work_next(w);
        if (a != NULL) {
            files_work_serve(w, a);
            continue;
        }
        struct timespec until;
        (void) clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += (w->owner->n_asking > w->owner->n_open ? SLEEP_FULL_MS : SLEEP_MS) / 1000;
        if (!w->owner->stop && w->fresh_opts == NULL)
            (void) pthread_cond_timedwait(&w->wake, &w->owner->lock, &until);
    }
    (void) pthread_mutex_unlock(&w->owner->lock);
    return NULL;
}
