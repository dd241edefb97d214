/* clockwatch.h - whether the wall clock is to be believed. What is too old by it is deleted for good, or let
 * in no more.
 *
 * A clock that was set by more than a correction is in doubt for a day, in which somebody would see it, or
 * until it is right again; so is one that says something else than the newest event in the store when the
 * master starts. The doubt is in the store, too, so that no restart ends it.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_clockwatch.c, tests/t/3100-loss.bats, tests/t/1130-key-life.bats
 */
#ifndef MASTER_FRONT_CLOCKWATCH_H
#define MASTER_FRONT_CLOCKWATCH_H

#include "master/front/front.h"

typedef struct clockwatch {
    int64_t ahead_ms; /* the wall clock before the monotonic one, when it was last believed; */
    int64_t seen_ms;  /* the same at the last look; 0: there was none */
    int64_t until_ms; /* monotonic: in doubt until then; 0: it is believed */
    bool unkept;      /* the store has yet to be told of that */
} clockwatch_t;

/* Nothing counts as old. */
bool clockwatch_doubts(const front_t *front);

#endif
