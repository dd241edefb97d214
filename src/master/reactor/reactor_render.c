/* reactor_render.c - actors that render the reactor's files. Events of one file are rendered in order by one
 * actor at a time, different files in parallel, so a slow file delays only itself. Actors are started on
 * demand up to reactor_worker_threads; each has a master API and template context of its own, renewed every
 * reactor_refresh_interval seconds. An actor that still renders when the master ends is abandoned. */
#include "common/net/sock.h"
#include "master/reactor/reactor_int.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/reactor/reaction.h"
#include "master/api.h"
#include "salt/log.h"
#include "salt/value.h"

#define BATCH       32   /* tasks of a file per batch */
#define END_WAIT_MS 1000 /* wait for rendering templates when the master ends */

/* Free the batch; its tasks are owned by the loop. */
static void
batch_free(rbatch_t *batch)
{
    json_decref(batch->opts);
    free(batch->file);
    free(batch);
}

/* Pass ownership through the pipe. The atomic makes the order visible to the thread sanitizer, as in
 * pillars.c. */
static void
reactor_render_pass(void *to, rbatch_t *batch)
{
    atomic_store_explicit(&batch->passed, true, memory_order_release);
    (void) zsock_send(to, "p", batch);
}

/* Receive a batch; NULL when the pipe ends. */
static rbatch_t *
reactor_render_take(void *from)
{
    rbatch_t *batch = NULL;
    if (zsock_recv(from, "p", &batch) != 0 || batch == NULL)
        return NULL;
    (void) atomic_load_explicit(&batch->passed, memory_order_acquire);
    return batch;
}

/* ---- inside the actor ------------------------------------------------------------------------ */

typedef struct actor {
    const reactor_shared_t *shared;
    json_t *opts;
    master_api_t *api; /* NULL: the master can't be reached */
    masterctx_t *host;
    render_t *render;
    int64_t made_ms;
} actor_t;

/* Templates' event.fire: send it through the local socket. */
static int
reactor_render_fire(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    const actor_t *self = cookie;
    json_t *request = json_pack("{s:s, s:s, s:O}", "op", "fire", "tag", tag, "data", data);
    json_auto_t *reply = NULL;
    if (self->api == NULL) {
        json_decref(request);
        return fail_set(err, -ENOTCONN, "the master can't be reached");
    }
    return api_request(self->api, &request, &reply, err);
}

/* In reverse order of reactor_render_open: the renderer uses the context, which uses the api handle. */
static void
reactor_render_close(actor_t *self)
{
    render_destroy(&self->render);
    masterctx_destroy(&self->host);
    api_destroy(&self->api);
}

/* Render one task. False: the system lacks something for now; the task and those behind it wait, for
 * PASSES_MS at most. */
static bool
reactor_render_work(actor_t *self, rtask_t *task)
{
    int64_t now_ms = clock_mono_ms();
    json_auto_t *firing = json_loads(task->firing, JSON_ALLOW_NUL, NULL);
    json_auto_t *errors = json_array();
    call_ctx_t *ctx = masterctx_ctx(self->host);
    reaction_env_t env = { ctx, ctx_files(ctx), self->render, self->shared->runners, self->shared->wheels };
    int64_t begin_us = clock_mono_us();
    json_auto_t *list = reaction_list(&env, firing, errors);
    log_debug("reactor: event %llu '%s': %s has %zu reactions, rendered in %.6f s",
              (unsigned long long) task->seq, value_str(firing, "tag", ""), value_str(firing, "file", ""),
              json_array_size(list), (double) (clock_mono_us() - begin_us) / 1e6);

    /* The first error that may pass by itself, BORROWED. */
    const json_t *passing = NULL;
    size_t i;
    json_t *error;
    json_array_foreach (errors, i, error)
        if (value_bool(error, "passing", false)) {
            passing = error;
            break;
        }

    if (passing != NULL && task->tried_ms == 0) {
        log_warning("reactor: %s: %s; it is tried again for a minute", value_str(passing, "file", ""),
                    value_str(passing, "error", ""));
        task->tried_ms = now_ms;
    }
    if (passing != NULL && now_ms - task->tried_ms < PASSES_MS)
        return false;
    json_auto_t *outcome = json_pack("{s:O, s:O}", "reactions", list, "errors", errors);
    task->outcome = value_dump(outcome);
    return true;
}

