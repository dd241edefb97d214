/* registry_int.h - a registry's sources as one list; private to common/plugin.
 *
 * Layer      common/plugin
 * Threads    as registry.h
 * Tests      tests/unit/common/test_plugin_source.c
 */
#ifndef COMMON_PLUGIN_REGISTRY_INT_H
#define COMMON_PLUGIN_REGISTRY_INT_H

#include "common/plugin/registry.h"

struct registry {
    plugin_kind_t kind;
    plugin_source_t **sources;
    size_t n;
};

/* Walk the plug-ins of a module (NULL: of all) in order of precedence: while ((p = walk_next(&walk)) !=
 * NULL). The last one returned belongs to the source walk.source. Of one module, none follows a plug-in that
 * is `whole`. */
typedef struct walk {
    const registry_t *registry;
    call_ctx_t *ctx; /* for the sources; may be NULL */
    const char *module;
    plugin_source_t *source;
    size_t i;                  /* of the source */
    bool whole;                /* the last one is so */
    const plugin_t *const *at; /* in its list; NULL: to be asked for */
} walk_t;
const plugin_t *walk_next(walk_t *self);

/* The row of that name in a plug-in, or NULL. */
const func_t *plugin_function(const plugin_t *p, const char *name);

#endif
