/* api.c - a runner's view of the master: requests over the local socket, reads through a store connection of
 * its own, and writes to the journal of orchestrations through the store's queue. */
#include "master/api.h"

#include "common/base/clock.h"
#include "common/local/client.h"
#include "common/plugin/registry.h"
#include "master/store/store.h"
#include "master/store/store_copy.h"
#include "master/store/store_read.h"

#define VERDICT_RETURNED "returned"
#define JOURNAL_WAIT_MS  60000 /* for a commit */
/* ms to wait for a job that an earlier process published: its minions need a while to reconnect. */
#define AGAIN_WAIT_MS    20000

struct master_api {
    local_client_t *line;
    store_reader_t *store;
    struct registry *modules;
    const struct masterctx_tables *host;
    char *jid;  /* owned: of the runner; NULL: none */
    char *user; /* owned: who began it; NULL: unknown */
    bool peer;
    char *sock_dir, *store_path;
    store_t *store_rw; /* NULL: read-only */
    registry_t *runners, *wheels;
};

/* The connection and the reader belong to one function's run: an actor has them, never the front loop. NEW,
 * or NULL with *err. */
master_api_t *
api_new(const char *sock_dir, const char *store_path, fail_t *err)
{
    master_api_t *self = xcalloc(1, sizeof(*self));

    self->sock_dir = xstrdup(sock_dir);
    self->store_path = xstrdup(store_path);
    self->line = local_connect(sock_dir, err);
    if (self->line != NULL)
        self->store = store_reader_new(store_path, err);
    if (self->store == NULL)
        api_destroy(&self);
    return self;
}

void
api_destroy(master_api_t **self_p)
{
    master_api_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    local_client_destroy(&self->line);
    store_reader_destroy(&self->store);
    free(self->jid);
    free(self->user);
    free(self->sock_dir);
    free(self->store_path);
    free(self);
}

master_api_t *
api_of(call_ctx_t *ctx)
{
    return ctx_private(ctx);
}

struct registry *
api_wheels(const master_api_t *self)
{
    return self->wheels;
}

void
api_set_modules(master_api_t *self, struct registry *modules)
{
    self->modules = modules;
}

struct registry *
api_modules(const master_api_t *self)
{
    return self->modules;
}

void
api_set_host(master_api_t *self, const struct masterctx_tables *host)
{
    self->host = host;
}

const struct masterctx_tables *
api_host(const master_api_t *self)
{
    return self->host;
}

void
api_set_store(master_api_t *self, struct store *store)
{
    self->store_rw = store;
}

void
api_set_functions(master_api_t *self, struct registry *runners, struct registry *wheels)
{
    self->runners = runners;
    self->wheels = wheels;
}

const func_t *
api_function(const master_api_t *self, call_ctx_t *ctx, bool wheel, const char *fun)
{
    fail_auto_t err = FAIL_INIT;
    registry_t *registry = wheel ? self->wheels : self->runners;

    return registry != NULL ? registry_find(registry, ctx, fun, &err) : NULL;
}

/* For threads inside a runner: connection and store reader are its own, registries and identity are
 * shared. */
master_api_t *
api_another(const master_api_t *self, fail_t *err)
{
    master_api_t *other = api_new(self->sock_dir, self->store_path, err);

    if (other == NULL)
        return NULL;
    other->modules = self->modules;
    other->host = self->host;
    other->store_rw = self->store_rw;
    other->runners = self->runners;
    other->wheels = self->wheels;
    if (self->jid != NULL)
        api_set_run(other, self->jid);
    api_set_user(other, api_user(self));
    other->peer = self->peer;
    return other;
}

void
api_set_run(master_api_t *self, const char *jid)
{
    free(self->jid);
    self->jid = xstrdup(jid);
}

const char *
api_run(const master_api_t *self)
{
    return self->jid != NULL ? self->jid : "";
}

void
api_set_user(master_api_t *self, const char *user)
{
    char *old = self->user;

    self->user = xstrdup(user);
    free(old);
}

const char *
api_user(const master_api_t *self)
{
    return self->user != NULL ? self->user : "";
}

void
api_set_peer(master_api_t *self, bool peer)
{
    self->peer = peer;
}

bool
api_peer(const master_api_t *self)
{
    return self->peer;
}

