/* source.c - modules in Python as sources of functions: users' files of a module's name, which replace the
 * built-in module, users' files that give functions to a module of another name, and Salt's own files. */
#include "common/plugin/source.h"
#include "pyhost/pyhost.h"

typedef struct pysource {
    plugin_source_t source;
    pykind_t kind;
    pyorigin_t origin;
} pysource_t;

static const plugin_t *const *
pysource_plugins(plugin_source_t *source, call_ctx_t *ctx, const char *module)
{
    const pysource_t *self = (const pysource_t *) source;

    return ctx != NULL ? pyplugins(ctx, self->kind, module, self->origin) : NULL;
}

static const char *
pysource_unavailable(plugin_source_t *source, call_ctx_t *ctx, const plugin_t *p)
{
    return pyplugin_why(p);
}

static int
pysource_refresh(plugin_source_t *source, call_ctx_t *ctx, fail_t *err)
{
    if (ctx == NULL)
        return 0;
    pyhost_forget(pyhost_of(ctx));
    pyplugins_forget(ctx);
    return 0;
}

static void
pysource_destroy(plugin_source_t *source)
{
    free(source);
}

static plugin_source_t *
pysource_new(const plugin_source_env_t *env, pyorigin_t origin)
{
    static const plugin_source_ops_t ops = { pysource_plugins, pysource_unavailable, pysource_refresh,
                                             pysource_destroy };
    pykind_t kind = pykind_of(env->kind);

    if (kind == PYKINDS)
        return NULL;
    pysource_t *self = xcalloc(1, sizeof(*self));
    *self = (pysource_t){ .source.ops = &ops, .kind = kind, .origin = origin };
    return &self->source;
}

plugin_source_t *
source_pyfiles_new(const plugin_source_env_t *env)
{
    return pysource_new(env, PYORIGIN_WHOLE);
}

plugin_source_t *
source_pyadded_new(const plugin_source_env_t *env)
{
    return pysource_new(env, PYORIGIN_ADDED);
}

plugin_source_t *
source_pysalt_new(const plugin_source_env_t *env)
{
    return pysource_new(env, PYORIGIN_SALT);
}
