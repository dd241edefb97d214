/* workers.c - runners and wheel functions: each runs in an actor with its own line to the master, so it may
 * take its time. */
#include "master/front.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "master/api.h"
#include "salt/log.h"
#include "salt/value.h"

#define END_WAIT_MS  3000 /* for functions under way when the master ends */
#define ROWS_WAIT_MS 2000 /* for the commit of what was there when a function was asked for */

typedef struct worker {
    zactor_t *actor;
    struct workers *owner;
    json_t *task; /* what it runs now; NULL: idle */
    lconn_t *follower;
    bool stale; /* its copy of the configuration is */
} worker_t;

struct workers {
    front_t *front;
    char *sock_dir, *store_path;
    worker_t pool[LIMIT_RUNNER_WORKERS];
    size_t n_pool;
    json_t *queue;       /* tasks that wait for a worker */
    lconn_t **queue_who; /* their followers, in step */
    size_t n_queue;
};

/* ---- inside the actor
 * --------------------------------------------------------------------------------------------- */

typedef struct actor_env {
    char *sock_dir, *store_path;
    store_t *store; /* to wait for its commits only */
    registry_t *runners, *wheels;
    json_t *opts;        /* a deep copy: trees are not shared between threads */
    registry_t *modules; /* what templates of pillars call */
} actor_env_t;

static int
s_env_fire(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    json_t *request = json_pack("{s:s, s:s, s:O}", "op", "fire", "tag", tag, "data", data);
    json_auto_t *reply = NULL;
    return api_request(cookie, &request, &reply, err);
}

/* A failure in the words that Salt's runners have for it. NEW. */
static char *
s_words(const registry_t *registry, call_ctx_t *ctx, bool wheel, const char *fun, const fail_t *err)
{
    fail_auto_t unused = FAIL_INIT;
    const plugin_t *plugin = NULL;
    const func_t *f = registry_find(registry, ctx, fun, &plugin, &unused);
    if (err->kind == FAIL_UNAVAILABLE || !f)
        return xstrdup(fail_text(err));
    if (err->kind != FAIL_ARGUMENTS)
        return xasprintf("Exception occurred in %s %s: %s", wheel ? "wheel" : "runner", fun, fail_text(err));
    AUTO_FREE char *doc = func_docstring(f);
    return xasprintf("\nPassed invalid arguments: %s\n\nUsage:\n%s", fail_text(err), doc);
}

/* Run one task; NEW result {return, retcode, success, failed}. */
static json_t *
s_run_task(const actor_env_t *env, const json_t *task)
{
    fail_auto_t err = FAIL_INIT;
    __attribute__((cleanup(api_destroy))) master_api_t *api = api_new(env->sock_dir, env->store_path, &err);
    if (!api)
        return json_pack("{s:s, s:i, s:b}", "return", fail_text(&err), "retcode", 1, "success", false);
    size_t n_wheels;
    const plugin_t *const *wheels = registry_plugins(env->wheels, &n_wheels);
    api_set_wheels(api, wheels, n_wheels);
    api_set_modules(api, env->modules);
    call_env_t call = { .registry = value_bool(task, "wheel", false) ? env->wheels : env->runners,
                        .opts = env->opts,
                        .jid = value_str(task, "jid", ""),
                        .fire = s_env_fire,
                        .cookie = api,
                        .private_data = api };
    AUTO(call_ctx) ctx = call_ctx_new(&call);
    json_t *value = NULL;
    int rc = call_function(ctx, value_str(task, "fun", ""), value_get(task, "arg"), NULL, &value, &err);
    if (rc < 0) {
        AUTO_FREE char *words = s_words(call.registry, ctx, value_bool(task, "wheel", false),
                                        value_str(task, "fun", ""), &err);
        return json_pack("{s:s, s:i, s:b, s:i}", "return", words, "retcode", 1, "success", false, "failed",
                         (int) err.kind);
    }
    int retcode = ctx_retcode(ctx);
    return json_pack("{s:o, s:i, s:b}", "return", value, "retcode", retcode, "success", retcode == 0);
}

static void
s_actor(zsock_t *pipe, void *arg)
{
    actor_env_t *env = arg;
    (void) zsock_signal(pipe, 0);
    for (;;) {
        char *text = NULL, *opts = NULL, *ticket = NULL;
        int n = zstr_recvx(pipe, &text, &opts, &ticket, NULL);
        if (n < 1 || strcmp(text, "$TERM") == 0) {
            free(text), free(opts), free(ticket);
            break;
        }
        /* An operator who has seen a return finds it. */
        (void) store_wait(env->store, ticket ? strtoull(ticket, NULL, 10) : 0, ROWS_WAIT_MS);
        json_auto_t *task = json_loads(text, JSON_ALLOW_NUL, NULL);
        json_t *fresh = opts && *opts ? json_loads(opts, JSON_ALLOW_NUL, NULL) : NULL;
        if (fresh) {
            json_decref(env->opts);
            env->opts = fresh;
        }
        free(text), free(opts), free(ticket);
        json_auto_t *result = s_run_task(env, task);
        AUTO_FREE char *answer = value_dump(result);
        (void) zstr_send(pipe, answer);
    }
    json_decref(env->opts);
    free(env->sock_dir);
    free(env->store_path);
    free(env);
}

