/* opts.h - command line options of salt-master.
 *
 * Layer      master
 * Threads    constant
 * Tests      tests/unit/common/test_optparse.c; each program's help in its own tests
 */
#ifndef MASTER_OPTS_H
#define MASTER_OPTS_H

#include "common/cli/optparse.h"

extern const opt_spec_t opts_master;

#endif
