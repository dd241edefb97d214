/* workers.c - runners and wheel functions: a pool of actors, a queue, and what is recorded of each function.
 *
 * A function gets a jid, is stored under "run/JID" with its event in one transaction, and runs in an idle
 * actor or waits. At its end, its event, its return and the removal of that key are one transaction, so after
 * a crash the next master knows which functions were cut off. Places: functions begun by runners may use more
 * than those of operators, which may use more than reactions; a few are reserved for quick, reading ones. */
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/data/args.h"
#include "common/net/sock.h"
#include "master/events/bus.h"
#include "master/operators/lconn.h"
#include "master/jobs/notes.h"
#include "master/front/figures.h"
#include "master/front/hooks.h"
#include "master/front/part.h"
#include "master/front/request.h"
#include "master/jobs/jid.h"
#include "master/store/storage.h"
#include "master/operators/workers.h"
#include "master/operators/workers_actor.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define RUN_KEY     "run/" /* prefix of keys in the store: tasks of functions that have begun and not ended */
#define RUN_ARG_MAX 4096   /* bytes of arguments kept there */
#define CUT_OFF     "The master ended while this function ran; what it has done is not known"
#define NOT_BEGUN   "The master ended before this function was begun"
#define END_WAIT_MS 3000                /* wait for running functions when the master ends */
#define TRIMMED     "\"VALUE_TRIMMED\"" /* Salt's placeholder for a return that is left out */

/* A function that runs or is queued. */
typedef struct worker_run {
    struct worker_run *next; /* in the queue */
    json_t *task;            /* {wheel, fun, jid, tag, user, arg, depth, note?, peer?} */
    char *within;            /* jid of the runner that began it; "" */
    lconn_t **who;           /* followers */
    size_t n_who;
    size_t places; /* it begins while fewer functions run */
    bool quick;    /* only reads, for an operator: may use a reserved place */
    bool kept;     /* it uses one */
    bool history;  /* it shows kept jobs: not kept as one more while its caller waits */
    bool secret;   /* the return is for its caller only: FN_SECRET of it, or of a function that it began */
} worker_run_t;

typedef struct worker {
    zactor_t *actor;
    struct workers *owner;
    worker_run_t *run; /* its function; NULL: idle */
    bool stale;        /* its configuration is out of date */
} worker_t;

typedef struct workers {
    front_t *front;
    char *store_path;
    worker_t pool[LIMIT_RUNNER_NESTED + LIMIT_RUNNER_QUICK];
    size_t n_pool;
    size_t n_busy, n_kept;            /* functions that run: in common places, and in reserved ones */
    worker_run_t *queue, **queue_end; /* functions waiting for a worker */
    size_t n_queue;
} workers_t;

static workers_t *
workers_own(const front_t *front)
{
    return front->own[PART_workers];
}

/* ---- the front loop's side ------------------------------------------------------------------- */

/* The outcome of a function. */
typedef struct ending {
    json_t *head; /* owned: {retcode, success, failed?, unknown?} */
    char *ret;    /* owned: JSON of the return */
} ending_t;

static void
free_ending(ending_t *end)
{
    json_decref(end->head);
    free(end->ret);
}

/* NEW JSON text of {before..., "return": ret, after...}; neither may be empty. The return is spliced in as
 * text, since it may be large. TAKES before. */
static char *
with_return(json_t *before, const char *ret, const json_t *after, size_t *ret_len)
{
    AUTO_FREE char *head = value_dump(before), *tail = value_dump(after);
    buf_t out = BUF_INIT;
    json_decref(before);
    buf_add(&out, head, strlen(head) - 1);
    buf_puts(&out, ",\"return\":");
    buf_puts(&out, ret);
    buf_putc(&out, ',');
    buf_puts(&out, tail + 1);
    *ret_len = out.len;
    return buf_steal(&out);
}

/* The arguments as events, jobs and the store have them. NEW. */
static json_t *
arg_told(const json_t *task)
{
    return value_bool(task, "private", false) ? json_pack("[s]", "VALUE_TRIMMED")
                                              : json_incref(value_get(task, "arg"));
}

static json_t *
arg_shown(const json_t *task)
{
    json_auto_t *told = arg_told(task);
    return args_shown(told);
}

