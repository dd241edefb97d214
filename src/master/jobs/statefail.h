/* statefail.h - events of failed states: "MODULE.FUNCTION" and salt/job/JID/sub/ID/error/FUN for each state
 * of a state.highstate or state.sls that failed.
 *
 * Layer      master
 * Threads    the front loop's
 * Limits     LIMIT_FAILED_STATES of one return; more are told in the log
 * Tests      tests/t/5150-failed-states.bats
 */
#ifndef MASTER_JOBS_STATEFAIL_H
#define MASTER_JOBS_STATEFAIL_H

#include "master/front/front.h"

/* `body`: a return as the minion sent it. `user`: whose job it was. */
void statefail_fire(front_t *self, const char *id, const char *jid, const json_t *body, const char *user);

#endif
