/* masterctx.c - see masterctx.h. */
#include "common/masterctx/masterctx.h"

#include "common/files/fileclient.h"
#include "common/pillar/pillar.h"
#include "common/py/py_json.h"

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

static py_t *
compile(masterctx_t *self, const json_t *ask, fail_t *err)
{
    pillar_env_t env = { .opts = self->opts,
                         .registry = self->env.tables->modules,
                         .id = value_str(self->opts, "id", ""),
                         .grains = env_grains(self),
                         .known = self->pillar };

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
        return compile(self, ask, err);
    if (self->pillar == NULL)
        self->pillar = self->env.pillar != NULL ? py_from_json(self->env.pillar) : compile(self, NULL, err);
    return py_ref(self->pillar);
}

static int
env_fire(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    masterctx_t *self = cookie;

    if (self->env.fire == NULL)
        return fail_set(err, -ENOTSUP, "no master to send the event '%s' to", tag);
    return self->env.fire(self->env.cookie, tag, data, err);
}

static void
env_progress(void *cookie, size_t step, size_t of, const char *what)
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
                        .opts = self->opts,
                        .id = value_str(self->opts, "id", ""),
                        .jid = env->jid,
                        .grains = env_grains,
                        .pillar = env_pillar,
                        .files = self->files,
                        .fire = env_fire,
                        .progress = env_progress,
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