/* NEW data of a function's events. */
static json_t *
event_data(const json_t *task)
{
    return json_pack("{s:s+, s:s, s:s, s:o}", "fun", value_bool(task, "wheel", false) ? "wheel." : "runner.",
                     value_str(task, "fun", ""), "jid", value_str(task, "jid", ""), "user",
                     value_str(task, "user", ""), "fun_args", arg_shown(task));
}

static char *
run_key(const json_t *task)
{
    return xasprintf(RUN_KEY "%s", value_str(task, "jid", ""));
}

/* NEW. */
static worker_run_t *
new_run(const workers_t *self, json_t *task, const char *within)
{
    const registry_t *registry = value_bool(task, "wheel", false) ? self->front->wheels
                                                                  : self->front->runners;
    worker_run_t *run = xcalloc(1, sizeof(*run));
    run->task = json_incref(task);
    run->within = xstrdup(within);
    run->secret = registry_any(registry, value_str(task, "fun", ""), FN_SECRET);
    run->history = registry_all(registry, value_str(task, "fun", ""), FN_HISTORY);
    /* The function begins while fewer than `places` run. A runner waits for those it began, so these may use
     * places that others can't, or both would wait for ever. Reactions leave places to operators. */
    run->places = value_int(task, "depth", 0) > 0                                   ? LIMIT_RUNNER_NESTED
                  : str_eq(value_str(value_get(task, "note"), "kind", ""), "react") ? LIMIT_RUNNER_REACTIONS
                                                                                    : LIMIT_RUNNER_WORKERS;
    run->quick = run->places == LIMIT_RUNNER_WORKERS &&
                 registry_all(registry, value_str(task, "fun", ""), FN_READONLY);
    return run;
}

static bool
has_place(const workers_t *self, const worker_run_t *run)
{
    return self->n_busy < run->places;
}

/* True when a common place is free, or a reserved one for a quick function. */
static bool
workers_may_begin(const workers_t *self, const worker_run_t *run)
{
    return has_place(self, run) || (run->quick && self->n_kept < LIMIT_RUNNER_QUICK);
}

static size_t *
count_of(workers_t *self, const worker_run_t *run)
{
    return run->kept ? &self->n_kept : &self->n_busy;
}

/* Send a task to an idle worker, with the configuration if the worker's is out of date, and the ticket that
 * the function must be able to see. */
static void
workers_assign(worker_t *w, worker_run_t *run)
{
    AUTO_FREE char *text = value_dump(run->task);
    AUTO_FREE char *opts = w->stale ? value_dump(w->owner->front->opts) : xstrdup("");
    AUTO_FREE char *ticket = xasprintf("%llu", (unsigned long long) w->owner->front->row_ticket);
    w->run = run;
    run->kept = !has_place(w->owner, run);
    ++*count_of(w->owner, run);
    w->stale = false;
    sock_tell(w->actor, text, opts, ticket, NULL);
}

/* Link to the first queued function that may begin, or to the queue's end. */
static worker_run_t **
next_in_queue(workers_t *self)
{
    worker_run_t **link = &self->queue;
    while (*link && !workers_may_begin(self, *link))
        link = &(*link)->next;
    return link;
}

/* Give the worker the next function that may begin; those that may not are overtaken. */
static void
next_queued(workers_t *self, worker_t *w)
{
    worker_run_t **link = next_in_queue(self), *run = *link;
    if (run == NULL)
        return;
    *link = run->next;
    if (*link == NULL)
        self->queue_end = link;
    run->next = NULL;
    self->n_queue--;
    workers_assign(w, run);
}

/* NEW row of the job that stands for a function. */
static json_t *
workers_row(workers_t *self, const json_t *task)
{
    const char *id = conf_str(self->front->conf, "id");
    json_t *fun = value_fmt("%s.%s", value_bool(task, "wheel", false) ? "wheel" : "runner",
                            value_str(task, "fun", ""));
    return json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:[s]}", "jid", value_str(task, "jid", ""), "fun", fun,
                     "arg", arg_told(task), "tgt", id, "tgt_type", "glob", "user",
                     value_str(task, "user", ""), "minions", id);
}

/* Queue a job's row: TAKES *row_p. Functions requested from now on wait for its commit. */
static int
workers_keep_job(workers_t *self, json_t **row_p, fail_t *err)
{
    uint64_t ticket = store_add_job(self->front->store, row_p);
    if (ticket == 0)
        return fail_set(err, -EAGAIN, "the job store takes no more rows at the moment");
    self->front->row_ticket = ticket;
    return 0;
}

