/* pillar_local.h - pillar without a master: decides if it is compiled on this machine, and compiles it.
 *
 * Layer      minion
 * Threads    any; pillar_local() runs in a job's child or salt-call
 * Ownership  said per function
 * Tests      tests/t/4100-pillar.bats
 */
#ifndef MINION_PARTS_PILLAR_LOCAL_H
#define MINION_PARTS_PILLAR_LOCAL_H

#include "common/plugin/registry.h"
#include "salt/base.h"

struct py;

/* True when pillar is compiled on this machine: file_client local (unless use_master_when_local), or
 * master_type disable. */
bool pillar_is_local(const json_t *opts);
/* NEW copy of `ask` (as ctx_compile_pillar's; NULL: {}) with saltenv and pillarenv from the configuration
 * where it has none. */
json_t *pillar_ask_complete(const json_t *opts, const json_t *ask);
/* Compiles the pillar here. `known`: what templates see as pillar, or NULL. NEW, or NULL with *err. */
struct py *pillar_local(json_t *opts, registry_t *registry, const char *id, json_t *grains, json_t *ask,
                        struct py *known, fail_t *err);
/* What master_tops says of this minion without a master. NEW {saltenv: [SLS]}. */
json_t *tops_local(json_t *opts, registry_t *registry, const char *id, json_t *grains, const char *saltenv);

#endif
