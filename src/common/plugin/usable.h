/* usable.h - whether the configuration allows a plug-in.
 *
 * Layer      common/plugin
 * Tests      tests/unit/common/test_plugin.c
 */
#ifndef COMMON_PLUGIN_USABLE_H
#define COMMON_PLUGIN_USABLE_H

#include "salt/plugin.h"

/* Both options concern execution modules only. They hold names as users type them (cmd) or as Salt's files
 * are called (cmdmod). */

/* disable_modules: nothing calls the module. */
bool plugin_is_disabled(call_ctx_t *ctx, const plugin_t *p);
/* whitelist_modules: who calls a function by its name, in a job, a template or an argument, has these modules
 * alone. A function or a state may call any module that it needs itself. */
bool plugin_may_be_named(call_ctx_t *ctx, const char *fun);

#endif