/* End a function: event, return and removal of its key in one transaction, then audit and push. TAKES run. */
static void
workers_over(workers_t *self, worker_run_t *run, const ending_t *end)
{
    AUTO_FREE char *key = run_key(run->task);
    bus_together(self->front);

    /* As in Salt, a return larger than an event may be is left out of it. */

    /* The return as shown to others than the caller: secret ones are left out, errors are not. */
    bool is_error = value_get(end->head, "failed") != NULL || value_get(end->head, "unknown") != NULL;
    const char *ret = run->secret && !is_error ? TRIMMED : end->ret;

    size_t most = (size_t) conf_int(self->front->conf, "max_event_size"), len;
    json_auto_t *success = json_pack("{s:O}", "success", value_get(end->head, "success"));
    AUTO_FREE char *tag = xasprintf("%s/ret", value_str(run->task, "tag", ""));
    AUTO_FREE char *data = with_return(event_data(run->task), strlen(ret) > most ? TRIMMED : ret, success,
                                       &len);
    bus_fire_text(self->front, tag, data, len);

    if (!run->history || run->n_who == 0) {
        /* Keep the run as a job, for jobs.list_jobs and jobs.lookup_jid; one with a note has its row already.
         * The return is the master's own, under its id. A large one that its caller was given is not kept
         * once more. */
        const json_t *task = run->task;
        const char *jid = value_str(task, "jid", "");
        bool noted = value_get(task, "note");
        json_t *row = workers_row(self, task);
        json_t *answer = json_pack("{s:s, s:O, s:s, s:o}", "jid", jid, "fun", value_get(row, "fun"), "user",
                                   value_str(task, "user", ""), "fun_args", arg_shown(task));
        if (noted)
            json_decref(row);
        else
            (void) workers_keep_job(self, &row, NULL);
        bool once = !noted && run->n_who > 0 &&
                    strlen(ret) > (size_t) conf_int(self->front->conf, "max_event_size");
        size_t size;
        char *raw = with_return(answer, once ? TRIMMED : ret, end->head, &size);
        uint64_t ticket = store_add_return(self->front->store, jid, conf_str(self->front->conf, "id"), &raw,
                                           (int) value_int(end->head, "retcode", 0),
                                           value_bool(end->head, "success", false));
        if (ticket > 0)
            self->front->row_ticket = ticket;
    }

    (void) store_del_meta(self->front->store, key);
    bus_apart(self->front);

    /* Audit the end; the request's line has the beginning. */
    json_t *line = json_pack(
        "{s:s, s:s, s:s, s:s, s:b, s:I}", "op", "ended", "jid", value_str(run->task, "jid", ""), "fun",
        value_str(run->task, "fun", ""), "user", value_str(run->task, "user", ""), "success",
        value_bool(end->head, "success", false), "retcode", value_int(end->head, "retcode", 1));
    audit_write(self->front->audit, &line);

    /* Followers get the end with the return; a secret one goes to them alone. */
    json_t *msg = json_pack("{s:s, s:s}", "push", "runner", "jid", value_str(run->task, "jid", ""));
    size_t push_len;
    if (run->secret)
        json_object_set_new(msg, "secret", json_true());
    AUTO_FREE char *text = with_return(msg, end->ret, end->head, &push_len);
    for (size_t i = 0; i < run->n_who; i++)
        (void) lconn_push_text(run->who[i], text, push_len);
    hook_run_ended(self->front, value_str(run->task, "jid", ""), end->ret);

    json_decref(run->task);
    free(run->within);
    free(run->who);
    free(run);
}

/* Read an actor's answer; false without one, when the actor is ending. free_ending() frees it in any
 * case. */
static bool
workers_receive(worker_t *w, ending_t *ret_end)
{
    char *texts[2];
    *ret_end = (ending_t){ 0 };
    if (sock_hear(w->actor, texts, 2) == 2)
        ret_end->head = json_loads(texts[0], 0, NULL);
    ret_end->ret = texts[1];
    free(texts[0]);
    return ret_end->head;
}

