/* blackout.h - blackout mode: with `minion_blackout` in its pillar or grains a minion runs only
 * saltutil.refresh_pillar and what `minion_blackout_whitelist` beside it names, as in Salt.
 *
 * Layer      minion; pure
 * Threads    any
 * Errors     FAIL_INVOCATION in Salt's words
 * Tests      tests/unit/minion/test_blackout.c, tests/t/4130-blackout.bats
 */
#ifndef MINION_JOBS_BLACKOUT_H
#define MINION_JOBS_BLACKOUT_H

#include "salt/base.h"

/* Checks if a job may run `fun`: 0, or -EPERM with *err. `facts`: grains, or a pillar as common/py/py_wire.h
 * has it; NULL: none. */
int blackout_check(const json_t *facts, const char *fun, fail_t *err);

#endif
