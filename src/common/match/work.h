/* work.h - the budget of one question. An untrusted user's target is matched against data that untrusted
 * minions report, and either side may be crafted to take long. Values looked at and steps of regular
 * expressions are counted; the thread's processor time is checked now and then.
 *
 * Layer      common/match
 * Threads    one at a time: that of match_work_begin
 * Ownership  BORROWED by all functions; NULL stands for unlimited work
 * Tests      tests/unit/common/test_match.c */
#ifndef COMMON_MATCH_WORK_H
#define COMMON_MATCH_WORK_H

#include "salt/base.h"

typedef struct match_work {
    uint64_t steps;   /* left */
    uint64_t look_at; /* when `steps` falls to this, the clock is read again */
    int64_t end_us;   /* deadline in the thread's processor time */
    bool spent;       /* used up: nothing matches any more */
    size_t guesses;   /* comparisons with pillars that a target asked for */
} match_work_t;

/* Starts a budget of `steps` and of `ms` milliseconds of this thread's processor time. */
void match_work_begin(match_work_t *self, uint64_t steps, unsigned ms);
/* Takes steps from the budget. False when it is used up, from then on always. */
bool match_work_take(match_work_t *self, uint64_t steps);
/* Sets -EDQUOT with advice for the user, and returns it. */
int match_work_fail(fail_t *err);
/* Excludes the processor time since clock_thread_us() gave `since_us` from the budget: it was other work. */
void match_work_excuse(match_work_t *self, int64_t since_us);

#endif
