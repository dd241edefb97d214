/* reactor_work.c - run reactions: order by requisites, limits, answers and results.
 *
 * Each reaction is requested with the note {react, event number, part}, so that it begins once however often
 * its event is looked at. A job of minions is over as soon as it is published, unless another reaction
 * requires it; runners and wheel functions are followed to their end, and at most reactor_worker_threads of
 * them run at a time. */
#include "master/reactor/reactor_int.h"

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/log.h"
#include "salt/value.h"

enum { QUEUE_MINIONS, QUEUE_MASTER };

#define ASKED_MAX 1000 /* requests without an answer, at most */

/* ---- errors -------------------------------------------------------------------------------------------- */

/* TAKES *data_p. Events are lost while the connection is down. */
void
work_fire(rloop_t *self, const char *tag, json_t **data_p)
{
    fail_auto_t err = FAIL_INIT;
    json_t *request = json_pack("{s:s, s:s, s:o}", "op", "fire", "tag", tag, "data", STEAL(*data_p));
    if (self->line == NULL || local_post(self->line, &request, NULL, &err) < 0)
        json_decref(request);
}

/* PLACE is "FILE, line N, ID", as far as they are known. The event salt/reactor/error has the same fields. */
void
work_error(rloop_t *self, const json_t *where, uint64_t seq, const char *fmt, ...)
{
    va_list ap;
    buf_auto_t place = BUF_INIT;
    json_int_t line = value_int(where, "line", 0);
    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    if (where != NULL)
        buf_puts(&place, value_str(where, "file", ""));
    if (line > 0)
        buf_printf(&place, ", line %lld", (long long) line);
    if (*value_str(where, "id", ""))
        buf_printf(&place, ", %s", value_str(where, "id", ""));
    log_error("reactor: %s%s%s", place.len > 0 ? buf_str(&place) : "", place.len > 0 ? ": " : "", text);
    atomic_fetch_add(&self->shared->failed, 1);
    json_t *data = json_pack("{s:s, s:I, s:O*, s:O*, s:O*}", "error", text, "seq", (json_int_t) seq, "file",
                             value_get(where, "file"), "line", value_get(where, "line"), "id",
                             value_get(where, "id"));
    work_fire(self, RULES_OWN_TAG "error", &data);
}

/* ---- the life of a reaction ---------------------------------------------------------------------------- */

static int
queue_of(const react_t *r)
{
    return str_eq(value_str(r->what, "client", ""), "local") ? QUEUE_MINIONS : QUEUE_MASTER;
}

/* Queue a reaction. Jobs of minions and functions of the master have separate queues, so that waiting runners
 * do not block jobs. */
static void
reactor_work_enqueue(rloop_t *self, react_t *r)
{
    int which = queue_of(r);
    r->step = STEP_READY;
    r->next = NULL;
    *self->ready_tail[which] = r;
    self->ready_tail[which] = &r->next;
}

/* The reaction is durable, or never will be: the cursor may pass it. */
static void
now_begun(rloop_t *self, react_t *r)
{
    if (r->begun)
        return;
    r->begun = true;
    self->n_reactions--;
    if (--r->task->n_unbegun == 0)
        rtask_begun(self, r->task);
}

static void release(rloop_t *self, rtask_t *task);

/* End a reaction: TAKES `why` (NULL: success). May free the task. */
static void
reactor_work_over(rloop_t *self, react_t *r, char *why)
{
    rtask_t *task = r->task;
    self->n_running -= r->counted;
    r->counted = false;
    if (r->jid != NULL)
        (void) map_take(self->begun, r->jid);
    r->step = why != NULL ? STEP_FALSE : STEP_TRUE;
    r->why = why;
    if (why != NULL) {
        work_error(self, r->what, task->seq, "%s", why);
        rstats_failed(self->shared->stats, task->file, why);
    }
    task->n_open--;
    now_begun(self, r);
    release(self, task);
}

