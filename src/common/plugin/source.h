/* source.h - a source delivers plug-ins with their rows, and a registry asks its sources in order of
 * precedence.
 *
 * A source is one function, `plugin_source_t *source_NAME_new(const plugin_source_env_t *env)`,
 * and the row SOURCE(NAME) in sources.def. What it delivers looks like a built-in plug-in: its functions may
 * all be one C function that finds the real one by ctx_row(ctx)->data.ptr.
 *
 * Layer      common/plugin
 * Threads    the threads of a daemon share a registry and ask it at the same time: a source whose answers
 *            change locks for itself
 * Ownership  a registry owns its sources. What one has delivered without a context lives as long as itself,
 *            and with one as long as that context: a refresh adds and leaves out but frees nothing, as a row
 *            of before may be running
 * Tests      tests/unit/common/test_plugin_source.c
 */
#ifndef COMMON_PLUGIN_SOURCE_H
#define COMMON_PLUGIN_SOURCE_H

#include "salt/plugin.h"

typedef struct plugin_source plugin_source_t;

/* Operations of a source. Only `plugins` and `destroy` are required. */
typedef struct plugin_source_ops {
    /* The plug-ins that provide `module` ("pkg"; NULL: all there are), the first choice first. BORROWED, ends
     * with NULL; NULL when there is none at this moment. `ctx` NULL: those that need no context to be
     * known. */
    const plugin_t *const *(*plugins)(plugin_source_t *self, call_ctx_t *ctx, const char *module);
    /* The reason why the plug-in can't be used here; NULL: it can. BORROWED. NULL pointer: its own
     * `unavailable` decides. */
    const char *(*unavailable)(plugin_source_t *self, call_ctx_t *ctx, const plugin_t *p);
    /* Look for changes, for this context where it is not NULL. NULL pointer: the source never changes. */
    int (*refresh)(plugin_source_t *self, call_ctx_t *ctx, fail_t *err);
    void (*destroy)(plugin_source_t *self);
} plugin_source_ops_t;

/* The first member of each source's own struct. */
struct plugin_source {
    const plugin_source_ops_t *ops;
};

/* The inputs of a source. BORROWED; it lives as long as the source. */
typedef struct plugin_source_env {
    plugin_kind_t kind;
    const plugin_t *const *tables; /* what is linked into this program */
    size_t n_tables;
} plugin_source_env_t;

#define SOURCE(name)                                                                                         \
    plugin_source_t *source_##name##_new(const plugin_source_env_t *env); /* NEW; NULL: nothing of the kind */
#include "common/plugin/sources.def"
#undef SOURCE

#endif
