/* enginebus.h - an engine's way to the bus of the daemon that started it: the master's, or the minion's.
 *
 * Layer      plugins/lib/engine
 * Threads    one
 * Errors     negative errno with *err
 * Tests      tests/t/5330-engines.bats
 */
#ifndef PLUGINS_LIB_ENGINE_ENGINEBUS_H
#define PLUGINS_LIB_ENGINE_ENGINEBUS_H

#include "salt/plugin.h"

typedef struct enginebus enginebus_t;

bool enginebus_is_master(call_ctx_t *ctx);
/* Listens to the tags (NULL: all). NEW. */
enginebus_t *enginebus_new(call_ctx_t *ctx, const json_t *tags, fail_t *err);
void enginebus_destroy(enginebus_t **self_p);
/* The next event, {"tag", "data"}: NEW. Waits for it, and connects anew while the daemon is away. */
json_t *enginebus_next(enginebus_t *self);
/* One operation of the daemon's socket (include/salt/requests.def). TAKES *request_p. NEW reply. */
json_t *enginebus_ask(call_ctx_t *ctx, json_t **request_p, fail_t *err);

#endif
