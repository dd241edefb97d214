/* notes.h - idempotent requests and work after a commit. A request may carry a note {kind, ref, part}, a name
 * that its sender chose, elsewhere called an idempotency key: the first request with it starts a job, any later one gets the first reply. The
 * reactor and orchestrations rely on it to repeat after a crash what they may have begun.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_front.c
 */
#ifndef MASTER_JOBS_NOTES_H
#define MASTER_JOBS_NOTES_H

#include "master/front/front.h"

/* Look for a request's note. 1: known, *ret_reply (NEW) is the first request's with `again` set; 0: no note,
 * or a new one; negative errno with *err: an invalid note, a user who may not give one, or a failed read. */
int notes_find(front_t *self, const lconn_t *c, const json_t *request, json_t **ret_reply, fail_t *err);
/* Remember the note of the job of `reply`, whose row is queued for the store. Call once, after notes_find
 * said 0. */
void notes_keep(front_t *self, const json_t *request, const json_t *reply);
/* A callback for when every row queued so far (jobs, returns, kept events) is committed; called at once when
 * all are. `c` may be NULL. It is not called for a connection that closes first. */
typedef void later_fn(front_t *self, const char *jid, lconn_t *c);
void later_add(front_t *self, later_fn *fn, const char *jid, lconn_t *c);
/* The same for a push to `c`: TAKES msg. */
void later_answer(front_t *self, json_t *msg, lconn_t *c);
/* True while a callback for this jid and connection is queued. */
bool later_waits(const front_t *self, const char *jid, const lconn_t *c);

#endif
