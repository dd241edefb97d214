/* jid.h - the jid of a new job or run: one that no other has.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_jid.c, tests/museum/operators.bats
 */
#ifndef MASTER_JOBS_JID_H
#define MASTER_JOBS_JID_H

#include "common/base/clock.h"
#include "master/front/front.h"

/* Draw a jid that no job has, neither in the table nor in the store. */
void jid_fresh(front_t *front, char out[CLOCK_STAMP_LEN]);
/* The jid that a request to publish gives, or a fresh one if it gives none. False with *err: not a jid, of
 * the future, in use, or not to be told for an error of the store. Whether the sender may give one is the
 * caller's business. */
bool jid_of(front_t *front, const json_t *request, char out[CLOCK_STAMP_LEN], fail_t *err);
/* Microseconds by which a jid lies ahead of the clock; 0 or less: not ahead. 0 for no jid. */
int64_t jid_ahead_us(const char *jid);

#endif
