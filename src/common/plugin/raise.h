/* raise.h - fail on request, as Salt's runner and wheel module `error` do.
 *
 * Layer      common/plugin
 * Threads    any
 * Tests      tests/unit/runners/test_manage.c
 */
#ifndef COMMON_PLUGIN_RAISE_H
#define COMMON_PLUGIN_RAISE_H

#include "salt/plugin.h"

/* The table of a module with this one function. */
extern const func_t raise_funcs[1];

#endif
