/* missing.c - error texts for a function or module that does not exist, with a suggestion. */
#include "common/base/str.h"
#include "common/plugin/ctx.h"

static const char *const salts_modules[] = {
#define EXEC(name) #name,
#define STATE(name)
#include "common/plugin/saltnames.def"
#undef EXEC
#undef STATE
};
static const char *const salts_states[] = {
#define EXEC(name)
#define STATE(name) #name,
#include "common/plugin/saltnames.def"
#undef EXEC
#undef STATE
};

/* True when the function's module is one of Salt's that nothing gives here. */
static bool
is_salts(call_ctx_t *ctx, const registry_t *registry, const char *fun)
{
    bool states = registry == ctx->env.states;
    AUTO_FREE char *module = xstrndup(fun, strcspn(fun, "."));
    const char *const *names = states ? salts_states : salts_modules;
    size_t n = states ? NELEMS(salts_states) : NELEMS(salts_modules), i = 0;

    if ((!states && registry != ctx_registry(ctx, PLUGIN_EXEC)) ||
        registry_provider(registry, ctx, module) != NULL)
        return false;
    while (i < n && !str_eq(names[i], module))
        i++;
    return i < n;
}

/* "'network.ping' or 'test.ping'" for the name without its module; NULL when no module, or too many, have it.
 * NEW. */
static char *
of_that_name(const registry_t *registry, const char *fun)
{
    enum { MEANT_MAX = 5 };
    json_auto_t *names = registry_names(registry, "");
    buf_auto_t out = BUF_INIT;
    size_t i, n = 0;
    json_t *one;

    json_array_foreach (names, i, one) {
        const char *dot = strchr(json_string_value(one), '.');
        if (dot != NULL && str_eq(dot + 1, fun))
            buf_printf(&out, "%s'%s'", n++ > 0 ? " or " : "", json_string_value(one));
    }
    return n > 0 && n <= MEANT_MAX ? buf_steal(&out) : NULL;
}

/* `text`, and what would bring the function, or " Did you mean 'test.ping'?". NEW. */
static char *
missing_text(call_ctx_t *ctx, const registry_t *registry, const char *fun, const char *text)
{
    /* A reason why it can't be used here says more. */
    if (strchr(fun, '.') != NULL && str_ends(text, "is not available.") && is_salts(ctx, registry, fun))
        return xasprintf(
            "%s Salt's own %.*s is a file in Python, which is used where Salt's package is on the host: "
            "see the option python_salt.",
            text, (int) strcspn(fun, "."), fun);
    AUTO_FREE char *near = registry_suggest(registry, ctx, fun);
    if (near != NULL && !str_eq(near, fun))
        return xasprintf("%s Did you mean '%s'?", text, near);
    /* A module's own name alone is no function of another one: its functions are listed. */
    bool bare = strchr(fun, '.') == NULL && registry_provider(registry, ctx, fun) == NULL;
    AUTO_FREE char *whole = bare ? of_that_name(registry, fun) : NULL;
    return whole != NULL ? xasprintf("%s Did you mean %s?", text, whole) : xstrdup(text);
}

/* The reason and a suggestion. NEW. */
static char *
missing_in(call_ctx_t *ctx, const registry_t *registry, const char *fun)
{
    fail_auto_t err = FAIL_INIT;

    (void) registry_find(registry, ctx, fun, &err);
    return missing_text(ctx, registry, fun, fail_text(&err));
}

char *
call_missing(call_ctx_t *ctx, const char *fun)
{
    if (strchr(fun, '.') != NULL)
        return missing_in(ctx, ctx->env.registry, fun);
    AUTO_FREE char *near = registry_suggest(ctx->env.registry, ctx, fun);
    if (near == NULL)
        return xasprintf("There is no module '%s'.", fun);
    return xasprintf("There is no module '%s'. Did you mean '%s'?", fun, near);
}

char *
call_missing_state(call_ctx_t *ctx, const char *fun)
{
    return ctx->env.states != NULL ? missing_in(ctx, ctx->env.states, fun) : xstrdup("There are no states.");
}

/* True when a table has just this function. */
static bool
has_function(call_ctx_t *ctx, const registry_t *registry, const char *fun)
{
    bool named = registry != NULL && strchr(fun, '.') != NULL;
    AUTO_FREE char *near = named ? registry_suggest(registry, ctx, fun) : NULL;

    return str_eq(near, fun);
}

char *
call_unknown(call_ctx_t *ctx, const char *fun, const fail_t *err)
{
    if (has_function(ctx, ctx->env.registry, fun))
        return xstrdup(fail_text(err));
    if (has_function(ctx, ctx->env.states, fun))
        return xasprintf("%s It is a state: 'state.single %s NAME' runs it, and an SLS can name it.",
                         fail_text(err), fun);
    if (has_function(ctx, ctx->env.modules, fun))
        return xasprintf("%s It is a function of minions: salt TARGET %s", fail_text(err), fun);
    AUTO_FREE char *first = xstrndup(fun, strcspn(fun, " "));
    if (!str_eq(first, fun) && has_function(ctx, ctx->env.registry, first))
        return xasprintf("%s The function is one word, its arguments are the next ones: %s ARGUMENT",
                         fail_text(err), first);
    return missing_text(ctx, ctx->env.registry, fun, fail_text(err));
}
