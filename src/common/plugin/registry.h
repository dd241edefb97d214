/* registry.h - what is built in: plug-ins by name, functions by "module.function".
 *
 * Layer      common/plugin; gets its plug-ins as an array from a main_* file
 * Threads    read-only after registry_new
 * Errors     an incomplete descriptor (a function without doc, two of one name usable at once, a runner without
 *            an access class) is a bug: registry_check names it, and lint runs it
 * Tests      tests/unit/common/test_plugin.c
 */
#ifndef COMMON_PLUGIN_REGISTRY_H
#define COMMON_PLUGIN_REGISTRY_H

#include "salt/plugin.h"

typedef struct registry registry_t;

/* NEW. The array is kept by pointer. Several plug-ins may provide one module name: the first usable one wins. */
registry_t *registry_new(plugin_kind_t kind, const plugin_t *const *plugins, size_t n);
void registry_destroy(registry_t **self_p);
plugin_kind_t registry_kind(const registry_t *self);
const plugin_t *const *registry_plugins(const registry_t *self, size_t *ret_n);
/* The function "mod.fun". NULL with *err of kind FAIL_UNAVAILABLE: "'x.y' is not available." for an unknown
 * one (as Salt), "'x.y' __virtual__ returned False: REASON" where the module says why it can't be used here.
 */
const func_t *registry_find(const registry_t *self, call_ctx_t *ctx, const char *fun,
                            const plugin_t **ret_plugin, fail_t *err);
/* Whether "mod.fun" is known to change nothing (FN_READONLY), whoever of several provides it. */
bool registry_only_reads(const registry_t *self, const char *fun);
/* Whether what "mod.fun" returns may be a secret (FN_SECRET), whoever of several provides it. */
bool registry_is_secret(const registry_t *self, const char *fun);
/* Nearest name to an unknown one, or NULL. BORROWED until the next call. */
const char *registry_suggest(registry_t *self, const char *fun);
/* NEW array of every "mod.fun" that begins with `prefix`, sorted, each once. */
json_t *registry_names(const registry_t *self, const char *prefix);
/* 0, or -EINVAL with the first incomplete row. */
int registry_check(const registry_t *self, fail_t *err);

#endif
