/* callwords.h - completion of salt-call: functions that are built in, state files of this host.
 *
 * Layer      minion
 * Threads    one
 * Errors     none: no names
 * Tests      tests/t/0320-completion.bats
 */
#ifndef MINION_CALLWORDS_H
#define MINION_CALLWORDS_H

#include "common/plugin/registry.h"

/* Returns the exit code, 0. */
int callwords_complete(const registry_t *functions, int argc, char **argv);

#endif
