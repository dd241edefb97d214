/* threads.c - see threads.h. Each step gets a thread with its own context, options, pillar and connection to
 * the master, because neither json_t trees nor Python values may be shared between threads. Steps beyond
 * `max` wait in a queue and begin as others end. */
#include "runners/lib/threads.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "common/masterctx/masterctx.h"
#include "common/py/py_error.h"
#include "common/py/py_wire.h"
#include "master/api.h"
#include "salt/log.h"

typedef struct work {
    struct work *next;
    struct threads *owner;
    pthread_t thread;
    size_t id;
    state_work_fn *fn;
    void *work;
    master_api_t *api;
    json_t *opts, *pillar; /* copies, the thread's; the pillar as py_wire.h says it */
    const char *jid;
    json_t *value; /* owned, in the end */
    bool over;     /* under the lock */
} work_t;

struct threads {
    threads_env_t env;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    work_t *at_work;
    work_t *queue, **queue_end;
    size_t n;
};

threads_t *
threads_new(const threads_env_t *env)
{
    threads_t *self = xcalloc(1, sizeof(*self));
    pthread_condattr_t attr;

    self->env = *env;
    self->queue_end = &self->queue;
    (void) pthread_mutex_init(&self->lock, NULL);
    (void) pthread_condattr_init(&attr);
    (void) pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void) pthread_cond_init(&self->ended, &attr);
    (void) pthread_condattr_destroy(&attr);
    return self;
}

static void
free_work(work_t *work)
{
    api_destroy(&work->api);
    json_decref(work->opts);
    json_decref(work->pillar);
    json_decref(work->value);
    free(work);
}

/* Joins the threads that still run and drops queued work. */
void
threads_destroy(threads_t **self_p)
{
    threads_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    for (work_t *w = self->at_work, *next; w != NULL; w = next) {
        next = w->next;
        (void) pthread_join(w->thread, NULL);
        free_work(w);
    }
    for (work_t *w = self->queue, *next; w != NULL; w = next) {
        next = w->next;
        free_work(w);
    }
    (void) pthread_cond_destroy(&self->ended);
    (void) pthread_mutex_destroy(&self->lock);
    free(self);
}

/* ---- in the thread ------------------------------------------------------------------------- */

/* Sends an event over the thread's own connection. */
static int
threads_fire(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    json_t *request = json_pack("{s:s, s:s, s:O}", "op", "fire", "tag", tag, "data", data);
    json_auto_t *reply = NULL;

    return api_request(cookie, &request, &reply, err);
}

/* Runs the step and hands its value over under the lock. */
static void *
thread_main(void *arg)
{
    work_t *work = arg;
    threads_t *owner = work->owner;
    masterctx_env_t env = { .tables = api_host(work->api),
                            .opts = work->opts,
                            .jid = work->jid,
                            .pillar = work->pillar,
                            .peer = api_peer(work->api),
                            .fire = threads_fire,
                            .cookie = work->api,
                            .request = api_request_of,
                            .private_data = work->api };
    AUTO(masterctx) host = masterctx_new(&env);

    log_job(work->jid);
    ctx_set_test(masterctx_ctx(host), value_bool(work->opts, "test", false));
    if (owner->env.dress != NULL)
        owner->env.dress(owner->env.cookie, masterctx_ctx(host));
    json_t *value = work->fn(masterctx_ctx(host), work->work);
    masterctx_destroy(&host);
    (void) pthread_mutex_lock(&owner->lock);
    work->value = value;
    work->over = true;
    (void) pthread_cond_signal(&owner->ended);
    (void) pthread_mutex_unlock(&owner->lock);
    return NULL;
}

/* ---- in the run ---------------------------------------------------------------------------- */

/* Signals are the main thread's business. */
static int
threads_begin(threads_t *self, work_t *work, fail_t *err)
{
    sigset_t all, old;

    work->api = api_another(api_of(self->env.ctx), err);
    if (work->api == NULL)
        return err->code;
    work->opts = json_deep_copy(ctx_opts(self->env.ctx));
    json_object_set_new(work->opts, "test", json_boolean(ctx_test(self->env.ctx)));
    work->pillar = py_to_wire_peer(ctx_native_pillar(self->env.ctx)); /* the thread has values of its own */
    if (work->pillar == NULL) {
        (void) fail_set(err, -EINVAL, "the pillar of the step: %s", py_raised_text());
        py_clear();
        return err->code;
    }
    work->jid = ctx_jid(self->env.ctx);
    (void) sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&work->thread, NULL, thread_main, work);
    (void) pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc != 0)
        return fail_set(err, -rc, "a thread for the step: %s", strerror(rc));
    work->next = self->at_work;
    self->at_work = work;
    self->n++;
    return 0;
}

/* Begin what waits while there is room. 1 when one could not begin. */
static int
begin_queued(threads_t *self, size_t *ret_id, fail_t *err)
{
    while (self->queue != NULL && self->n < self->env.max) {
        work_t *work = self->queue;
        self->queue = work->next;
        if (self->queue == NULL)
            self->queue_end = &self->queue;
        if (threads_begin(self, work, err) == 0)
            continue;
        *ret_id = work->id;
        free_work(work);
        return 1;
    }
    return 0;
}

/* Begins the step, or queues it when all threads are at work. */
static int
threads_start(void *cookie, size_t id, state_work_fn *fn, void *given, fail_t *err)
{
    threads_t *self = cookie;
    work_t *work = xcalloc(1, sizeof(*work));

    *work = (work_t){ .owner = self, .id = id, .fn = fn, .work = given };
    if (self->n < self->env.max) {
        int rc = threads_begin(self, work, err);
        if (rc < 0)
            free_work(work);
        return rc;
    }
    *self->queue_end = work;
    self->queue_end = &work->next;
    return 0;
}

/* With the lock held. NEW work that is over, off the list; NULL. */
static work_t *
take_ended(threads_t *self)
{
    for (work_t **at = &self->at_work; *at != NULL; at = &(*at)->next) {
        work_t *work = *at;
        if (!work->over)
            continue;
        *at = work->next;
        self->n--;
        return work;
    }
    return NULL;
}

/* With the lock held. False when the time is over. */
static bool
wait_ended(threads_t *self, const struct timespec *until)
{
    return until == NULL ? pthread_cond_wait(&self->ended, &self->lock) == 0
                         : pthread_cond_timedwait(&self->ended, &self->lock, until) == 0;
}

static int
threads_next(void *cookie, int timeout_ms, size_t *ret_id, json_t **ret_value, fail_t *err)
{
    threads_t *self = cookie;

    /* The time at which the wait ends. */
    int ms = timeout_ms > 0 ? timeout_ms : 0;
    struct timespec until;
    (void) clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + ms % 1000 * 1000000LL;
    until.tv_sec += ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;

    work_t *work;

    *ret_value = NULL;
    if (begin_queued(self, ret_id, err) > 0)
        return 1;
    (void) pthread_mutex_lock(&self->lock);
    while ((work = take_ended(self)) == NULL && self->n > 0 &&
           wait_ended(self, timeout_ms < 0 ? NULL : &until))
        continue;
    (void) pthread_mutex_unlock(&self->lock);
    if (work == NULL)
        return 0;
    (void) pthread_join(work->thread, NULL);
    *ret_id = work->id;
    *ret_value = STEAL(work->value);
    free_work(work);
    return 1;
}

const state_workers_t threads_workers = { threads_start, threads_next };
