/* mbus.h - the minion's own bus: what happens on this minion. Events of event.fire, in a job or by salt-call
 * on this machine, which its reactor hears too; what it sends to its masters; its jobs, as they begin and
 * return.
 *
 * Its socket in sock_dir speaks as the master's (common/local/client.h): {op: "event", tag, data} -> {}, and
 * {op: "schedule", do, ...} (mschedule.h) -> {value}, and {op: "events", tags} -> {seq}; then {push: "event",
 * seq, tag, data}, and {push: "missed", from, to, count} to who does not keep up. There is no journal.
 *
 * Layer      minion
 * Threads    the job server's
 * Tests      tests/t/6100-reactor.bats, tests/t/5000-events.bats, tests/unit/minion/test_mbus.c
 */
#ifndef MINION_MBUS_H
#define MINION_MBUS_H

#include "minion/jobserver.h"

typedef struct mbus mbus_t;

mbus_t *mbus_new(jobserver_t *owner); /* NEW */
void mbus_destroy(mbus_t **self_p);
void mbus_open(mbus_t *self); /* its socket; without one nobody hears it, which the log says */
/* Of event.fire: the reactor hears it too. `data` BORROWED. */
void mbus_event(mbus_t *self, const char *tag, json_t *data);
/* To who listens. */
void mbus_tell(mbus_t *self, const char *tag, json_t *data);
/* A job's part of it: "new" or "ret/ID". */
void mbus_job(mbus_t *self, const json_t *job, const char *what, json_t *data);
int mbus_fd(const mbus_t *self); /* to be polled; -1: none */
void mbus_read(mbus_t *self);
/* While there are no descriptors for who knocks: when to try again (monotonic; 0: nobody waits), and that. */
int64_t mbus_next_ms(const mbus_t *self);
void mbus_tick(mbus_t *self, int64_t now);

#endif