/* The state that its requisites allow: blocked, ready, or false with the one that failed (*ret_cause). */
static step_t
reactor_work_outlook(const rtask_t *task, const react_t *r, const react_t **ret_cause)
{
    step_t outlook = STEP_READY;
    json_t *index;
    size_t i;
    if (value_bool(r->what, "broken", false))
        return STEP_FALSE;
    json_array_foreach (value_get(r->what, "require"), i, index) {
        const react_t *other = &task->work[json_integer_value(index)];
        if (other->step == STEP_FALSE) {
            *ret_cause = other;
            return STEP_FALSE;
        }
        if (other->step != STEP_TRUE)
            outlook = STEP_BLOCKED;
    }
    return outlook;
}

/* Re-examine blocked reactions after a change, until nothing more changes: a skipped one may decide others.
 * Frees the task when all are over. */
static void
release(rloop_t *self, rtask_t *task)
{
    size_t n = json_array_size(task->list);
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < n; i++) {
            react_t *r = &task->work[i];
            const react_t *cause = NULL;
            step_t outlook = r->step == STEP_BLOCKED ? reactor_work_outlook(task, r, &cause) : STEP_BLOCKED;
            if (outlook == STEP_READY)
                reactor_work_enqueue(self, r);
            if (outlook != STEP_FALSE)
                continue;

            /* A requisite failed: the reaction does not run. Broken reactions (no cause) were reported
             * when compiled. */
            r->step = STEP_FALSE;
            r->task->n_open--;
            if (cause != NULL)
                work_error(self, r->what, r->task->seq, "%s.%s was not run: it requires '%s', which failed",
                           value_str(r->what, "client", ""), value_str(r->what, "fun", ""),
                           value_str(cause->what, "id", ""));
            now_begun(self, r);

            again = true;
        }
    }

    /* Free a task without open reactions. */
    if (task->n_open > 0)
        return;
    self->n_tasks--;
    rtask_close(self, task);
    rtask_free(task);
}

/* ---- from the renderers -------------------------------------------------------------------------------- */

/* True when another reaction of the list requires number `self`. */
static bool
is_required(const json_t *list, size_t self)
{
    json_t *one, *index;
    size_t i, k;
    json_array_foreach (list, i, one)
        json_array_foreach (value_get(one, "require"), k, index)
            if ((size_t) json_integer_value(index) == self)
                return true;
    return false;
}

/* Turn a rendered task into reactions. Every reaction starts as blocked and release decides. */
void
work_take(rloop_t *self, rtask_t *task)
{
    json_auto_t *outcome = json_loads(task->outcome, JSON_ALLOW_NUL, NULL);
    json_t *what;
    size_t i;

    /* Errors of compiling: each in the log and as an event. */
    const json_t *errors = value_get(outcome, "errors");
    uint64_t seq = task->seq;
    json_t *error;
    size_t k;
    json_array_foreach (errors, k, error) {
        work_error(self, error, seq, "%s", value_str(error, "error", ""));
        rstats_failed(self->shared->stats, task->file, value_str(error, "error", ""));
    }

    task->list = json_incref(value_get(outcome, "reactions"));
    size_t n = json_array_size(task->list);
    task->work = xcalloc(n + 1, sizeof(react_t));
    task->n_open = task->n_unbegun = n;
    self->n_reactions += n;
    self->n_tasks++;
    json_array_foreach (task->list, i, what) {
        react_t *r = &task->work[i];
        r->task = task;
        r->what = what;
        r->step = STEP_BLOCKED;
        r->watched = !str_eq(value_str(what, "client", ""), "local") || is_required(task->list, i);

        /* Warn about each ignored key once; LIMIT_REACTIONS bounds the memory of warnings. */
        json_t *key;
        size_t j;
        json_array_foreach (value_get(what, "ignored"), j, key) {
            AUTO_FREE char *once = xasprintf("%s#%s#%s", value_str(what, "file", ""),
                                             value_str(what, "id", ""), json_string_value(key));
            if (map_get(self->warned, once) != NULL || map_len(self->warned) >= LIMIT_REACTIONS)
                continue;
            map_set(self->warned, once, self);
            log_warning("reactor: %s, %s: '%s' is ignored; arguments of the function stand below 'args'",
                        value_str(what, "file", ""), value_str(what, "id", ""), json_string_value(key));
        }
    }
    if (n == 0)
        rtask_begun(self, task);
    release(self, task);
}

/* ---- asking -------------------------------------------------------------------------------------------- */

