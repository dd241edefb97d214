/* missing.c - error texts for a function or module that does not exist, with a suggestion. */
#include "common/base/str.h"
#include "common/plugin/ctx.h"

static char *
missing_module(call_ctx_t *ctx, const char *name)
{
    AUTO_FREE char *near = registry_suggest(ctx->env.registry, name);

    if (near == NULL)
        return xasprintf("There is no module '%s'.", name);
    return xasprintf("There is no module '%s'. Did you mean '%s'?", name, near);
}

/* The reason and a suggestion. NEW. */
static char *
missing_in(call_ctx_t *ctx, const registry_t *registry, const char *fun)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *near = registry_suggest(registry, fun);

    (void) registry_find(registry, ctx, fun, &err);
    if (near == NULL || str_eq(near, fun))
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
