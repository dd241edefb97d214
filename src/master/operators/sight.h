/* sight.h - which events the master shows on a connection that has become somebody: common/rules/view.h, with
 * what the master knows of jobs and minions.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1310-eauth.bats, tests/unit/common/test_who_may.c
 */
#ifndef MASTER_OPERATORS_SIGHT_H
#define MASTER_OPERATORS_SIGHT_H

#include "master/events/listen.h"
#include "master/operators/lconn.h"

/* The connection's user has begun this job or function: its events are his on all his connections. */
void sight_begun(front_t *front, const lconn_t *c, const char *jid);
/* listen_may_fn; the cookie is the connection. */
listen_may_fn sight_shows;

#endif