/* NEW arguments as Salt passes them: positional values, then a dict with __kwarg__. */
static json_t *
reactor_work_arg(const json_t *what)
{
    json_t *arg = json_copy(value_get(what, "arg")), *kwarg = value_get(what, "kwarg");
    if (json_object_size(kwarg) == 0)
        return arg;
    json_t *last = json_pack("{s:b}", "__kwarg__", true);
    json_object_update(last, kwarg);
    json_array_append_new(arg, last);
    return arg;
}

/* True when it requires a wheel function on keys: the minion was just accepted and is not connected yet, so
 * the job waits for it. */
static bool
requires_key(const react_t *r)
{
    json_t *index;
    size_t i;
    json_array_foreach (value_get(r->what, "require"), i, index) {
        const json_t *other = r->task->work[json_integer_value(index)].what;
        if (str_eq(value_str(other, "client", ""), "wheel") &&
            str_starts(value_str(other, "fun", ""), "key."))
            return true;
    }
    return false;
}

/* False: the reaction is its own ancestor LIMIT_REACTOR_CHAIN times, or the ancestry can't be read; it is
 * over then. */
static bool
is_no_loop(rloop_t *self, react_t *r)
{
    fail_auto_t err = FAIL_INIT;
    int n = ancestry_count(self->ancestry, self->reader, r->task->jids, value_str(r->what, "part", ""), &err);
    if (n < 0) {
        reactor_work_over(self, r, xasprintf("whether it is a loop can't be known: %s", fail_text(&err)));
        return false;
    }
    if (n < LIMIT_REACTOR_CHAIN)
        return true;
    reactor_work_over(self, r,
                      xasprintf("a loop: %s.%s would be its own descendant for the %dth time, and is cut",
                                value_str(r->what, "client", ""), value_str(r->what, "fun", ""), n + 1));
    return false;
}

static void
reactor_work_ask(rloop_t *self, react_t *r)
{
    fail_auto_t err = FAIL_INIT;

    /* The note makes it idempotent; `follow` asks for pushes until its end. */
    static const char *const words[] = { "tgt", "tgt_type", "ret", "timeout", "metadata", "subset" };
    const char *client = value_str(r->what, "client", "");
    bool local = str_eq(client, "local");
    json_t *request = json_pack("{s:s, s:O, s:o, s:b, s:{s:s, s:o, s:O}}", "op", local ? "publish" : client,
                                "fun", value_get(r->what, "fun"), "arg", reactor_work_arg(r->what), "follow",
                                r->watched, "note", "kind", NOTE_REACT, "ref",
                                value_fmt("%llu", (unsigned long long) r->task->seq), "part",
                                value_get(r->what, "part"));
    for (size_t i = 0; local && i < NELEMS(words); i++)
        if (value_get(r->what, words[i]) != NULL)
            json_object_set(request, words[i], value_get(r->what, words[i]));
    if (local && requires_key(r))
        json_object_set_new(request, "wait_ms",
                            json_integer(value_int(self->opts, "gather_job_timeout", 10) * 1000));

    if (local_post(self->line, &request, &r->n, &err) < 0) {
        /* -EMSGSIZE is the request's fault. Any other error is the connection's, and is handled where it is
         * read. */
        if (err.code == -EMSGSIZE) {
            reactor_work_over(self, r, xstrdup(fail_text(&err)));
            return;
        }
        self->n_running -= r->counted;
        r->counted = false;
        reactor_work_enqueue(self, r);
        return;
    }
    log_debug("reactor: event %llu, %s '%s': %s.%s is asked for", (unsigned long long) r->task->seq,
              value_str(r->what, "file", ""), value_str(r->what, "id", ""), value_str(r->what, "client", ""),
              value_str(r->what, "fun", ""));
    r->step = STEP_ASKED;
    self->n_asked++;
    AUTO_FREE char *key = xasprintf("%lld", (long long) r->n);
    map_set(self->asked, key, r);
}

/* Send requests from both queues, within the limits. The count n bounds the turn, as a reaction may be queued
 * again. */