int
api_request(master_api_t *self, json_t **request_p, json_t **ret_reply, fail_t *err)
{
    /* Mark what a runner begins or fires with its jid, and with `peer` if it works with a minion's words. */
    json_t *request = *request_p;
    static const char *const ops[] = { "runner", "wheel", "fire", "publish" };
    const char *op = value_str(request, "op", "");
    for (size_t i = 0; self->jid != NULL && i < NELEMS(ops); i++)
        if (strcmp(op, ops[i]) == 0)
            json_object_set_new(request, "within", json_string(self->jid));
    if (self->peer && (strcmp(op, "runner") == 0 || strcmp(op, "publish") == 0))
        json_object_set_new(request, "peer", json_true());

    return local_call(self->line, request_p, ret_reply, err);
}

int
api_request_of(void *self, json_t **request_p, json_t **ret_reply, fail_t *err)
{
    return api_request(self, request_p, ret_reply, err);
}

/* ---- publish and wait ------------------------------------------------------------------------ */

/* Pushes of a followed job; true ends the wait. A return replaces the minion's verdict with what it returned.
 */
static bool
api_take_return(json_t *minions, const json_t *push)
{
    static const char *const kept[] = { "return", "retcode", "success", "fun", "jid" };
    json_t *entry = json_object();

    json_object_set_new(entry, "verdict", json_string(VERDICT_RETURNED));
    for (size_t i = 0; i < NELEMS(kept); i++) {
        json_t *v = json_object_get(push, kept[i]);
        if (v != NULL)
            json_object_set(entry, kept[i], v);
    }
    json_object_set_new(minions, value_str(push, "id", ""), entry);
    return false;
}

static bool
api_take_verdict(json_t *minions, const json_t *push)
{
    json_t *entry = json_object_get(minions, value_str(push, "id", ""));

    /* A return is final, and verdicts of ids that were not targeted are ignored. */
    if (entry == NULL || strcmp(value_str(entry, "verdict", ""), VERDICT_RETURNED) == 0)
        return false;
    json_object_set_new(entry, "verdict", json_string(value_str(push, "verdict", "")));
    if (!value_bool(push, "connected", true))
        json_object_set_new(entry, "away", json_true());
    else
        json_object_del(entry, "away");
    return false;
}

static bool
api_take_done(json_t *minions, const json_t *push)
{
    return true;
}

/* Handlers of pushes on {id: entry}; true when the job is over. */
static const struct push {
    const char *kind;
    bool (*take)(json_t *minions, const json_t *push);
} pushes[] = {
    { "ret", api_take_return },
    { "verdict", api_take_verdict },
    { "done", api_take_done },
};

static bool
api_take_push(json_t *minions, const char *jid, const json_t *push)
{
    /* Late news of a job that was given up before. */
    if (strcmp(value_str(push, "jid", ""), jid) != 0)
        return false;
    for (size_t i = 0; i < NELEMS(pushes); i++) {
        if (strcmp(pushes[i].kind, value_str(push, "push", "")) == 0)
            return pushes[i].take(minions, push);
    }
    return false;
}

/* True while a minion works on the job: waiting is safe, as the master reports a lost one at once. A
 * disconnected minion does not count until it is back. */
static bool
any_at_work(json_t *minions)
{
    static const char *const working[] = { "running", "delivered" };
    const char *id;
    json_t *entry;

    json_object_foreach (minions, id, entry) {
        for (size_t i = 0; i < NELEMS(working) && !value_bool(entry, "away", false); i++) {
            if (strcmp(working[i], value_str(entry, "verdict", "")) == 0)
                return true;
        }
    }
    return false;
}

/* Collect pushes until the job is over, or nothing came for `timeout_ms` and no minion works on it. */
static int
api_gather(master_api_t *self, const char *jid, const api_wait_t *wait, json_t *minions, fail_t *err)
{
    size_t returned = 0, of = json_object_size(minions);

    for (;;) {
        json_auto_t *push = NULL;
        int rc = local_next(self->line, wait->timeout_ms, &push, err);
        if (rc == -EINTR || (rc == 0 && any_at_work(minions)))
            continue;
        if (rc <= 0)
            return rc;
        /* A return that is pushed twice counts once. */
        const char *id = value_str(push, "id", "");
        bool before = strcmp(value_str(json_object_get(minions, id), "verdict", ""), VERDICT_RETURNED) == 0;
        if (api_take_push(minions, jid, push))
            return 0;
        if (wait->news != NULL && returned < of && !before && strcmp(value_str(push, "push", ""), "ret") == 0)
            wait->news(wait->cookie, ++returned, of);
    }
}

