/* grace.h - how long a minion that is not connected may still take to come back: after the master's start,
 * after its key was replaced, after its connection ended a moment ago.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/3100-loss.bats, tests/unit/master/test_publish.c
 */
#ifndef MASTER_MINIONS_GRACE_H
#define MASTER_MINIONS_GRACE_H

#include "master/front/front.h"

void grace_begin(front_t *front, int64_t now_ms); /* all minions are on their way back from now on */
int64_t grace_ms(const front_t *front);           /* how long that takes in this fleet */
/* It was here before the master's start, or before its key changed, and has not come back yet. */
bool grace_expects(const front_t *front, const minion_t *m);
/* How long a minion may still take; 0: it is here, or its time is over. */
int64_t grace_awaits_ms(const front_t *front, const minion_t *m);

#endif
