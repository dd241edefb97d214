/* plugins.h - which runners, wheel modules and states of the master are built in: one row per file of their
 * folders, collected by the build.
 *
 * Layer      wiring; main_* files and tests only
 * Threads    any; constant data
 * Tests      tests/unit/minion/test_module_cases.c
 */
#ifndef MASTER_PLUGINS_H
#define MASTER_PLUGINS_H

#include "salt/plugin.h"

/* BORROWED, in file name order. */
const plugin_t *const *master_runner_plugins(size_t *n);
const plugin_t *const *master_wheel_plugins(size_t *n);
/* Those of minions, and those that only orchestrations have. */
const plugin_t *const *master_state_plugins(size_t *n);

#endif