/* An actor has answered: end its function and start the next. */
static int
workers_finished(zloop_t *loop, zsock_t *reader, void *arg)
{
    worker_t *w = arg;
    ending_t end;
    if (workers_receive(w, &end)) {
        --*count_of(w->owner, w->run);
        workers_over(w->owner, STEAL(w->run), &end);
        next_queued(w->owner, w);
    }
    free_ending(&end);
    return 0;
}

/* An idle worker, or a new one; NULL when the pool is full or sockets are short. */
static worker_t *
workers_idle_worker(workers_t *self)
{
    for (size_t i = 0; i < self->n_pool; i++)
        if (self->pool[i].run == NULL)
            return &self->pool[i];
    if (self->n_pool == NELEMS(self->pool) || !sock_room_for_actor())
        return NULL;
    workers_env_t *env = xcalloc(1, sizeof(*env));
    env->sock_dir = xstrdup(conf_str(self->front->conf, "sock_dir"));
    env->store_path = xstrdup(self->store_path);
    env->store = self->front->store;
    env->runners = self->front->runners;
    env->wheels = self->front->wheels;
    env->opts = json_deep_copy(self->front->opts);
    env->modules = self->front->modules;
    env->host = self->front->host;
    worker_t *w = &self->pool[self->n_pool];
    w->owner = self;
    w->actor = zactor_new(workers_actor, env);
    if (w->actor == NULL) {
        workers_env_destroy(&env);
        return NULL;
    }
    self->n_pool++;
    (void) zloop_reader(self->front->loop, zactor_sock(w->actor), workers_finished, w);
    return w;
}

/* Start queued functions for which there was no worker before. */
static void
workers_tick(front_t *front, int64_t now_ms)
{
    workers_t *self = workers_own(front);
    worker_t *w = *next_in_queue(self) ? workers_idle_worker(self) : NULL;
    if (w != NULL)
        next_queued(self, w);
}

/* End a function that the master's end cut off: the outcome is unknown. TAKES run. */
static void
cut_off(workers_t *self, worker_run_t *run, const char *why)
{
    const char *jid = value_str(run->task, "jid", "");
    /* An orchestration has a journal; one without an end can be resumed. */
    json_auto_t *row = store_run(self->front->reader, jid, NULL);
    AUTO_FREE char *hint = json_is_object(row) && value_int(row, "end_us", 0) == 0
                               ? xasprintf(". To go on with it: salt-run state.orchestrate resume=%s", jid)
                               : xstrdup("");
    json_auto_t *text = value_fmt("%s%s", why, hint);
    ending_t end = { .head = json_pack("{s:i, s:b, s:b}", "retcode", 1, "success", false, "unknown", true),
                     .ret = value_dump(text) };
    workers_over(self, run, &end);
    free_ending(&end);
}

/* Wait END_WAIT_MS for running functions, record each one's outcome, and cut off queued ones. */
static bool
workers_destroy(front_t *front)
{
    workers_t *self = workers_own(front);
    int64_t until = clock_mono_ms() + END_WAIT_MS;
    bool all_ended = true;
    for (size_t i = 0; i < self->n_pool; i++) {
        worker_t *w = &self->pool[i];
        /* All workers share one wait: each is given what is left of it. */
        int64_t left = until - clock_mono_ms();
        zmq_pollitem_t item = { zsock_resolve(w->actor), 0, ZMQ_POLLIN, 0 };
        bool ended = w->run == NULL || zmq_poll(&item, 1, left > 0 ? (long) left : 0) > 0;
        if (!ended)
            log_warning("%s did not end in time: its work is cut off", value_str(w->run->task, "fun", ""));
        if (w->run != NULL) {
            /* A failure may be due to the master's end, so only a success is taken as the outcome. */
            worker_run_t *run = STEAL(w->run);
            ending_t end = { 0 };
            if (ended && workers_receive(w, &end) && value_bool(end.head, "success", false))
                workers_over(w->owner, run, &end);
            else
                cut_off(w->owner, run, CUT_OFF);
            free_ending(&end);
        }
        if (ended)
            zactor_destroy(&w->actor);
        all_ended = all_ended && ended;
    }
    for (worker_run_t *run = self->queue, *next; run; run = next) {
        next = run->next;
        cut_off(self, run, NOT_BEGUN);
    }
    free(self->store_path);
    return all_ended;
}

