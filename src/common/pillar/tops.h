/* tops.h - what the sources of the option master_tops say of a minion: states by environment, which its top
 * files' matches are joined with. Salt's _master_tops() and salt/tops.
 *
 * Layer      common/pillar; knows neither daemon: the caller brings configuration, functions and files
 * Threads    one call belongs to one thread
 * Errors     a source that fails is a line of the log, and the others count, as in Salt
 * Tests      tests/unit/minion/test_pillar.c, tests/cases/pillar/tops.json, tests/t/4215-master-tops.bats */
#ifndef COMMON_PILLAR_TOPS_H
#define COMMON_PILLAR_TOPS_H

#include "common/pillar/pillar.h"

/* Asks all sources, within pillar_timeout. Of `env`: opts, registry, id, grains, saltenv, pillarenv,
 * peer_grains (then sources get what the minion may tell, not its options). NEW {saltenv: [SLS, ...]}. */
json_t *tops_find(const pillar_env_t *env);

#endif
