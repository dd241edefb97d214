/* statefail.h - fire events for failed states: "MODULE.FUNCTION" and salt/job/JID/sub/ID/error/FUN for each
 * failed state of a state.highstate or state.sls.
 *
 * Layer      master
 * Threads    the front loop's
 * Limits     LIMIT_FAILED_STATES of one return; the log says how many failed
 * Tests      tests/t/5150-failed-states.bats
 */
#ifndef MASTER_JOBS_STATEFAIL_H
#define MASTER_JOBS_STATEFAIL_H

#include "master/front/front.h"

/* `body`: the return as values. `user`: who published the job. `known`: a master published it; a job that a
 * minion made up fires no MODULE.FUNCTION, only the event with its jid and id. Does nothing for other
 * functions or retcode 0. */
void statefail_fire(front_t *self, const char *id, const char *jid, const json_t *body, const char *user,
                    bool known);

#endif
