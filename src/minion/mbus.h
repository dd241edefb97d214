/* mbus.h - the minion's own bus: events of event.fire, in a job or by salt-call on this machine. The reactor
 * hears them.
 *
 * Its socket in sock_dir speaks as the master's (common/local/client.h): {op: "event", tag, data} -> {}. It is
 * there while somebody listens.
 *
 * Layer      minion
 * Threads    the job server's
 * Tests      tests/t/6100-reactor.bats
 */
#ifndef MINION_MBUS_H
#define MINION_MBUS_H

#include "minion/jobserver.h"

typedef struct mbus mbus_t;

mbus_t *mbus_new(jobserver_t *owner); /* NEW */
void mbus_destroy(mbus_t **self_p);
void mbus_listen(mbus_t *self, bool yes); /* whether the socket is there */
void mbus_event(mbus_t *self, const char *tag, json_t *data);
int mbus_fd(const mbus_t *self); /* to be polled; -1: none */
void mbus_read(mbus_t *self);

#endif
