/* callcompletion.h - shell completion for salt-call: names of built-in functions, and state files of this
 * host.
 *
 * Layer      minion
 * Threads    one
 * Errors     none: a configuration that can't be read offers no names
 * Tests      tests/t/0320-completion.bats */
#ifndef MINION_CALLCOMPLETION_H
#define MINION_CALLCOMPLETION_H

#include "common/plugin/registry.h"

/* Prints the candidates for the words in argv (common/cli/complete.h). Returns the exit code, 0. */
int callcompletion_complete(const registry_t *functions, int argc, char **argv);

#endif
