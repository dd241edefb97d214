/* work.c - the budget of one question: steps and the thread's processor time. Reading the clock is a system
 * call, so it happens once in LOOK_EACH steps; once spent, a budget stays spent. */
#include "common/match/work.h"

#include "common/base/clock.h"

/* Steps between two looks at the clock, some 10 us. */
#define LOOK_EACH 512

static void
work_look(match_work_t *self)
{
    self->spent = self->steps == 0 || clock_thread_us() >= self->end_us;
    self->look_at = self->steps > LOOK_EACH ? self->steps - LOOK_EACH : 0;
}

void
match_work_begin(match_work_t *self, uint64_t steps, unsigned ms)
{
    self->steps = steps;
    self->guesses = 0;
    self->end_us = clock_thread_us() + ms * 1000LL;
    work_look(self);
}

bool
match_work_take(match_work_t *self, uint64_t steps)
{
    if (self == NULL)
        return true;
    if (self->spent)
        return false;
    self->steps -= steps < self->steps ? steps : self->steps;
    if (self->steps <= self->look_at)
        work_look(self);
    return !self->spent;
}

int
match_work_fail(fail_t *err)
{
    return fail_set(err, -EDQUOT,
                    "it takes more work than one question may: make its regular expressions and wildcards "
                    "simpler, or name the minions");
}

/* Moves the deadline by the processor time used since `since_us`. */
void
match_work_excuse(match_work_t *self, int64_t since_us)
{
    if (self != NULL)
        self->end_us += clock_thread_us() - since_us;
}
