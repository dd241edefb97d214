/* resolve.h - values at addresses (sdb://PROFILE/KEY) of a configuration, for the program that reads it:
 * common/conf/conf_addresses.c has the conversation.
 *
 * Layer      engine
 * Tests      tests/t/7336-sdb-configuration.bats
 */
#ifndef ENGINE_RESOLVE_H
#define ENGINE_RESOLVE_H

#include "salt/plugin.h"

/* Asks the drivers for all values that `question` wants, and writes the lines of the answer to `fd`. `opts`
 * are the context's options, which get values as they come: a profile or a driver may need them. 0, or a
 * negative errno when `fd` is closed. */
int resolve_run(call_ctx_t *ctx, json_t *opts, json_t *question, int fd, fail_t *err);

#endif