static void
workers_reload(front_t *front)
{
    workers_t *self = workers_own(front);
    for (size_t i = 0; i < self->n_pool; i++)
        self->pool[i].stale = true;
}

/* BORROWED; NULL when it neither runs nor waits. */
static worker_run_t *
workers_run_of(const workers_t *self, const char *jid)
{
    for (size_t i = 0; i < self->n_pool; i++)
        if (self->pool[i].run != NULL && str_eq(value_str(self->pool[i].run->task, "jid", ""), jid))
            return self->pool[i].run;
    for (worker_run_t *run = self->queue; run; run = run->next)
        if (str_eq(value_str(run->task, "jid", ""), jid))
            return run;
    return NULL;
}

/* NEW task, or NULL with *err: invalid, or nested too deep (-ELOOP). */
static json_t *
workers_task(workers_t *self, bool wheel, const json_t *request, const char *user, fail_t *err)
{
    const char *fun = value_str(request, "fun", "");
    json_t *arg = value_get(request, "arg"), *note = value_get(request, "note");
    if (!*fun || (arg != NULL && !json_is_array(arg))) {
        (void) fail_set(err, -EINVAL, "'fun' is a function's name and 'arg' a list");
        return NULL;
    }
    worker_run_t *parent = workers_run_of(self, value_str(request, "within", ""));
    json_int_t depth = parent != NULL ? value_int(parent->task, "depth", 0) + 1 : 0;
    if (depth > LIMIT_RUNNER_DEPTH) {
        (void) fail_set(err, -ELOOP,
                        "%s: %d runners have begun each other in a row; do they call themselves?", fun,
                        LIMIT_RUNNER_DEPTH);
        return NULL;
    }
    char jid[CLOCK_STAMP_LEN];
    jid_fresh(self->front, jid);
    json_t *tag = value_fmt("salt/%s/%s", wheel ? "wheel" : "run", jid);
    json_t *task = json_pack("{s:b, s:s, s:s, s:o, s:s, s:I, s:o}", "wheel", wheel, "fun", fun, "jid", jid,
                             "tag", tag, "user", user, "depth", depth, "arg",
                             arg != NULL ? json_incref(arg) : json_array());
    if (registry_any(wheel ? self->front->wheels : self->front->runners, fun, FN_PRIVATE))
        json_object_set_new(task, "private", json_true());
    if (note != NULL)
        json_object_set(task, "note", note);
    /* The arguments contain text of a minion's. */
    if (value_bool(request, "peer", false) || str_eq(value_str(note, "kind", ""), "react") ||
        (parent != NULL && value_bool(parent->task, "peer", false)))
        json_object_set_new(task, "peer", json_true());
    json_int_t timeout = value_int(request, "timeout", 0);
    if (timeout > 0)
        json_object_set_new(task, "timeout",
                            json_integer(timeout < LIMIT_SILENCE_S ? timeout : LIMIT_SILENCE_S));
    return task;
}

static void
add_follower(worker_run_t *run, lconn_t *follower)
{
    for (size_t i = 0; i < run->n_who; i++)
        if (run->who[i] == follower)
            return;
    run->who = xrealloc(run->who, (run->n_who + 1) * sizeof(*run->who));
    run->who[run->n_who++] = follower;
}

/* Begin a runner or wheel function, or queue it. It starts after rows queued so far are committed; its end is
 * an event and a push to the follower. NEW {jid, tag, waits_for?}, or NULL with *err. */
