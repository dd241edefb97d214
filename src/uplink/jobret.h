/* jobret.h - a job's return as it goes to a master: {jid, fun, fun_args, return, retcode, success, metadata?,
 * schedule?}.
 *
 * A return that no message can hold, or no master makes values of, would wait for ever and hold up others, so
 * where it is made a failed one takes its place, which says why.
 *
 * Layer      minion
 * Threads    any
 * Ownership  jobs are BORROWED
 * Tests      tests/unit/minion/test_job.c, tests/unit/uplink/test_outbox.c
 */
#ifndef UPLINK_JOBRET_H
#define UPLINK_JOBRET_H

#include "salt/base.h"

/* Of `result`, {return, retcode, success}. NEW, or NULL when the job names no function. */
json_t *jobret_of(const json_t *job, const json_t *result);
/* That it failed, and why. NEW, or NULL as above. TAKES text. */
json_t *jobret_failed(const json_t *job, char *text);
/* NEW: as it is, without fun_args, or failed: as much of it as a message may hold; NULL for NULL. TAKES
 * *ret_p. */
json_t *jobret_fitting(json_t **ret_p);

#endif
