/* opts.h - command line options of salt-api.
 *
 * Layer      api
 * Threads    constant
 * Tests      tests/unit/common/test_optparse.c
 */
#ifndef API_OPTS_H
#define API_OPTS_H

#include "common/cli/optparse.h"

extern const opt_spec_t opts_api;

#endif