/* ---- the front loop's side
 * ----------------------------------------------------------------------------------------- */

static void
s_fire_run(workers_t *self, const json_t *task, const char *what, const json_t *result)
{
    json_t *data = json_pack("{s:s+, s:s, s:s, s:O}", "fun",
                             value_bool(task, "wheel", false) ? "wheel." : "runner.",
                             value_str(task, "fun", ""), "jid", value_str(task, "jid", ""), "user",
                             value_str(task, "user", ""), "fun_args", value_get(task, "arg"));
    if (result) {
        json_object_set(data, "return", value_get(result, "return"));
        json_object_set(data, "success", value_get(result, "success"));
        json_object_set(data, "retcode", value_get(result, "retcode"));
    }
    AUTO_FREE char *tag = xasprintf("%s/%s", value_str(task, "tag", ""), what);
    (void) bus_fire(self->front, tag, &data);
}

static void
s_assign(worker_t *w, json_t *task, lconn_t *follower)
{
    AUTO_FREE char *text = value_dump(task);
    AUTO_FREE char *opts = w->stale ? value_dump(w->owner->front->opts) : xstrdup("");
    AUTO_FREE char *ticket = xasprintf("%llu", (unsigned long long) w->owner->front->row_ticket);
    w->task = json_incref(task);
    w->follower = follower;
    w->stale = false;
    (void) zstr_sendx(w->actor, text, opts, ticket, NULL);
}

static void
s_next_queued(workers_t *self, worker_t *w)
{
    if (self->n_queue == 0)
        return;
    json_auto_t *task = json_incref(json_array_get(self->queue, 0));
    lconn_t *follower = self->queue_who[0];
    json_array_remove(self->queue, 0);
    self->n_queue--;
    memmove(self->queue_who, self->queue_who + 1, self->n_queue * sizeof(*self->queue_who));
    s_assign(w, task, follower);
}

/* A result that nobody waits for any more is kept as a job's, for jobs.lookup_jid. */
static void
s_keep(workers_t *self, const json_t *task, const json_t *result)
{
    const char *id = conf_str(self->front->conf, "id"), *jid = value_str(task, "jid", "");
    json_auto_t *fun = value_fmt("%s.%s", value_bool(task, "wheel", false) ? "wheel" : "runner",
                                 value_str(task, "fun", ""));
    json_t *job = json_pack("{s:s, s:O, s:O, s:s, s:s, s:s, s:[s]}", "jid", jid, "fun", fun, "arg",
                            value_get(task, "arg"), "tgt", id, "tgt_type", "glob", "user",
                            value_str(task, "user", ""), "minions", id);
    json_auto_t *ret = json_pack("{s:s, s:O, s:O, s:O, s:O, s:O}", "jid", jid, "fun", fun, "fun_args",
                                 value_get(task, "arg"), "return", value_get(result, "return"), "retcode",
                                 value_get(result, "retcode"), "success", value_get(result, "success"));
    char *raw = value_dump(ret);
    (void) store_add_job(self->front->store, &job);
    uint64_t ticket = store_add_return(self->front->store, jid, id, &raw,
                                       (int) value_int(result, "retcode", 0),
                                       value_bool(result, "success", false));
    if (ticket > 0)
        self->front->row_ticket = ticket;
}

static int
s_finished(zloop_t *loop, zsock_t *reader, void *arg)
{
    (void) loop, (void) reader;
    worker_t *w = arg;
    char *text = zstr_recv(w->actor);
    if (!text)
        return 0;
    json_auto_t *result = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    free(text);
    json_auto_t *task = STEAL(w->task);
    s_fire_run(w->owner, task, "ret", result);
    lconn_t *follower = STEAL(w->follower);
    if (follower) {
        json_auto_t *msg = json_pack("{s:s, s:s}", "push", "runner", "jid", value_str(task, "jid", ""));
        (void) json_object_update(msg, result);
        (void) lconn_push(follower, msg);
    } else {
        s_keep(w->owner, task, result);
    }
    s_next_queued(w->owner, w);
    return 0;
}

