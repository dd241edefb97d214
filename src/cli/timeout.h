/* timeout.h - how long an operator's program waits for a master that does not answer.
 *
 * Layer      cli
 * Threads    one
 * Errors     none; the call that took too long fails with -ETIMEDOUT
 * Tests      tests/t/0310-salt-cli.bats, tests/t/1100-auth.bats; tests/unit/common/test_local.c for the line
 */
#ifndef CLI_TIMEOUT_H
#define CLI_TIMEOUT_H

#include "common/local/client.h"

/* Each request over `line` waits three times `timeout_ms`, which is --timeout or the option timeout: Salt
 * sends it three times. On a terminal a line says after a second why nothing happens. */
void timeout_set(local_client_t *line, int64_t timeout_ms);

#endif
