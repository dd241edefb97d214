/* saidwords.h - words of a command that a module hands on: a text that others said names no keyword.
 *
 * Layer      plugins/lib
 * Errors     FAIL_INVOCATION and -EINVAL, naming the word
 * Tests      tests/cases/exec/saltutil.cmd.json, tests/t/7110-peer.bats
 */
#ifndef PLUGINS_LIB_SALT_SAIDWORDS_H
#define PLUGINS_LIB_SALT_SAIDWORDS_H

#include "salt/plugin.h"

/* 0 when no positional text in the list is a NAME=VALUE whose name a peer said: a template gave it as one
 * argument. */
int saidwords_check(call_ctx_t *ctx, const json_t *list, fail_t *err);

#endif
