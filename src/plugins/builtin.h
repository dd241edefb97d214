/* builtin.h - plug-ins that are built into this program, by kind: the files of the folders that kinds.def
 * names, collected by the build (collect.sh). A program links main_agent.c or main_master.c, which define the
 * same function: the latter adds what only a master has.
 *
 * Layer      wiring; main_* files and tests only
 * Threads    any; constant data
 * Tests      tests/unit/plugins/test_module_cases.c, tests/lint/tables.c
 */
#ifndef PLUGINS_BUILTIN_H
#define PLUGINS_BUILTIN_H

#include "salt/plugin.h"

typedef struct builtin {
    const plugin_t *const *rows;
    size_t n;
} builtin_t;

/* BORROWED, in the order of their file names. *ret_n is 0 for a kind that this program has none of. */
const plugin_t *const *builtin_plugins(plugin_kind_t kind, size_t *ret_n);

#endif
