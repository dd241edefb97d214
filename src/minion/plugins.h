/* plugins.h - which execution modules, state modules and grains are built in: one row per file of their
 * folders, collected by the build.
 *
 * Layer      wiring; main_* files and tests only
 * Threads    any; constant data
 * Tests      tests/unit/minion/test_module_cases.c
 */
#ifndef MINION_PLUGINS_H
#define MINION_PLUGINS_H

#include "salt/plugin.h"

/* BORROWED, in file name order. */
const plugin_t *const *minion_exec_plugins(size_t *n);
const plugin_t *const *minion_grain_plugins(size_t *n);
const plugin_t *const *minion_state_plugins(size_t *n);

#endif
