/* jobret.h - a job's return as the message that a master gets: {"m": "ret", jid, fun, fun_args, return,
 * retcode, success, metadata?, schedule?, out?}.
 *
 * The text is written once, in the process that ran the job; the job server, the spool, the networking
 * process and the socket to the master pass it on without reading it.
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

typedef struct jobret {
    char *jid;
    char *text; /* the whole message, `len` bytes of JSON */
    size_t len;
} jobret_t;

void jobret_destroy(jobret_t **self_p);

/* NEW return from `result`, {return, retcode, success}; NULL when the job names no function. */
json_t *jobret_of(const json_t *job, const json_t *result);
/* NEW return of a failed job with `text` as its value, or NULL as above. TAKES text. */
json_t *jobret_failed(const json_t *job, char *text);

/* NEW message of a return: unchanged if a message can hold it; else without fun_args; else failed, with the
 * reason. NULL for NULL. TAKES *ret_p. */
jobret_t *jobret_make(json_t **ret_p);
/* Takes the message that a job's process wrote: *ret_self NEW. -EPROTO when it is not a return of `jid` that
 * masters can read (wire.h), -ENOMEM without memory. */
int jobret_read(const char *text, size_t len, const char *jid, jobret_t **ret_self);

/* BORROWED: what follows '{' when the return is written as an object without "m", up to and with its '}'. */
const char *jobret_members(const jobret_t *self, size_t *ret_len);
/* NEW {jid, fun, ...}: the return as a value, for the few who look into it. */
json_t *jobret_value(const jobret_t *self);

#endif
