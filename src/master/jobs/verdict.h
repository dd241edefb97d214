/* verdict.h - what followers of a job are told of one of its targets.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/3100-loss.bats
 */
#ifndef MASTER_JOBS_VERDICT_H
#define MASTER_JOBS_VERDICT_H

#include "master/front/front.h"

/* NEW push; NULL: nothing, or its return tells it. */
json_t *verdict_push(const front_t *front, const job_t *job, const job_target_t *target);

#endif