void
work_turn(rloop_t *self)
{
    size_t most = (size_t) value_int(self->opts, "reactor_worker_threads", 10);
    int64_t now_ms = clock_mono_ms();
    for (int which = 0; self->line != NULL && which < 2; which++)
        for (size_t n = now_ms < self->ask_after_ms[which] ? 0 : self->n_tasks;
             self->ready[which] != NULL && self->n_asked < ASKED_MAX && n > 0; n--) {
            if (which == QUEUE_MASTER && self->n_running >= (most > 0 ? most : 1))
                break;

            /* The queue must not be empty. */
            react_t *r = self->ready[which];
            self->ready[which] = r->next;
            if (r->next == NULL)
                self->ready_tail[which] = &self->ready[which];
            r->next = NULL;

            if (!is_no_loop(self, r))
                continue;
            r->counted = which == QUEUE_MASTER;
            self->n_running += r->counted;
            reactor_work_ask(self, r);
        }
}

/* ---- answers ------------------------------------------------------------------------------------------- */

/* True when the master only lacks something for now, such as room for another runner: the reaction is queued
 * again, for PASSES_MS at most. */
static bool
is_put_off(rloop_t *self, react_t *r, const json_t *reply)
{
    int64_t now_ms = clock_mono_ms(), *after_ms = &self->ask_after_ms[queue_of(r)];
    if (!fs_is_passing((int) value_int(reply, "code", 0)))
        return false;
    /* Warn once for all that are refused together. */
    if (r->tried_ms == 0 && now_ms >= *after_ms)
        log_warning("reactor: %s.%s: %s; it is tried again for a minute", value_str(r->what, "client", ""),
                    value_str(r->what, "fun", ""), value_str(reply, "error", "refused"));
    r->tried_ms = r->tried_ms != 0 ? r->tried_ms : now_ms;
    if (now_ms - r->tried_ms >= PASSES_MS)
        return false;
    self->n_running -= r->counted;
    r->counted = false;
    *after_ms = now_ms + RENDER_AGAIN_MS;
    reactor_work_enqueue(self, r);
    return true;
}

/* Push "runner": a function of the master has ended; `unknown` when its outcome was lost with an earlier
 * process. */
static void
reactor_work_ended(rloop_t *self, react_t *r, const json_t *push)
{
    const char *client = value_str(r->what, "client", ""), *fun = value_str(r->what, "fun", "");
    self->dirty = true;
    if (value_bool(push, "unknown", false)) {
        reactor_work_over(
            self, r,
            xasprintf("%s.%s (job %s) was under way when the master ended: it is not begun again", client,
                      fun, r->jid));
        return;
    }
    if (value_bool(push, "success", false)) {
        reactor_work_over(self, r, NULL);
        return;
    }
    const char *said = json_string_value(value_get(push, "return"));
    /* Other values, such as an orchestration's steps, are long, and no sentence. */
    reactor_work_over(self, r,
                      said != NULL ? xasprintf("%s.%s failed: %s", client, fun, said)
                                   : xasprintf("%s.%s failed; its return: salt-run jobs.lookup_jid %s",
                                               client, fun, r->jid));
}

/* Push "ret": a successful return crosses the minion off. */
static void
returned(rloop_t *self, react_t *r, const json_t *push)
{
    const char *id = value_str(push, "id", "");
    if (value_bool(push, "success", true) && value_int(push, "retcode", 0) == 0)
        json_object_del(r->left, id);
}

/* Push "done": minions left over have failed or did not return. */
static void
reactor_work_done(rloop_t *self, react_t *r, const json_t *push)
{
    if (json_object_size(r->left) == 0) {
        reactor_work_over(self, r, NULL);
        return;
    }
    reactor_work_over(self, r,
                      xasprintf("local.%s (job %s) failed on %s%s", value_str(r->what, "fun", ""), r->jid,
                                json_object_iter_key(json_object_iter(r->left)),
                                json_object_size(r->left) > 1 ? " and others" : ""));
}

static const struct push {
    const char *kind;
    void (*fn)(rloop_t *self, react_t *r, const json_t *push);
} pushes[] = { { "runner", reactor_work_ended }, { "ret", returned }, { "done", reactor_work_done } };

