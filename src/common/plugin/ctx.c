/* ctx.c - what a running function may ask of its process. */
#include "common/plugin/ctx.h"

call_ctx_t *
call_ctx_new(const call_env_t *env)
{
    call_ctx_t *self = xcalloc(1, sizeof(*self));

    self->env = *env;
    self->opts = env->opts != NULL ? json_incref(env->opts) : json_object();
    self->context = json_object();
    return self;
}

void
call_ctx_destroy(call_ctx_t **self_p)
{
    call_ctx_t *self = *self_p;

    if (self == NULL)
        return;
    json_decref(self->opts);
    json_decref(self->grains);
    json_decref(self->pillar);
    json_decref(self->context);
    free(self);
    *self_p = NULL;
}

json_t *
ctx_opts(call_ctx_t *ctx)
{
    return ctx->opts;
}

static json_t *
ask_once(call_ctx_t *ctx, json_t **kept, json_t *(*ask)(void *cookie))
{
    if (*kept == NULL) {
        json_t *found = ask != NULL ? ask(ctx->env.cookie) : NULL;
        *kept = json_is_object(found) ? json_incref(found) : json_object();
    }
    return *kept;
}

json_t *
ctx_grains(call_ctx_t *ctx)
{
    return ask_once(ctx, &ctx->grains, ctx->env.grains);
}

json_t *
ctx_pillar(call_ctx_t *ctx)
{
    return ask_once(ctx, &ctx->pillar, ctx->env.pillar);
}

json_t *
ctx_context(call_ctx_t *ctx)
{
    return ctx->context;
}

const char *
ctx_id(call_ctx_t *ctx)
{
    return ctx->env.id != NULL ? ctx->env.id : "";
}

const char *
ctx_jid(call_ctx_t *ctx)
{
    return ctx->env.jid != NULL ? ctx->env.jid : "";
}

void
ctx_set_retcode(call_ctx_t *ctx, int retcode)
{
    ctx->retcode = retcode;
}

int
ctx_retcode(const call_ctx_t *ctx)
{
    return ctx->retcode;
}

int
ctx_fire(call_ctx_t *ctx, const char *tag, json_t *data, fail_t *err)
{
    if (ctx->env.fire == NULL)
        return fail_set(err, -ENOTSUP, "no master to send the event '%s' to", tag);
    if (strlen(tag) > LIMIT_TAG_LEN)
        return fail_kind(err, FAIL_INVOCATION, -EMSGSIZE,
                         "the event tag has %zu bytes, at most %d are allowed", strlen(tag), LIMIT_TAG_LEN);
    return ctx->env.fire(ctx->env.cookie, tag, data, err);
}

int
ctx_host(call_ctx_t *ctx, json_t *request, json_t **ret_value, fail_t *err)
{
    if (ctx->env.host == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOTSUP,
                         "'%s' needs a running salt-minion, and this call does not come from one",
                         value_str(request, "op", "?"));
    return ctx->env.host(ctx->env.cookie, request, ret_value, err);
}

void *
ctx_private(call_ctx_t *ctx)
{
    return ctx->env.private_data;
}

const plugin_t *const *
ctx_plugins(call_ctx_t *ctx, size_t *ret_n)
{
    return registry_plugins(ctx->env.registry, ret_n);
}

bool
ctx_has(call_ctx_t *ctx, const char *fun)
{
    fail_auto_t err = FAIL_INIT;

    return registry_find(ctx->env.registry, ctx, fun, NULL, &err) != NULL;
}