static json_t *
begin_run(workers_t *self, bool wheel, const json_t *request, const char *user, lconn_t *follower,
          fail_t *err)
{
    json_auto_t *task = workers_task(self, wheel, request, user, err);
    if (task == NULL)
        return NULL;
    if (self->n_queue >= LIMIT_RUNNER_QUEUE) {
        (void) fail_set(err, -EAGAIN, "%d functions wait for one of %d workers already", LIMIT_RUNNER_QUEUE,
                        LIMIT_RUNNER_WORKERS);
        return NULL;
    }

    /* Store the job of a function with a note before it begins, so that a repeated request finds it. */
    json_t *note = value_get(task, "note");
    if (note != NULL) {
        json_t *row = workers_row(self, task);
        json_object_set(row, "note", note);
        json_object_set(row, "tag", value_get(task, "tag"));
        if (workers_keep_job(self, &row, err) < 0)
            return NULL;
    }

    /* Store the task and fire salt/run/JID/new (or salt/wheel/...) in one transaction. */
    json_t *data = event_data(task);
    AUTO_FREE char *tag = xasprintf("%s/new", value_str(task, "tag", ""));
    bus_together(self->front);
    /* Record the task for the next master, in case this one is killed. */
    AUTO_FREE char *key = run_key(task), *arg = value_dump(value_get(task, "arg"));
    json_auto_t *kept = json_copy((json_t *) task);
    if (strlen(arg) > RUN_ARG_MAX || value_bool(task, "private", false))
        json_object_set_new(kept, "arg", json_array());
    AUTO_FREE char *text = value_dump(kept);
    (void) store_put_meta(self->front->store, key, text);

    (void) bus_fire(self->front, tag, &data);
    bus_apart(self->front);

    worker_run_t *run = new_run(self, task, value_str(request, "within", ""));

    /* A function's callers may return its result as their own: mark them secret, too. */
    for (worker_run_t *parent = workers_run_of(self, run->within); run->secret && parent != NULL;
         parent = workers_run_of(self, parent->within))
        parent->secret = true;

    json_t *reply = json_pack("{s:O, s:O}", "jid", value_get(task, "jid"), "tag", value_get(task, "tag"));
    if (follower != NULL)
        add_follower(run, follower);
    bool may_begin = workers_may_begin(self, run);
    worker_t *w = may_begin ? workers_idle_worker(self) : NULL;
    if (!may_begin)
        json_object_set_new(reply, "waits_for",
                            json_integer((json_int_t) self->n_busy + (json_int_t) self->n_kept));
    if (w != NULL) {
        workers_assign(w, run);
    } else {
        /* Puts the task at the queue's end. */
        *self->queue_end = run;
        self->queue_end = &run->next;
        self->n_queue++;
    }
    return reply;
}

/* later_fn: follow a function of an earlier request; its end is pushed, at once if it has ended. */
static void
workers_follow(front_t *front, const char *jid, lconn_t *follower)
{
    worker_run_t *run = workers_run_of(workers_own(front), jid);
    if (follower == NULL)
        return;
    if (run != NULL) {
        add_follower(run, follower);
    } else {
        /* Push the end of a function that has ended, from the store, or of one that an earlier process
         * began. */
        fail_auto_t err = FAIL_INIT;
        json_auto_t *returns = store_returns(front->reader, jid, &err);
        json_auto_t *msg = json_pack("{s:s, s:s}", "push", "runner", "jid", jid);
        json_t *ret = json_object_iter_value(json_object_iter(returns));
        const char *why = returns != NULL ? CUT_OFF : fail_text(&err);
        if (json_is_object(ret))
            (void) json_object_update_missing(msg, ret);
        else
            (void) json_object_update_new(msg, json_pack("{s:s, s:i, s:b, s:b}", "return", why, "retcode", 1,
                                                         "success", false, "unknown", true));
        (void) lconn_push(follower, msg);
    }
}

/* Push a function's progress to its followers. */
static void
tell_progress(workers_t *self, const json_t *request)
{
    worker_run_t *run = workers_run_of(self, value_str(request, "jid", ""));
    if (run == NULL || run->n_who == 0)
        return;
    json_auto_t *msg = json_copy((json_t *) request);
    (void) json_object_del(msg, "op");
    (void) json_object_del(msg, "n");
    json_object_set_new(msg, "push", json_string("progress"));
    for (size_t i = 0; i < run->n_who; i++)
        (void) lconn_push(run->who[i], msg);
}

/* Order does not matter: the last follower fills the gap. */
static void
unfollow(worker_run_t *run, const lconn_t *follower)
{
    for (size_t i = 0; i < run->n_who; i++)
        if (run->who[i] == follower)
            run->who[i--] = run->who[--run->n_who];
}

static void
workers_line_closed(front_t *front, lconn_t *follower)
{
    workers_t *self = workers_own(front);
    for (size_t i = 0; i < self->n_pool; i++)
        if (self->pool[i].run != NULL)
            unfollow(self->pool[i].run, follower);
    for (worker_run_t *run = self->queue; run; run = run->next)
        unfollow(run, follower);
}

json_t *
workers_run(front_t *front, const json_t *request, const char *user, fail_t *err)
{
    return begin_run(workers_own(front), false, request, user, NULL, err);
}

