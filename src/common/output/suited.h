/* suited.h - the outputter that suits what a function returns: Salt's __outputter__.
 *
 * Layer      common/output
 * Threads    any
 * Tests      tests/unit/cli/test_cli.c
 */
#ifndef COMMON_OUTPUT_SUITED_H
#define COMMON_OUTPUT_SUITED_H

#include "salt/base.h"

/* "highstate" for "state.apply", ...; NULL: the default one. Accepts NULL. */
const char *output_suited(const char *fun);
/* True when the function returns a tuple in Salt, which --out=txt shows. */
bool output_tuple(const char *fun);

#endif
