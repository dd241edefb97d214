/* grains_set.h - the whole set of grains: what the producers find, what files and the configuration add, what
 * is kept.
 *
 * Layer      minion
 * Threads    one at a time; the producers may start threads of their own, which end with them
 * Ownership  everything is BORROWED for the call unless said otherwise
 * Errors     a producer that fails loses its own grains, with a warning in the log
 * Tests      tests/unit/plugins/test_grains.c, tests/cases/grain
 */
#ifndef MINION_GRAINS_SET_H
#define MINION_GRAINS_SET_H

#include "salt/plugin.h"

/* Run the producers of one cost in name order and merge what they find into `into`, which they see while they
 * run. `root` is "" except in tests. Honours disable_grains, grains_blacklist and grains_deep_merge of
 * `opts`. */
void grains_collect(const plugin_t *const *plugins, size_t n, grain_cost_t cost, const char *root,
                    json_t *opts, json_t *into);
/* Add what is written down: the file CONFDIR/grains, then the option `grains`, which wins over everything
 * but the id. */
void grains_finish(json_t *opts, json_t *into);
/* A warning when that file names another id; the configuration has its own. */
void grains_check_file(const json_t *opts);

/* 0, or -EEXIST and the names when two producers declare one key. */
int grains_check(const plugin_t *const *plugins, size_t n, fail_t *err);

/* Slow grains from the last time. NEW object; empty when there are none or the file is damaged. */
json_t *grains_cache_load(const char *cachedir);
int grains_cache_save(const char *cachedir, const json_t *grains, fail_t *err);

#endif
