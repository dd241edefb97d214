/* ports.h - the minions' ports: ROUTER, XPUB and the plaintext one, and who came or went at them.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1200-hostile-minion.bats, tests/t/1270-load.bats
 */
#ifndef MASTER_MINIONS_PORTS_H
#define MASTER_MINIONS_PORTS_H

#include "master/front/front.h"

/* Who came or went by now: before one is cut by its descriptor. */
void ports_look(front_t *front);
void *ports_hello(const front_t *front); /* the plaintext port's socket; NULL: it is closed */
/* What reads the sockets from now on; `request` is also called when a monitor has something. */
void ports_serve(front_t *front, zloop_fn *request, zloop_fn *publish, zloop_fn *hello);

#endif
