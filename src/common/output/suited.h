/* suited.h - the outputter that suits what a function returns: Salt's __outputter__.
 *
 * Layer      common/output
 * Threads    any
 * Tests      tests/unit/cli/test_cli.c
 */
#ifndef COMMON_OUTPUT_SUITED_H
#define COMMON_OUTPUT_SUITED_H

/* "highstate" for "state.apply", ...; NULL: the default one. Accepts NULL. */
const char *output_suited(const char *fun);

#endif
