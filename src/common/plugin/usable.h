/* usable.h - whether the configuration allows a plug-in.
 *
 * Layer      common/plugin
 * Tests      tests/unit/common/test_plugin.c
 */
#ifndef COMMON_PLUGIN_USABLE_H
#define COMMON_PLUGIN_USABLE_H

#include "salt/plugin.h"

/* Apply disable_modules and whitelist_modules, which concern execution modules only. They hold names as users
 * type them (cmd) or as Salt's files are called (cmdmod). */
bool plugin_is_allowed(call_ctx_t *ctx, const plugin_t *p);

#endif
