/* api.c - a runner's view of the master. */
#include "master/api.h"

#include "common/local/client.h"
#include "master/store_read.h"

#define VERDICT_RETURNED "returned"

struct master_api {
    local_client_t *line;
    store_reader_t *store;
    const plugin_t *const *wheels;
    size_t n_wheels;
    struct registry *modules;
    const struct masterctx_tables *host;
    char *jid; /* owned: of the runner; NULL: none */
    char *sock_dir, *store_path;
};

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
    free(self->sock_dir);
    free(self->store_path);
    free(self);
}

master_api_t *
api_of(call_ctx_t *ctx)
{
    return ctx_private(ctx);
}

void
api_set_wheels(master_api_t *self, const plugin_t *const *plugins, size_t n)
{
    self->wheels = plugins;
    self->n_wheels = n;
}

const plugin_t *const *
api_wheels(const master_api_t *self, size_t *ret_n)
{
    *ret_n = self->n_wheels;
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

master_api_t *
api_another(const master_api_t *self, fail_t *err)
{
    master_api_t *other = api_new(self->sock_dir, self->store_path, err);

    if (other == NULL)
        return NULL;
    other->wheels = self->wheels;
    other->n_wheels = self->n_wheels;
    other->modules = self->modules;
    other->host = self->host;
    if (self->jid != NULL)
        api_set_run(other, self->jid);
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

int
api_request(master_api_t *self, json_t **request_p, json_t **ret_reply, fail_t *err)
{
    const char *op = value_str(*request_p, "op", "");

    if (self->jid != NULL && (strcmp(op, "runner") == 0 || strcmp(op, "wheel") == 0))
        json_object_set_new(*request_p, "within", json_string(self->jid));
    return local_call(self->line, request_p, ret_reply, err);
}

/* ---- publish and wait
 * --------------------------------------------------------------------------------------- */

static bool
take_return(json_t *minions, const json_t *push)
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
take_verdict(json_t *minions, const json_t *push)
{
    json_t *entry = json_object_get(minions, value_str(push, "id", ""));

    /* A return is final; a verdict for an id that was not targeted is none of ours. */
    if (entry != NULL && strcmp(value_str(entry, "verdict", ""), VERDICT_RETURNED) != 0)
        json_object_set_new(entry, "verdict", json_string(value_str(push, "verdict", "")));
    return false;
}

static bool
take_done(json_t *minions, const json_t *push)
{
    (void) minions, (void) push;
    return true;
}

/* By push: what it does to {id: entry}; true when the job is over. */
static const struct push {
    const char *kind;
    bool (*take)(json_t *minions, const json_t *push);
} pushes[] = {
    { "ret", take_return },
    { "verdict", take_verdict },
    { "done", take_done },
};

static bool
take_push(json_t *minions, const char *jid, const json_t *push)
{
    /* Late news of a job given up earlier. */
    if (strcmp(value_str(push, "jid", ""), jid) != 0)
        return false;
    for (size_t i = 0; i < NELEMS(pushes); i++) {
        if (strcmp(pushes[i].kind, value_str(push, "push", "")) == 0)
            return pushes[i].take(minions, push);
    }
    return false;
}

/* Whether a minion works on it still: the master says at once when one is lost, so that waiting is safe. */
static bool
any_at_work(json_t *minions)
{
    static const char *const working[] = { "running", "delivered" };
    const char *id;
    json_t *entry;

    json_object_foreach (minions, id, entry) {
        for (size_t i = 0; i < NELEMS(working); i++) {
            if (strcmp(working[i], value_str(entry, "verdict", "")) == 0)
                return true;
        }
    }
    return false;
}

/* Until the job is over, or nothing came for `timeout_ms` and nobody is at work. */
static int
gather(master_api_t *self, const char *jid, int timeout_ms, json_t *minions, fail_t *err)
{
    for (;;) {
        json_auto_t *push = NULL;
        int rc = local_next(self->line, timeout_ms, &push, err);
        if (rc == -EINTR || (rc == 0 && any_at_work(minions)))
            continue;
        if (rc <= 0)
            return rc;
        if (take_push(minions, jid, push))
            return 0;
    }
}

int
api_execute(master_api_t *self, json_t **request_p, int timeout_ms, json_t **ret_value, fail_t *err)
{
    json_auto_t *reply = NULL;
    size_t i;
    json_t *id;

    json_object_set_new(*request_p, "op", json_string("publish"));
    json_object_set_new(*request_p, "follow", json_true());
    int rc = local_call(self->line, request_p, &reply, err);
    if (rc < 0)
        return rc;
    const char *jid = value_str(reply, "jid", "");
    json_t *minions = json_object();
    json_array_foreach (value_get(reply, "minions"), i, id)
        json_object_set_new(minions, json_string_value(id), json_pack("{s:s}", "verdict", "not_delivered"));
    rc = jid[0] != '\0' ? gather(self, jid, timeout_ms, minions, err) : 0;
    if (rc < 0)
        json_decref(minions);
    else
        *ret_value = minions;
    return rc;
}

/* ---- the store
 * ---------------------------------------------------------------------------------------------- */

json_t *
api_job(master_api_t *self, const char *jid, fail_t *err)
{
    json_t *job = store_job(self->store, jid, err);

    if (job == NULL || json_is_null(job))
        return job;
    json_t *returns = store_returns(self->store, jid, err);
    if (returns == NULL) {
        json_decref(job);
        return NULL;
    }
    return json_pack("{s:o, s:o}", "job", job, "returns", returns);
}

json_t *
api_jobs(master_api_t *self, const json_t *filter, fail_t *err)
{
    return store_jobs(self->store, filter, err);
}

json_t *
api_grains(master_api_t *self, const char *id, fail_t *err)
{
    return store_grains(self->store, id, err);
}

json_t *
api_pillar(master_api_t *self, const char *id, fail_t *err)
{
    return store_pillar(self->store, id, err);
}

json_t *
api_last_jid(master_api_t *self, fail_t *err)
{
    return store_last_jid(self->store, err);
}
