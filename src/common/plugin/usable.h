/* usable.h - whether a plug-in may be used here by what the configuration says.
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

#endif
