/* mschedule.h - the minion's scheduler: the option `schedule`, the pillar's `schedule`, and what the module
 * `schedule` changes.
 *
 * What is due runs as any job does, whether a master is connected or not: a child with the same limits, a jid
 * of its own, a mark and a return in the spool. The return names its schedule and goes to every master that
 * listens.
 *
 * Layer      minion
 * Threads    the job server's
 * Ownership  said per function
 * Errors     a job that can't be understood is told in the log and never runs
 * Tests      tests/t/3500-schedule.bats, tests/unit/common/test_schedule.c
 */
#ifndef MINION_MSCHEDULE_H
#define MINION_MSCHEDULE_H

#include "minion/jobserver.h"

typedef struct mschedule mschedule_t;

mschedule_t *mschedule_new(jobserver_t *owner); /* NEW */
void mschedule_destroy(mschedule_t **self_p);
void mschedule_reload(mschedule_t *self); /* the configuration was read again */
void mschedule_pillar(mschedule_t *self); /* there is a new pillar */
void mschedule_connected(mschedule_t *self);

void mschedule_tick(mschedule_t *self);
int64_t mschedule_next_ms(const mschedule_t *self); /* monotonic; 0: never */

/* {do: "list" (where), "status" (name, time_fmt), "set" (name, schedule), "delete", "enable_job",
 * "skip_job" (name, time, time_fmt), "postpone_job" (new_time too), "enable" (enabled), "run_job", "save",
 * "reload" (schedule); persist}. NEW: the schedule as it is then; for "status" the job's part, with its
 * times. NULL with *err. */
json_t *mschedule_ask(mschedule_t *self, json_t *request, fail_t *err);

#endif
