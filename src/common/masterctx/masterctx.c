/* masterctx.c - see masterctx.h. Callbacks of a call context, implemented with the master's own tables, files
 * and connection. Grains and pillar are made on first use and kept. */
#include "common/masterctx/masterctx.h"

#include "common/files/fileclient.h"
#include "common/pillar/pillar.h"
#include "common/py/py_wire.h"
#include "salt/log.h"

struct masterctx {
    masterctx_env_t env;
    json_t *opts;   /* owned: with what a minion's has and a master's has not */
    json_t *grains; /* owned, once asked for */
    py_t *pillar;   /* owned, once asked for */
    fileclient_t *files;
    call_ctx_t *ctx;
};

static json_t *
env_grains(void *cookie)
{
    masterctx_t *self = cookie;

    if (self->grains == NULL) {
        self->grains = self->env.tables->grains != NULL ? self->env.tables->grains(self->opts) : NULL;
        if (!json_is_object(self->grains)) {
            json_decref(self->grains);
            self->grains = json_object();
        }
    }
    return self->grains;
}

static int
masterctx_env_fire(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    masterctx_t *self = cookie;

    if (self->env.fire == NULL)
        return fail_set(err, -ENOTSUP, "no master to send the event '%s' to", tag);
    return self->env.fire(self->env.cookie, tag, data, err);
}

/* Report a peer's value that was refused, as an event. */
static void
env_refused(void *cookie, json_t *what)
{
    fail_auto_t err = FAIL_INIT;

    if (masterctx_env_fire(cookie, "salt/gate/value", what, &err) < 0)
        log_debug("no event tells of the refused value: %s", fail_text(&err));
}

/* Compile the master's own pillar; the one known so far is passed for `pillar.get` in its templates. */
static py_t *
masterctx_compile(masterctx_t *self, const json_t *ask, fail_t *err)
{
    pillar_env_t env = { .opts = self->opts,
                         .registry = self->env.tables->modules,
                         .id = value_str(self->opts, "id", ""),
                         .grains = env_grains(self),
                         .known = self->pillar,
                         .peer_override = self->env.peer,
                         .refused = env_refused,
                         .cookie = self };

    pillar_env_ask(&env, ask);
    py_t *pillar = pillar_compile(&env, err);
    py_unref(env.override);
    return pillar;
}

static py_t *
env_pillar(void *cookie, json_t *ask, fail_t *err)
{
    masterctx_t *self = cookie;

    if (ask != NULL)
        return masterctx_compile(self, ask, err);
    if (self->pillar == NULL)
        self->pillar = self->env.pillar != NULL ? py_from_wire(self->env.pillar)
                                                : masterctx_compile(self, NULL, err);
    return py_ref(self->pillar);
}

/* Answer the questions that a minion's job server would answer, as far as a master can: the mine. */
static int
env_host(void *cookie, json_t *request, json_t **ret_value, fail_t *err)
{
    masterctx_t *self = cookie;
    const json_t *ask = value_get(request, "ask");
    json_auto_t *reply = NULL;

    if (self->env.request == NULL || strcmp(value_str(ask, "what", ""), "mine") != 0 ||
        strcmp(value_str(ask, "op", ""), "get") != 0)
        return fail_kind(err, FAIL_COMMAND, -ENOTSUP,
                         "'%s' needs a running salt-minion, and this is the master",
                         value_str(request, "op", "?"));
    json_t *own = json_pack("{s:s, s:O?, s:O?, s:O?}", "op", "mine", "tgt", value_get(ask, "tgt"), "tgt_type",
                            value_get(ask, "tgt_type"), "fun", value_get(ask, "fun"));
    int rc = self->env.request(self->env.private_data, &own, &reply, err);
    if (rc == 0)
        *ret_value = json_incref(value_get(reply, "mine"));
    return rc;
}

static void
masterctx_env_progress(void *cookie, size_t step, size_t of, const char *what)
{
    masterctx_t *self = cookie;

    if (self->env.progress != NULL)
        self->env.progress(self->env.cookie, step, of, what);
}

masterctx_t *
masterctx_new(const masterctx_env_t *env)
{
    masterctx_t *self = xcalloc(1, sizeof(*self));

    self->env = *env;
    self->opts = json_copy(env->opts);
    json_object_set_new(self->opts, "file_client", json_string("local"));
    self->files = fileclient_local(self->opts, NULL);
    call_env_t call = { .registry = env->tables->modules,
                        .states = env->tables->states,
                        .runners = env->tables->runners,
                        .returners = env->tables->returners,
                        .opts = self->opts,
                        .id = value_str(self->opts, "id", ""),
                        .jid = env->jid,
                        .renders = env->renders != NULL ? env->renders : "renderer_functions_orchestrate",
                        .grains = env_grains,
                        .pillar = env_pillar,
                        .files = self->files,
                        .fire = masterctx_env_fire,
                        .host = env_host,
                        .progress = masterctx_env_progress,
                        .refused = env_refused,
                        .peer_args = env->peer,
                        .cookie = self,
                        .private_data = env->private_data };
    self->ctx = call_ctx_new(&call);
    return self;
}

void
masterctx_destroy(masterctx_t **self_p)
{
    masterctx_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    call_ctx_destroy(&self->ctx);
    fileclient_destroy(&self->files);
    py_unref(self->pillar);
    json_decref(self->grains);
    json_decref(self->opts);
    free(self);
}

call_ctx_t *
masterctx_ctx(masterctx_t *self)
{
    return self->ctx;
}