/* TAKES self. */
static void
reactor_render_free(actor_t *self)
{
    json_decref(self->opts);
    free(self);
}

static void
reactor_render_actor(zsock_t *pipe, void *arg)
{
    actor_t *self = arg;
    (void) zsock_signal(pipe, 0);
    for (rbatch_t *batch; (batch = reactor_render_take(pipe));) {
        if (batch->opts != NULL) {
            reactor_render_close(self);
            json_decref(self->opts);
            self->opts = STEAL(batch->opts);
        }

        /* Make the template context, anew when it is older than reactor_refresh_interval, so that grains
         * and functions' caches do not go stale. */
        int64_t ttl = value_int(self->opts, "reactor_refresh_interval", 60) * 1000;
        if (self->host == NULL || clock_mono_ms() - self->made_ms >= ttl) {
            reactor_render_close(self);
            self->api = api_new(self->shared->sock_dir, self->shared->store_path, NULL);
            if (self->api != NULL) {
                api_set_functions(self->api, NULL, self->shared->wheels);
                api_set_modules(self->api, self->shared->host->modules);
                api_set_host(self->api, self->shared->host);
            }
            masterctx_env_t env = { .tables = self->shared->host,
                                    .opts = self->opts,
                                    .renders = "renderer_functions_reactor",
                                    .fire = reactor_render_fire,
                                    .cookie = self,
                                    .request = api_request_of,
                                    .private_data = self->api };
            self->host = masterctx_new(&env);
            call_ctx_t *ctx = masterctx_ctx(self->host);
            (void) ctx_grains(ctx); /* gather grains now rather than when an event waits */
            self->render = render_new(ctx, ctx_files(ctx));
            self->made_ms = clock_mono_ms();
        }

        /* In order: tasks behind one that must wait are not rendered. */
        for (rtask_t *t = batch->tasks; t != NULL && reactor_render_work(self, t);)
            t = t->next;
        reactor_render_pass(pipe, batch);
    }
    reactor_render_close(self);
    reactor_render_free(self);
}

/* ---- the reactor's side ---------------------------------------------------------------------- */

/* An idle actor, or a new one within reactor_worker_threads and the limit of sockets; NULL: none. */
static rworker_t *
reactor_render_idle_worker(rloop_t *self)
{
    size_t most = (size_t) value_int(self->opts, "reactor_worker_threads", 10);
    for (size_t i = 0; i < self->n_pool; i++)
        if (self->pool[i].batch == NULL)
            return &self->pool[i];
    if (self->n_pool >= NELEMS(self->pool) || self->n_pool >= (most > 0 ? most : 1) || !sock_room_for_actor())
        return NULL;
    actor_t *actor = xcalloc(1, sizeof(*actor));
    actor->shared = self->shared;
    actor->opts = json_object();
    rworker_t *w = &self->pool[self->n_pool];
    w->stale = true;
    w->actor = zactor_new(reactor_render_actor, actor);
    if (w->actor == NULL) {
        reactor_render_free(actor);
        return NULL;
    }
    self->n_pool++;
    return w;
}

/* TAKES the tasks. Sends the configuration along when the actor's is out of date. */
static void
reactor_render_assign(rloop_t *self, rworker_t *w, const char *file, rtask_t *tasks)
{
    rbatch_t *batch = xcalloc(1, sizeof(*batch));
    batch->tasks = tasks;
    batch->file = xstrdup(file);
    if (w->stale)
        batch->opts = json_deep_copy(self->opts);
    w->stale = false;
    w->batch = batch;
    reactor_render_pass(w->actor, batch);
}

/* Start a batch for each file that waits and is not being rendered, as long as actors are idle. Files without
 * tasks leave the map here. */
