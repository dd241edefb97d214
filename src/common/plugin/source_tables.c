/* source_tables.c - the source of built-in plug-ins: the tables that plugins/builtin.h collects, with a hash
 * from module name to its providers. Immutable after construction, so it needs no lock. */
#include "common/base/map.h"
#include "common/plugin/source.h"

typedef struct tables {
    plugin_source_t source;
    const plugin_t **all;
    map_t *modules; /* name to its plug-ins, in the order of their files' names; each list ends with NULL */
} tables_t;

static const plugin_t *const *
plugins_of(plugin_source_t *source, call_ctx_t *ctx, const char *module)
{
    tables_t *self = (tables_t *) source;

    return module != NULL ? map_get(self->modules, module) : self->all;
}

static void
tables_destroy(plugin_source_t *source)
{
    tables_t *self = (tables_t *) source;

    map_destroy(&self->modules);
    free(self->all);
    free(self);
}

plugin_source_t *
source_tables_new(const plugin_source_env_t *env)
{
    static const plugin_source_ops_t ops = { .plugins = plugins_of, .destroy = tables_destroy };
    tables_t *self = xcalloc(1, sizeof(*self));

    self->source.ops = &ops;
    self->all = xcalloc(env->n_tables + 1, sizeof(const plugin_t *));
    self->modules = map_new(free);
    for (size_t i = 0; i < env->n_tables; i++) {
        self->all[i] = env->tables[i];

        /* Append to the list of a module's providers. */
        map_t *modules = self->modules;
        const plugin_t *p = env->tables[i];
        const plugin_t **list = map_take(modules, plugin_name(p));
        size_t n = 0;
        while (list != NULL && list[n] != NULL)
            n++;
        list = xrealloc(list, (n + 2) * sizeof(const plugin_t *));
        list[n] = p;
        list[n + 1] = NULL;
        map_set(modules, plugin_name(p), list);
    }
    return &self->source;
}
