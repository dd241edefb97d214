/* work.h - what one question may cost in all: a target that somebody asks for is held against what others say
 * of themselves, and either may be made to take long. Counted are values looked at and steps of regular
 * expressions; the processor time of the thread is looked at now and then.
 *
 * Layer      common/match
 * Threads    one at a time: that of match_work_begin
 * Ownership  BORROWED wherever it is given; NULL stands for work that nobody counts
 * Tests      tests/unit/common/test_match.c
 */
#ifndef COMMON_MATCH_WORK_H
#define COMMON_MATCH_WORK_H

#include "salt/base.h"

typedef struct match_work {
    uint64_t steps;   /* left */
    uint64_t look_at; /* at so many steps left the time is looked at again */
    int64_t end_us;   /* of the thread's processor time */
    bool spent;       /* from now on nothing matches */
} match_work_t;

void match_work_begin(match_work_t *self, uint64_t steps, unsigned ms);
/* False: it is used up, and stays so. */
bool match_work_take(match_work_t *self, uint64_t steps);
/* -EDQUOT, and what to do. */
int match_work_fail(fail_t *err);
/* What was done since clock_thread_us() said `since_us` is not this question's. */
void match_work_excuse(match_work_t *self, int64_t since_us);

#endif
