/* grains_set.h - the whole set of grains: the producers' results, the file CONFDIR/grains, the option
 * `grains`, and a cache of the slow ones.
 *
 * Layer      minion
 * Threads    one at a time; producers may start threads of their own, which end with them
 * Ownership  everything is BORROWED for the call unless said otherwise
 * Errors     a producer that fails loses its own grains, with a warning in the log
 * Tests      tests/unit/plugins/test_grains.c, tests/cases/grain
 */
#ifndef MINION_GRAINS_SET_H
#define MINION_GRAINS_SET_H

#include "salt/plugin.h"

/* Runs the producers of one cost in the order of their files' names and merges each result into `into`, which
 * later ones see; custom modules' grains are slow, and come last. `root`: prefix of the paths they read, ""
 * except in tests. Honours disable_grains, grains_blacklist and grains_deep_merge of `opts`. */
void grains_collect(const plugin_t *const *plugins, size_t n, grain_cost_t cost, const char *root,
                    json_t *opts, json_t *into);
/* Adds the file CONFDIR/grains, then the option `grains`, which wins over all but the id. */
void grains_finish(json_t *opts, json_t *into);
/* Warns when the grains file sets another id: the grain `id` is always the minion's. */
void grains_check_file(const json_t *opts);

/* 0, or -EEXIST with *err when two producers declare one key. */
int grains_check(const plugin_t *const *plugins, size_t n, fail_t *err);

/* The slow grains as they were last gathered, in cachedir/grains.cache.json. NEW object, empty when there are
 * none or the file is damaged. Saving is atomic; 0 or a negative errno. */
json_t *grains_cache_load(const char *cachedir);
int grains_cache_save(const char *cachedir, const json_t *grains, fail_t *err);

#endif
