/* copy.h - one run of the salt-cp command: files in the arguments of cp.recv, or of one cp.recv_chunked after
 * the other.
 *
 * Layer      cli
 * Threads    one
 * Tests      tests/t/4000-files.bats
 */
#ifndef CLI_COPY_H
#define CLI_COPY_H

#include "salt/base.h"

/* The whole program. Returns the exit code. */
int copy_main(int argc, char **argv);

#endif
