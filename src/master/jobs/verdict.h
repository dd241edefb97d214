/* verdict.h - the message that followers of a job get about one of its targets.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/3100-loss.bats
 */
#ifndef MASTER_JOBS_VERDICT_H
#define MASTER_JOBS_VERDICT_H

#include "master/front/front.h"

/* NEW {push: "verdict", jid, id, verdict, pid?, connected?: false}; NULL when there is nothing to tell. */
json_t *verdict_push(const front_t *front, const job_t *job, const job_target_t *target);

#endif
