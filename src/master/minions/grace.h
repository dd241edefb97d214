/* grace.h - how long a disconnected minion may still be expected to reconnect: after the master's start or a
 * new master key, when the whole fleet does.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/3100-loss.bats, tests/unit/master/test_publish.c
 */
#ifndef MASTER_MINIONS_GRACE_H
#define MASTER_MINIONS_GRACE_H

#include "master/front/front.h"

void grace_begin(front_t *front, int64_t now_ms); /* expect all minions from now on */
int64_t grace_ms(const front_t *front);           /* the time for this fleet */
/* True when the minion has not connected since the last grace_begin and its time has not passed. */
bool grace_expects(const front_t *front, const minion_t *m);
/* Milliseconds that it may still take; 0: it is connected, or its time is over. */
int64_t grace_awaits_ms(const front_t *front, const minion_t *m);

#endif
