/* registry_new.c - a registry of all sources. In a file of its own because sources use registries. */
#include "common/plugin/registry.h"

registry_t *
registry_built_in(plugin_kind_t kind, const plugin_t *const *tables, size_t n)
{
    const plugin_source_env_t env = { .kind = kind, .tables = tables, .n_tables = n };
    plugin_source_t *const sources[] = { source_tables_new(&env) };

    return registry_of(kind, sources, NELEMS(sources));
}

registry_t *
registry_new(plugin_kind_t kind, const plugin_t *const *tables, size_t n)
{
    const plugin_source_env_t env = { .kind = kind, .tables = tables, .n_tables = n };
#define SOURCE(name) source_##name##_new(&env),
    plugin_source_t *const sources[] = {
#include "common/plugin/sources.def"
    };
#undef SOURCE

    return registry_of(kind, sources, NELEMS(sources));
}
