/* pillars.h - compiles the minions' pillars: a queue, worker threads, and what was compiled before.
 *
 * Only the connection that asked is answered, and only while its key is still that minion's.
 *
 * Layer      master
 * Threads    the front loop's; each compile runs in an actor of its own, on copies
 * Tests      tests/t/4100-pillar.bats, tests/t/1200-hostile-minion.bats
 */
#ifndef MASTER_PILLARS_H
#define MASTER_PILLARS_H

#include "master/front.h"

pillars_t *pillars_new(front_t *front); /* NEW */
/* Waits a moment for compiles under way; false when one goes on all the same. */
bool pillars_destroy(pillars_t **self_p);
void pillars_tick(pillars_t *self); /* questions for whose worker there was no descriptor */
/* The configuration changed: nothing that was kept holds any more. */
void pillars_reload(pillars_t *self);
/* What was compiled for this minion is not the answer to the next question. */
void pillars_forget(pillars_t *self, const char *id);
/* A minion's or salt-call's pillar_ask of `len` bytes. */
void pillars_ask(pillars_t *self, peer_t *peer, const json_t *body, size_t len);

#endif
