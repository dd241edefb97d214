/* opts.h - command line options of salt-minion and salt-call.
 *
 * Layer      minion
 * Threads    constant
 * Tests      tests/unit/common/test_optparse.c; each program's help in its own tests
 */
#ifndef MINION_OPTS_H
#define MINION_OPTS_H

#include "common/cli/optparse.h"

extern const opt_spec_t opts_minion, opts_call;

#endif
