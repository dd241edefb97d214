/* notes.h - work that is named by who asks for it (a note: {kind, ref, part}), so that it is begun once
 * however often it is asked for; and what waits for a commit before it may go on.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_front.c
 */
#ifndef MASTER_JOBS_NOTES_H
#define MASTER_JOBS_NOTES_H

#include "master/front/front.h"

/* Whether a request's note, if it has one, is known: 1 and NEW *ret_reply, that of the first request and
 * `again`; 0; or a negative errno. */
int notes_find(front_t *self, const lconn_t *c, const json_t *request, json_t **ret_reply, fail_t *err);
/* The job of `reply` is queued for the store with the request's note. */
void notes_keep(front_t *self, const json_t *request, const json_t *reply);
/* What is done once all jobs, returns and kept events that are queued now are committed; at once when they
 * are. `c` may be NULL; a connection that ends is not called for. */
typedef void later_fn(front_t *self, const char *jid, lconn_t *c);
void later_add(front_t *self, later_fn *fn, const char *jid, lconn_t *c);
/* The same for an answer: TAKES msg. */
void later_answer(front_t *self, json_t *msg, lconn_t *c);
bool later_waits(const front_t *self, const char *jid, const lconn_t *c);

#endif
