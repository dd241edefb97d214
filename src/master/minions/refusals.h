/* refusals.h - what peers were refused, as operators hear of it: of each kind so many at once, then one after
 * the other. A kind has a pace of its own and its newest is told at last, so no flood of one hides another.
 *
 * Layer      master; pure but for its memory
 * Threads    one at a time
 * Tests      tests/unit/master/test_refusals.c, tests/t/1270-load.bats
 */
#ifndef MASTER_MINIONS_REFUSALS_H
#define MASTER_MINIONS_REFUSALS_H

#include "salt/base.h"

typedef enum refusal {
    REFUSED_HELLO,
    REFUSED_MESSAGE,
    CUT_STRANGER, /* a connection whose key is not accepted, or not yet */
    CUT_MINION,
    REFUSED_SALT, /* a peer that speaks ZeroMQ as Salt does */
    REFUSALS
} refusal_t;

typedef struct refusals refusals_t;

refusals_t *refusals_new(void);
void refusals_destroy(refusals_t **self_p);
/* Whether to tell of it now. If not it waits in the place of its kind, and is told when there is none
 * newer by then. */
bool refusals_add(refusals_t *self, refusal_t kind, const char *address, const char *reason, int64_t now_ms);
/* One that may be told by now: NEW texts. False: none. */
bool refusals_due(refusals_t *self, int64_t now_ms, char **ret_address, char **ret_reason);
/* How many gave way to newer ones since this was last asked. */
uint64_t refusals_unsaid(refusals_t *self);

#endif