void
work_heard(rloop_t *self, const json_t *msg)
{
    const char *kind = value_str(msg, "push", NULL);
    if (kind == NULL) {
        AUTO_FREE char *key = xasprintf("%lld", (long long) value_int(msg, "n", 0));
        react_t *r = map_take(self->asked, key);
        if (r == NULL)
            return; /* the answer to an event's fire request */
        self->n_asked--;

        /* The answer to a request: refused, done, or begun with a jid. */
        bool local = str_eq(value_str(r->what, "client", ""), "local");
        if (!value_bool(msg, "ok", false)) {
            if (is_put_off(self, r, msg))
                return;
            reactor_work_over(self, r,
                              xasprintf("%s.%s: %s", value_str(r->what, "client", ""),
                                        value_str(r->what, "fun", ""), value_str(msg, "error", "refused")));
            return;
        }
        if (map_get(self->begun, value_str(msg, "jid", "")) != NULL) {
            /* The file was matched twice, as "*.sls" and "x.sls": it reacts once. */
            reactor_work_over(self, r, NULL);
            return;
        }
        r->jid = xstrdup(value_str(msg, "jid", ""));
        log_debug("reactor: event %llu, %s '%s': it is job %s", (unsigned long long) r->task->seq,
                  value_str(r->what, "file", ""), value_str(r->what, "id", ""), r->jid);
        if (*r->jid) {
            atomic_fetch_add(&self->shared->begun, !value_bool(msg, "again", false));
            if (!value_bool(msg, "again", false))
                rstats_begun(self->shared->stats, r->task->file);
            ancestry_add(self->ancestry, self->reader, r->jid, r->task->jids, value_str(r->what, "part", ""));
        }
        self->dirty = true;
        if (value_bool(msg, "forgotten", false)) {
            reactor_work_over(self, r, NULL);
            return;
        }
        if (local) {
            /* A job was published: over when no minion matched or nobody waits for it, else its returns
             * are awaited. */
            json_t *id;
            size_t i;
            if (json_array_size(value_get(msg, "minions")) == 0) {
                AUTO_FREE char *tgt = value_pystr(value_get(r->what, "tgt"));
                reactor_work_over(self, r,
                                  xasprintf("local.%s: no minion matched the target '%s'",
                                            value_str(r->what, "fun", ""), tgt));
                return;
            }
            if (!r->watched) {
                reactor_work_over(self, r, NULL);
                return;
            }
            r->left = json_object();
            json_array_foreach (value_get(msg, "minions"), i, id)
                json_object_set_new(r->left, json_string_value(id), json_true());
            r->step = STEP_BEGUN;
            map_set(self->begun, r->jid, r);
            now_begun(self, r);
            return;
        }
        r->step = STEP_BEGUN;
        map_set(self->begun, r->jid, r);
        now_begun(self, r);

        return;
    }
    react_t *r = map_get(self->begun, value_str(msg, "jid", ""));
    for (size_t i = 0; r != NULL && i < NELEMS(pushes); i++)
        if (str_eq(kind, pushes[i].kind)) {
            pushes[i].fn(self, r, msg);
            return;
        }
}

/* ---- a line that broke --------------------------------------------------------------------------------- */

/* Queue reactions again after the connection broke; their notes keep those that began from beginning
 * twice. */
static void
reactor_work_again(rloop_t *self, map_t *waiting)
{
    const char *key;
    void *v;
    for (size_t i = 0; map_next(waiting, &i, &key, &v);) {
        react_t *r = v;
        self->n_running -= r->counted;
        r->counted = false;
        free(STEAL(r->jid));
        json_decref(STEAL(r->left));
        reactor_work_enqueue(self, r);
    }
    map_clear(waiting);
}

void
work_lost(rloop_t *self)
{
    local_client_destroy(&self->line);
    self->n_asked = 0;
    reactor_work_again(self, self->asked);
    reactor_work_again(self, self->begun);
}

json_t *
work_begun(const rloop_t *self)
{
    json_t *list = json_array();
    const char *jid;
    void *v;
    for (size_t i = 0; map_next(self->begun, &i, &jid, &v);) {
        const react_t *r = v;
        if (str_eq(value_str(r->what, "client", ""), "local"))
            continue;
        json_t *fun = value_fmt("%s.%s", value_str(r->what, "client", ""), value_str(r->what, "fun", ""));
        json_array_append_new(list, json_pack("{s:s, s:O, s:O, s:o}", "jid", jid, "file",
                                              value_get(r->what, "file"), "id", value_get(r->what, "id"),
                                              "fun", fun));
    }
    return list;
}
