/* jobret.h - a job's return as it goes to a master: {jid, fun, fun_args, return, retcode, success, metadata?,
 * schedule?}.
 *
 * A return that no message can hold, or that masters refuse, would wait in the outbox for ever and hold up
 * others. So each is checked where it is made, and one that does not fit is replaced by a failed one that
 * says why.
 *
 * Layer      uplink
 * Threads    any
 * Ownership  jobs are BORROWED
 * Tests      tests/unit/minion/test_job.c, tests/unit/uplink/test_outbox.c
 */
#ifndef UPLINK_JOBRET_H
#define UPLINK_JOBRET_H

#include "salt/base.h"

/* NEW return from `result`, {return, retcode, success}; NULL when the job names no function. */
json_t *jobret_of(const json_t *job, const json_t *result);
/* NEW return of a failed job with `text` as its value, or NULL as above. TAKES text. */
json_t *jobret_failed(const json_t *job, char *text);
/* NEW: the return unchanged if a message can hold it; else without fun_args; else failed, with the reason.
 * NULL for NULL. TAKES *ret_p. */
json_t *jobret_fitting(json_t **ret_p);

#endif
