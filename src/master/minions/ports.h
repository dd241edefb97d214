/* ports.h - the minions' ports: ROUTER (returns), XPUB (publish) and the plaintext hello port, with monitors
 * that report which connections came and went.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1200-hostile-minion.bats, tests/t/1270-load.bats
 */
#ifndef MASTER_MINIONS_PORTS_H
#define MASTER_MINIONS_PORTS_H

#include "master/front/front.h"

/* Read the monitors: required before a connection is cut by its descriptor. */
void ports_look(front_t *front);
void *ports_hello(const front_t *front); /* socket of the hello port; NULL: closed */
/* Set the handlers of the sockets; `request` is also called when a monitor has something. */
void ports_serve(front_t *front, zloop_fn *request, zloop_fn *publish, zloop_fn *hello);

#endif
