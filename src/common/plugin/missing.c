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

char *
call_missing(call_ctx_t *ctx, const char *fun)
{
    fail_auto_t err = FAIL_INIT;

    if (strchr(fun, '.') == NULL)
        return missing_module(ctx, fun);
    (void) registry_find(ctx->env.registry, ctx, fun, NULL, &err);
    const char *near = registry_suggest(ctx->env.registry, fun);
    if (near == NULL || strcmp(near, fun) == 0)
        return xstrdup(fail_text(&err));
    return xasprintf("%s Did you mean '%s'?", fail_text(&err), near);
}
