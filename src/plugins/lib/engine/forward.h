/* forward.h - a way out for an engine: messages to one address by TCP, UDP or a Unix socket, again and again
 * until it takes them.
 *
 * A message is sent whole on one connection. Which of those sent last have arrived when a connection breaks,
 * nobody knows: a receiver that ends loses what it had not read, as with Salt's engines.
 *
 * Layer      plugins/lib/engine
 * Threads    one
 * Tests      tests/t/5335-forward.bats
 */
#ifndef PLUGINS_LIB_ENGINE_FORWARD_H
#define PLUGINS_LIB_ENGINE_FORWARD_H

#include "common/base/buf.h"
#include "salt/base.h"

typedef struct forward forward_t;

/* `name`: of the engine, for its log. `host`: a name, an address, or "unix:///path" for a stream. NEW. */
forward_t *forward_new(const char *name, const char *host, int port, bool udp);
void forward_destroy(forward_t **self_p);
/* Sends the message, connecting anew and waiting as long as that takes. A datagram that no network takes is
 * left out, and the log says so. */
void forward_send(forward_t *self, const buf_t *message);

#endif