void
rrender_turn(rloop_t *self)
{
    const char *name;
    void *v;
    if (self->n_waiting == 0)
        return;
    for (size_t i = 0; map_next(self->files, &i, &name, &v);) {
        rfile_t *file = v;
        if (file->head == NULL && !file->busy) {
            (void) map_del(self->files, name);
            continue;
        }
        rworker_t *w = file->busy || clock_mono_ms() < file->after_ms ? NULL
                                                                      : reactor_render_idle_worker(self);
        if (w == NULL)
            continue;
        file->busy = true;
        /* Up to BATCH tasks leave the file's queue, as one chain. */
        rtask_t *first = file->head, **end = &file->head;
        for (int k = 0; *end && k < BATCH; k++, self->n_waiting--)
            end = &(*end)->next;
        file->head = *end;
        *end = NULL;
        if (file->head == NULL)
            file->tail = &file->head;
        reactor_render_assign(self, w, name, first);
    }
}

void
rrender_warm(rloop_t *self)
{
    rworker_t *w = reactor_render_idle_worker(self);
    if (w != NULL)
        reactor_render_assign(self, w, "", NULL);
}

void
rrender_add(rloop_t *self, rtask_t **task_p)
{
    rtask_t *task = STEAL(*task_p);
    json_auto_t *firing = json_loads(task->firing, JSON_ALLOW_NUL, NULL);
    const char *name = value_str(firing, "file", "");
    rfile_t *file = map_get(self->files, name);
    if (file == NULL) {
        file = xcalloc(1, sizeof(*file));
        file->tail = &file->head;
        map_set(self->files, name, file);
    }
    *file->tail = task;
    file->tail = &task->next;
    self->n_waiting++;
}

/* Take back an actor's batch: rendered tasks continue, the rest return to their queue. */
void
rrender_ready(rloop_t *self, rworker_t *w)
{
    rbatch_t *batch = reactor_render_take(w->actor);
    if (batch == NULL)
        return;
    w->batch = NULL;
    /* Move the file behind the others in the map, which have waited longer. */
    rfile_t *file = map_take(self->files, batch->file);
    salt_assert(file != NULL || batch->tasks == NULL); /* none for the batch of rrender_warm */
    if (file != NULL) {
        file->busy = false;
        map_set(self->files, batch->file, file);
    }
    rtask_t *t = batch->tasks;
    for (rtask_t *next; t != NULL && t->outcome != NULL; t = next) {
        next = t->next;
        t->next = NULL;
        work_take(self, t);
    }
    if (t != NULL) {
        /* Return tasks that were not rendered to the front of the queue, and rest the file. */
        rtask_t *rest = t;
        rtask_t **end = &rest;
        for (; *end; end = &(*end)->next)
            self->n_waiting++;
        if (file->head == NULL)
            file->tail = end;
        *end = file->head;
        file->head = rest;
        file->after_ms = clock_mono_ms() + RENDER_AGAIN_MS;
    }
    batch_free(batch);
}

void
rrender_reload(rloop_t *self)
{
    for (size_t i = 0; i < self->n_pool; i++)
        self->pool[i].stale = true;
}

/* True when an actor finishes before `until_ms`. */
static bool
reactor_render_ends(rworker_t *w, int64_t until_ms)
{
    int64_t left = until_ms - clock_mono_ms();
    zmq_pollitem_t item = { zsock_resolve(w->actor), 0, ZMQ_POLLIN, 0 };
    if (w->batch == NULL)
        return true;
    if (zmq_poll(&item, 1, left > 0 ? (long) left : 0) <= 0)
        return false;
    rbatch_t *batch = reactor_render_take(w->actor);
    if (batch != NULL)
        batch_free(batch);
    return true;
}

/* All actors share one deadline. Actors that miss it keep running, so their tasks are not freed. */
bool
rrender_destroy(rloop_t *self)
{
    int64_t until = clock_mono_ms() + END_WAIT_MS;
    bool ended = true;
    for (size_t i = 0; i < self->n_pool; i++) {
        rworker_t *w = &self->pool[i];
        if (reactor_render_ends(w, until))
            zactor_destroy(&w->actor);
        else
            log_warning("reactor: %s did not render in time: it is cut off", w->batch->file);
        ended = ended && w->actor == NULL;
    }
    map_destroy(&self->files);
    return ended;
}
