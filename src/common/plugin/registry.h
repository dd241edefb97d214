/* registry.h - all functions of one kind, from all sources: plug-ins by name, functions
 * by "module.function".
 *
 * Layer      common/plugin; a main_* file hands over what is linked in, sources.def says what else there is
 * Threads    several may ask at once; registry_refresh() too (source.h)
 * Ownership  rows and plug-ins are BORROWED and live as long as the registry
 * Errors     an incomplete descriptor (a function without doc, two of one name usable at once, a runner
 *            without an access class) is a bug: registry_check names it, and lint runs it
 * Tests      tests/unit/common/test_plugin_source.c, tests/unit/common/test_plugin.c
 */
#ifndef COMMON_PLUGIN_REGISTRY_H
#define COMMON_PLUGIN_REGISTRY_H

#include "common/plugin/source.h"

typedef struct registry registry_t;

/* NEW, of all rows of sources.def. The array is kept by pointer. Several plug-ins may provide one module
 * name: a function is that of the first usable one that has it. */
registry_t *registry_new(plugin_kind_t kind, const plugin_t *const *tables, size_t n);
/* NEW, of what is linked in alone: for kinds whose files in Python are called by userfile.h. */
registry_t *registry_built_in(plugin_kind_t kind, const plugin_t *const *tables, size_t n);
/* The same of these sources, in order of precedence. TAKES them; NULLs are left out. */
registry_t *registry_of(plugin_kind_t kind, plugin_source_t *const *sources, size_t n);
void registry_destroy(registry_t **self_p);
plugin_kind_t registry_kind(const registry_t *self);
/* Make every source look for changes, for a context (NULL: none) whose files may have changed. All are
 * called; the first failure is returned. */
int registry_refresh(registry_t *self, call_ctx_t *ctx, fail_t *err);

/* The function "mod.fun". NULL with *err of kind FAIL_UNAVAILABLE: "'x.y' is not available." for an unknown
 * one (as Salt), "'x.y' __virtual__ returned False: REASON" where the module says why it can't be used
 * here. */
const func_t *registry_find(const registry_t *self, call_ctx_t *ctx, const char *fun, fail_t *err);
/* The first usable plug-in that provides a module, or NULL. */
const plugin_t *registry_provider(const registry_t *self, call_ctx_t *ctx, const char *module);
/* True when any provider of "mod.fun" has the flag (FN_...), or all have it, usable or not; false when there
 * is none. */
bool registry_any(const registry_t *self, const char *fun, unsigned flag);
bool registry_all(const registry_t *self, const char *fun, unsigned flag);

/* Called once per function, as registry_find() would find it: `name` is "mod.fun". */
typedef void registry_each_fn(void *cookie, const char *name, const plugin_t *p, const func_t *f);
/* In order of precedence, those of a table in its order. `ctx` NULL: unusable ones too. */
void registry_each(const registry_t *self, call_ctx_t *ctx, registry_each_fn *each, void *cookie);
/* Called per plug-in, with the reason why it can't be used here; NULL: it can. */
typedef void registry_plugin_fn(void *cookie, const plugin_t *p, const char *why);
void registry_each_plugin(const registry_t *self, call_ctx_t *ctx, registry_plugin_fn *each, void *cookie);

/* The closest function to an unknown name, usable or not, of those that `ctx` (NULL: none) shows; for a name
 * without a dot the closest module. NEW, or NULL. */
char *registry_suggest(const registry_t *self, call_ctx_t *ctx, const char *name);
/* NEW array of every "mod.fun" that begins with `prefix`, usable or not, sorted, each once. */
json_t *registry_names(const registry_t *self, const char *prefix);
/* 0, or -EINVAL with the first incomplete row. */
int registry_check(const registry_t *self, fail_t *err);

#endif
