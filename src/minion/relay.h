/* relay.h - questions of jobs that the networking process answers, because a master must be asked: the host
 * operation
 * {"op": "ask", "ask": {"what", ...}}.
 *
 * A question is asked again when the networking process is started anew, and forgotten when its job ends.
 * Which master gets it, and which one when that goes away, the networking process decides.
 *
 * Layer      minion
 * Threads    the job server's
 * Tests      tests/t/4000-files.bats
 */
#ifndef MINION_RELAY_H
#define MINION_RELAY_H

#include "minion/jobserver.h"

typedef struct relay relay_t;

relay_t *relay_new(jobserver_t *owner); /* NEW */
void relay_destroy(relay_t **self_p);
/* The job is answered later, by job_answer. -EAGAIN when it asks too much at one time. */
int relay_ask(relay_t *self, job_proc_t *asker, json_t *ask, fail_t *err);
/* {"t": "answer", "id", "answer"} from the networking process. */
void relay_answer(relay_t *self, json_t *frame);
/* No master for too long: who waits is told so ({code: EHOSTUNREACH, offline: true}). */
void relay_tick(relay_t *self);
int64_t relay_next_ms(const relay_t *self);                /* monotonic; 0: nobody waits for that */
void relay_again(relay_t *self);                           /* a new networking process */
void relay_forget(relay_t *self, const job_proc_t *asker); /* it has ended */

#endif