static worker_t *
s_idle_worker(workers_t *self)
{
    for (size_t i = 0; i < self->n_pool; i++)
        if (!self->pool[i].task)
            return &self->pool[i];
    if (self->n_pool == NELEMS(self->pool))
        return NULL;
    actor_env_t *env = xcalloc(1, sizeof(*env));
    env->sock_dir = xstrdup(self->sock_dir);
    env->store_path = xstrdup(self->store_path);
    env->store = self->front->store;
    env->runners = self->front->runners;
    env->wheels = self->front->wheels;
    env->opts = json_deep_copy(self->front->opts);
    env->modules = self->front->modules;
    worker_t *w = &self->pool[self->n_pool];
    w->owner = self;
    w->actor = zactor_new(s_actor, env);
    if (!w->actor)
        return NULL;
    self->n_pool++;
    (void) zloop_reader(self->front->loop, zactor_sock(w->actor), s_finished, w);
    return w;
}

workers_t *
workers_new(front_t *front, const char *sock_dir, const char *store_path, fail_t *err)
{
    (void) err;
    workers_t *self = xcalloc(1, sizeof(*self));
    self->front = front;
    self->sock_dir = xstrdup(sock_dir);
    self->store_path = xstrdup(store_path);
    self->queue = json_array();
    return self;
}

/* Whether a worker's function ends before `until_ms`. */
static bool
s_ends(worker_t *w, int64_t until_ms)
{
    int64_t left = until_ms - clock_mono_ms();
    zmq_pollitem_t item = { zsock_resolve(w->actor), 0, ZMQ_POLLIN, 0 };
    return !w->task || zmq_poll(&item, 1, left > 0 ? (long) left : 0) > 0;
}

bool
workers_destroy(workers_t **self_p)
{
    workers_t *self = STEAL(*self_p);
    int64_t until = clock_mono_ms() + END_WAIT_MS;
    bool ended = true;
    if (!self)
        return true;
    for (size_t i = 0; i < self->n_pool; i++) {
        worker_t *w = &self->pool[i];
        if (s_ends(w, until))
            zactor_destroy(&w->actor);
        else
            log_warning("%s did not end in time: its work is cut off", value_str(w->task, "fun", ""));
        ended = ended && !w->actor;
        json_decref(w->task);
    }
    json_decref(self->queue);
    free(self->queue_who);
    free(self->sock_dir);
    free(self->store_path);
    free(self);
    return ended;
}

void
workers_reload(workers_t *self)
{
    for (size_t i = 0; i < self->n_pool; i++)
        self->pool[i].stale = true;
}

json_t *
workers_run(workers_t *self, bool wheel, const json_t *request, const char *user, lconn_t *follower,
            fail_t *err)
{
    const char *fun = value_str(request, "fun", "");
    json_t *arg = value_get(request, "arg");
    if (!*fun || (arg && !json_is_array(arg))) {
        (void) fail_set(err, -EINVAL, "'fun' is a function's name and 'arg' a list");
        return NULL;
    }
    char jid[CLOCK_STAMP_LEN];
    clock_jid(jid);
    AUTO_FREE char *tag = xasprintf("salt/%s/%s", wheel ? "wheel" : "run", jid);
    json_auto_t *task = json_pack("{s:b, s:s, s:s, s:s, s:s, s:o}", "wheel", wheel, "fun", fun, "jid", jid,
                                  "tag", tag, "user", user, "arg", arg ? json_incref(arg) : json_array());
    if (self->n_queue >= LIMIT_RUNNER_QUEUE) {
        (void) fail_set(err, -EAGAIN, "%d functions wait for one of %d workers already", LIMIT_RUNNER_QUEUE,
                        LIMIT_RUNNER_WORKERS);
        return NULL;
    }
    s_fire_run(self, task, "new", NULL);
    worker_t *w = s_idle_worker(self);
    if (w) {
        s_assign(w, task, follower);
    } else {
        json_array_append(self->queue, task);
        self->queue_who = xrealloc(self->queue_who, (self->n_queue + 1) * sizeof(*self->queue_who));
        self->queue_who[self->n_queue++] = follower;
    }
    return json_pack("{s:s, s:s}", "jid", jid, "tag", tag);
}

/* Runner functions under way: [{jid, fun, arg, user}]. NEW. */
json_t *
workers_active(const workers_t *self)
{
    json_t *all = json_array();
    for (size_t i = 0; i < self->n_pool; i++)
        if (self->pool[i].task && !value_bool(self->pool[i].task, "wheel", false))
            json_array_append_new(all, json_copy(self->pool[i].task));
    return all;
}

void
workers_unfollow(workers_t *self, lconn_t *follower)
{
    for (size_t i = 0; i < self->n_pool; i++)
        if (self->pool[i].follower == follower)
            self->pool[i].follower = NULL;
    for (size_t i = 0; i < self->n_queue; i++)
        if (self->queue_who[i] == follower)
            self->queue_who[i] = NULL;
}
