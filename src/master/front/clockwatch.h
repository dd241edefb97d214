/* clockwatch.h - decide whether the wall clock can be trusted. What is too old by it is deleted for good or
 * no longer accepted, so ages count only while it is.
 *
 * A clock that was set by more than a correction is in doubt for a day, in which somebody will notice, or
 * until it is right again; so is one that disagrees with the newest event in the store at the start. The
 * doubt is stored, so that no restart ends it.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_clockwatch.c, tests/t/3100-loss.bats, tests/t/1130-key-life.bats
 */
#ifndef MASTER_FRONT_CLOCKWATCH_H
#define MASTER_FRONT_CLOCKWATCH_H

#include "master/front/front.h"

typedef struct clockwatch {
    int64_t ahead_ms; /* wall minus monotonic clock when last trusted */
    int64_t seen_ms;  /* the same at the last tick; 0: none yet */
    int64_t until_ms; /* monotonic: in doubt until then; 0: trusted */
    bool unkept;      /* not in the store yet */
} clockwatch_t;

/* True while the clock is in doubt: nothing counts as old. */
bool clockwatch_doubts(const front_t *front);

#endif
