/* opts.h - command line options of salt, salt-run, salt-cp and salt-key.
 *
 * Layer      cli
 * Threads    constant
 * Tests      tests/unit/common/test_optparse.c; each program's help in its own tests
 */
#ifndef CLI_OPTS_H
#define CLI_OPTS_H

#include "common/cli/optparse.h"

extern const opt_spec_t opts_salt, opts_run, opts_cp, opts_key;

#endif
