/* mreactor.h - the minion's reactor: files that react, by `caller`, to events of the minion itself: those of
 * event.fire, in a job or by salt-call on this machine.
 *
 * Each file reacts in a child like a job's, one event at a time; different files at the same time.
 *
 * Layer      minion
 * Threads    the job server's; the child's is reactor_run.h
 * Tests      tests/t/6100-reactor.bats
 */
#ifndef MINION_MREACTOR_H
#define MINION_MREACTOR_H

#include "minion/jobserver.h"

typedef struct mreactor mreactor_t;

mreactor_t *mreactor_new(jobserver_t *owner); /* NEW; what is wrong is told in the log */
void mreactor_destroy(mreactor_t **self_p);
void mreactor_reload(mreactor_t *self); /* the configuration changed */

void mreactor_event(mreactor_t *self, const char *tag, json_t *data);
int64_t mreactor_next_ms(const mreactor_t *self); /* monotonic; 0: never */
void mreactor_tick(mreactor_t *self);
/* A job with "react" is over, or could not begin. */
void mreactor_ended(mreactor_t *self, const json_t *job);

#endif
