/* usable.h - whether a plug-in may be used here: what the configuration says, then what it says itself.
 *
 * Layer      common/plugin
 * Tests      tests/unit/common/test_plugin.c
 */
#ifndef COMMON_PLUGIN_USABLE_H
#define COMMON_PLUGIN_USABLE_H

#include "salt/plugin.h"

/* disable_modules and whitelist_modules, which concern execution modules. They hold names as users type them
 * (cmd) or as Salt's files have them (cmdmod). */
bool plugin_is_allowed(call_ctx_t *ctx, const plugin_t *p);
/* Allowed, and it has no reason of its own not to be used. */
bool plugin_is_usable(call_ctx_t *ctx, const plugin_t *p);

#endif