/* Every target begins as not delivered, and pushes change that: a minion that is never heard of has a
 * verdict, too. */
int
api_publish(master_api_t *self, json_t **request_p, const api_wait_t *wait, json_t **ret_value, fail_t *err)
{
    json_auto_t *reply = NULL;
    api_wait_t how = *wait;
    size_t i;
    json_t *id;

    json_object_set_new(*request_p, "op", json_string("publish"));
    json_object_set_new(*request_p, "follow", json_true());
    int rc = api_request(self, request_p, &reply, err);
    if (rc < 0)
        return rc;
    const char *jid = value_str(reply, "jid", "");
    json_t *minions = json_object();
    json_array_foreach (value_get(reply, "minions"), i, id)
        json_object_set_new(minions, json_string_value(id), json_pack("{s:s}", "verdict", "not_delivered"));
    /* Followed again, perhaps after the master's restart: its minions need a while to reconnect. */
    if (value_bool(reply, "again", false) && how.timeout_ms < AGAIN_WAIT_MS)
        how.timeout_ms = AGAIN_WAIT_MS;
    rc = jid[0] != '\0' ? api_gather(self, jid, &how, minions, err) : 0;
    if (rc < 0) {
        json_decref(minions);
        return rc;
    }
    *ret_value = json_incref(reply);
    json_object_set_new(*ret_value, "minions", minions);
    return 0;
}

int
api_execute(master_api_t *self, json_t **request_p, int timeout_ms, json_t **ret_value, fail_t *err)
{
    api_wait_t wait = { .timeout_ms = timeout_ms };
    json_auto_t *whole = NULL;
    int rc = api_publish(self, request_p, &wait, &whole, err);

    if (rc == 0)
        *ret_value = json_incref(value_get(whole, "minions"));
    return rc;
}

/* Waits without a timeout: the function's end is pushed, or the connection breaks when the master ends. */
int
api_run_function(master_api_t *self, json_t **request_p, json_t **ret_value, fail_t *err)
{
    json_auto_t *reply = NULL;

    json_object_set_new(*request_p, "follow", json_true());
    int rc = api_request(self, request_p, &reply, err);
    while (rc >= 0) {
        json_auto_t *push = NULL;
        rc = local_next(self->line, -1, &push, err);
        if (rc == -EINTR)
            rc = 0;
        if (rc > 0 && strcmp(value_str(push, "push", ""), "runner") == 0 &&
            strcmp(value_str(push, "jid", ""), value_str(reply, "jid", "?")) == 0) {
            *ret_value = json_incref(push);
            return 0;
        }
    }
    return rc;
}

/* Other pushes on the connection are skipped; the timeout covers the whole wait. */
int
api_next_event(master_api_t *self, int timeout_ms, json_t **ret_event, fail_t *err)
{
    int64_t until = clock_mono_ms() + timeout_ms;

    for (;;) {
        json_auto_t *push = NULL;
        int64_t left = until - clock_mono_ms();
        int rc = local_next(self->line, left > 0 ? (int) left : 0, &push, err);
        if (rc == -EINTR)
            continue;
        if (rc <= 0)
            return rc;
        if (strcmp(value_str(push, "push", ""), "event") == 0) {
            *ret_event = json_incref(push);
            return 1;
        }
    }
}

/* Any answer means that the master serves. A runner asks before it takes a lost connection for a failure. */
bool
api_alive(master_api_t *self)
{
    fail_auto_t err = FAIL_INIT;
    json_t *request = json_pack("{s:s}", "op", "status");
    json_auto_t *reply = NULL;

    return local_call(self->line, &request, &reply, &err) == 0;
}

/* ---- the store ------------------------------------------------------------------------------- */

/* The row and the returns are two reads: a return that comes between them may be in one of them only. */
json_t *
api_job(master_api_t *self, const char *jid, const json_t *globs, fail_t *err)
{
    json_t *job = api_job_row(self, jid, err);

    if (job == NULL || json_is_null(job))
        return job;
    json_t *returns = store_returns_of(self->store, jid, globs, err);
    if (returns == NULL) {
        json_decref(job);
        return NULL;
    }
    return json_pack("{s:o, s:o}", "job", job, "returns", returns);
}

