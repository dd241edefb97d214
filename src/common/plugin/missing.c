/* missing.c - what to say of a function that is not there. */
#include "common/base/str.h"
#include "common/plugin/ctx.h"

typedef struct modules {
    const plugin_t *const *plugins;
    size_t n, i;
} modules_t;

static const char *
next_module(void *cookie)
{
    modules_t *m = cookie;

    return m->i < m->n ? plugin_name(m->plugins[m->i++]) : NULL;
}

static char *
missing_module(call_ctx_t *ctx, const char *name)
{
    modules_t m = { .i = 0 };

    m.plugins = ctx_plugins(ctx, &m.n);
    const char *near = str_suggest(name, next_module, &m);
    if (near == NULL)
        return xasprintf("There is no module '%s'.", name);
    return xasprintf("There is no module '%s'. Did you mean '%s'?", name, near);
}

/* Why it can't be called, and what could have been meant. NEW. */
static char *
missing_in(call_ctx_t *ctx, registry_t *registry, const char *fun)
{
    fail_auto_t err = FAIL_INIT;

    (void) registry_find(registry, ctx, fun, NULL, &err);
    const char *near = registry_suggest(registry, fun);
    if (near == NULL || strcmp(near, fun) == 0)
        return xstrdup(fail_text(&err));
    return xasprintf("%s Did you mean '%s'?", fail_text(&err), near);
}

char *
call_missing(call_ctx_t *ctx, const char *fun)
{
    return strchr(fun, '.') == NULL ? missing_module(ctx, fun) : missing_in(ctx, ctx->env.registry, fun);
}

char *
call_missing_state(call_ctx_t *ctx, const char *fun)
{
    return ctx->env.states != NULL ? missing_in(ctx, ctx->env.states, fun) : xstrdup("There are no states.");
}
