/* pillar_local.h - pillar without a master: whether it is compiled on this machine, and compiling it here.
 *
 * Layer      minion
 * Threads    any; pillar_local in a job's child or salt-call
 * Ownership  said per function
 * Tests      tests/t/4100-pillar.bats
 */
#ifndef MINION_PARTS_PILLAR_LOCAL_H
#define MINION_PARTS_PILLAR_LOCAL_H

#include "common/plugin/registry.h"
#include "salt/base.h"

struct py;

/* Whether pillar is compiled on this machine: file_client local, or no master at all. */
bool pillar_is_local(const json_t *opts);
/* `ask` as ctx_compile_pillar's, completed from the configuration. NULL: nothing is asked for. NEW. */
json_t *pillar_ask_complete(const json_t *opts, const json_t *ask);
/* Compile here. `known`: what templates see as pillar, or NULL. NEW, or NULL with *err. */
struct py *pillar_local(json_t *opts, registry_t *registry, const char *id, json_t *grains, json_t *ask,
                        struct py *known, fail_t *err);

#endif