json_t *
api_job_row(master_api_t *self, const char *jid, fail_t *err)
{
    return store_job(self->store, jid, err);
}

int
api_returns_each(master_api_t *self, const char *jid, api_return_fn *fn, void *cookie, fail_t *err)
{
    return store_returns_each(self->store, jid, "", fn, cookie, err);
}

json_t *
api_jobs(master_api_t *self, const json_t *filter, fail_t *err)
{
    return store_jobs(self->store, filter, err);
}

json_t *
api_grains(master_api_t *self, const char *id, fail_t *err)
{
    return store_docs(self->store, STORE_GRAINS, id, err);
}

json_t *
api_pillar(master_api_t *self, const char *id, fail_t *err)
{
    return store_docs(self->store, STORE_PILLAR, id, err);
}

json_t *
api_mine(master_api_t *self, const char *id, fail_t *err)
{
    return store_docs(self->store, STORE_MINE, id, err);
}

json_t *
api_last_jid(master_api_t *self, fail_t *err)
{
    return store_last_jid(self->store, err);
}

/* ---- the journal of orchestrations ----------------------------------------------------------- */

static uint64_t
journal_run(store_t *store, const json_t *row)
{
    AUTO_FREE char *doc = value_dump(value_get(row, "doc")), *plan = value_dump(value_get(row, "plan"));

    return store_add_run(store, value_str(row, "run", ""), doc, plan, value_int(row, "start_us", 0));
}

static uint64_t
journal_end(store_t *store, const json_t *row)
{
    AUTO_FREE char *result = value_dump(value_get(row, "result"));

    return store_end_run(store, value_str(row, "run", ""), result, value_int(row, "end_us", 0));
}

static uint64_t
journal_step(store_t *store, const json_t *row)
{
    AUTO_FREE char *doc = value_dump(value_get(row, "doc"));

    return store_put_step(store, value_str(row, "run", ""), value_str(row, "tag", ""),
                          value_int(row, "go", 1), value_int(row, "begin_us", 0), value_int(row, "end_us", 0),
                          doc);
}

static const struct journal {
    const char *what;
    uint64_t (*add)(store_t *store, const json_t *row);
} journals[] = {
    { "run", journal_run },
    { "end", journal_end },
    { "step", journal_step },
};

int
api_journal(master_api_t *self, const json_t *row, bool wait, fail_t *err)
{
    uint64_t ticket = 0;

    for (size_t i = 0; self->store_rw != NULL && i < NELEMS(journals); i++) {
        if (strcmp(journals[i].what, value_str(row, "what", "")) == 0)
            ticket = journals[i].add(self->store_rw, row);
    }
    if (ticket == 0 || (wait && !store_wait(self->store_rw, ticket, JOURNAL_WAIT_MS)))
        return fail_set(err, -EAGAIN, "the journal of orchestrations can't be written at the moment");
    return 0;
}

json_t *
api_runs(master_api_t *self, size_t limit, fail_t *err)
{
    return store_runs(self->store, limit, err);
}

json_t *
api_run_row(master_api_t *self, const char *run, fail_t *err)
{
    return store_run(self->store, run, err);
}

json_t *
api_steps(master_api_t *self, const char *run, fail_t *err)
{
    return store_steps(self->store, run, err);
}

json_t *
api_notes(master_api_t *self, const char *run, fail_t *err)
{
    return store_notes(self->store, NOTE_ORCH, run, err);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static store_watch_t
api_watch_of(const api_watch_t *watch)
{
    return (store_watch_t){ .go_on = watch->go_on, .whole = watch->whole, .cookie = watch->cookie };
}

json_t *
api_backup(master_api_t *self, const char *to, const api_watch_t *watch, fail_t *err)
{
    const store_watch_t own = api_watch_of(watch);

    return store_backup(self->store_path, to, &own, err);
}

json_t *
api_check(master_api_t *self, const char *path, bool full, const api_watch_t *watch, fail_t *err)
{
    const store_watch_t own = api_watch_of(watch);

    return store_check(path != NULL ? path : self->store_path, full, &own, err);
}

json_t *
api_restore(master_api_t *self, const char *from, const api_watch_t *watch, fail_t *err)
{
    const store_watch_t own = api_watch_of(watch);

    return store_restore(self->store_path, from, &own, err);
}