/* ---- operations ------------------------------------------------------------------------------ */

/* The requests runner and wheel; a known note gets the first reply again and begins nothing. */
static json_t *
workers_asked(front_t *self, lconn_t *c, bool wheel, bool follow, const json_t *request, fail_t *err)
{
    json_t *reply = NULL;
    int known = notes_find(self, c, request, &reply, err);
    if (known != 0)
        return reply;
    /* As in Salt, functions of the reactor run as "Reactor", and the reactor ignores events of that user. */
    bool reacts = str_eq(value_str(value_get(request, "note"), "kind", ""), NOTE_REACT);
    reply = begin_run(workers_own(self), wheel, request, reacts ? "Reactor" : lconn_user(c),
                      follow ? c : NULL, err);
    if (reply != NULL)
        notes_keep(self, request, reply);
    return reply;
}

static json_t *
workers_runner(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    return workers_asked(self, c, false, value_bool(request, "follow", false), request, err);
}

static json_t *
workers_wheel(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    return workers_asked(self, c, true, true, request, err);
}

static json_t *
workers_progress(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    tell_progress(workers_own(self), request);
    return json_object();
}

/* A repeated request is followed once queued rows are committed: its end may be among them. */
static void
workers_answered(front_t *self, const request_done_t *done, lconn_t *c, bool follow)
{
    if (*done->jid && done->again && value_bool(done->request, "follow", follow))
        later_add(self, workers_follow, done->jid, c);
}

static void
runner_answered(front_t *self, lconn_t *c, const request_done_t *done)
{
    workers_answered(self, done, c, false);
}

static void
wheel_answered(front_t *self, lconn_t *c, const request_done_t *done)
{
    workers_answered(self, done, c, true);
}

const request_row_t request_runner = { .fn = workers_runner, .answered = runner_answered };
const request_row_t request_wheel = { .fn = workers_wheel, .answered = wheel_answered };
const request_row_t request_progress = { .fn = workers_progress };

static void
workers_active(front_t *front, json_t *reply)
{
    /* [{jid, fun, arg, user}] of the runners that run. */
    const workers_t *self = workers_own(front);
    json_t *all = json_array();
    for (size_t i = 0; i < self->n_pool; i++) {
        const worker_run_t *run = self->pool[i].run;
        if (run == NULL || value_bool(run->task, "wheel", false))
            continue;
        json_t *one = json_copy(run->task);
        json_object_set_new(one, "arg", arg_told(run->task));
        json_array_append_new(all, one);
    }
    json_object_set_new(reply, "runners", all);
}
static int
workers_start(front_t *front, fail_t *err)
{
    workers_t *self = workers_own(front);
    self->front = front;
    self->store_path = storage_path(front);
    self->queue_end = &self->queue;

    /* Cut off the functions that an earlier, killed process had begun. */
    fail_auto_t why = FAIL_INIT;
    json_auto_t *begun = store_metas(self->front->reader, RUN_KEY, &why);
    const char *key;
    json_t *text;
    if (begun == NULL)
        log_error("functions that an earlier master has begun can't be read: %s", fail_text(&why));
    json_object_foreach (begun, key, text) {
        json_auto_t *task = json_loads(json_string_value(text), JSON_ALLOW_NUL, NULL);
        AUTO_FREE char *own = run_key(task);
        if (str_eq(own, key)) {
            cut_off(self, new_run(self, task, ""), CUT_OFF);
            continue;
        }
        log_warning("%s in the store is not a function that an earlier master has begun: it is forgotten",
                    key);
        (void) store_del_meta(self->front->store, key);
    }

    return 0;
}

static void
workers_figures(front_t *front, buf_t *out, bool minions)
{
    figures_head(out, "salt_master_workers_queue_depth", "gauge", "Functions that wait for a worker.");
    buf_printf(out, "salt_master_workers_queue_depth{pool=\"runners\"} %zu\n", workers_own(front)->n_queue);
}

const front_part_t part_workers = { .name = "workers",
                                    .size = sizeof(workers_t),
                                    .start = workers_start,
                                    .destroy = workers_destroy,
                                    .reload = workers_reload,
                                    .tick = workers_tick,
                                    .line_closed = workers_line_closed,
                                    .figures = workers_figures,
                                    .active = workers_active };
