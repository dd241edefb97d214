/* pillargit.h - fetch the remotes of ext_pillar `git` at their interval in a thread; compiles use what was
 * fetched last.
 *
 * Layer      master
 * Threads    one of its own while there is such a source; its functions may be called by any thread
 * Tests      tests/t/4100-pillar.bats
 */
#ifndef MASTER_PILLAR_PILLARGIT_H
#define MASTER_PILLAR_PILLARGIT_H

#include "common/plugin/registry.h"

typedef struct pillargit pillargit_t;

pillargit_t *pillargit_new(registry_t *modules, json_t *opts); /* NEW; `modules` BORROWED */
/* Stop the thread. False when a fetch continues: then nothing is freed. */
bool pillargit_destroy(pillargit_t **self_p);
void pillargit_reload(pillargit_t *self, json_t *opts);
/* Also fetch a source that a minion brought (on_demand_ext_pillar), like those of the configuration. */
void pillargit_also(pillargit_t *self, const json_t *ext);

#endif
