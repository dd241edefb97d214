/* refusals.h - pace the reports of refused peers: each kind may report a few at once, then one at a time.
 * Every kind has a pace of its own, and its newest message is kept until it may be reported, so a flood of
 * one kind hides no other.
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
    CUT_STRANGER, /* a connection whose key is not accepted */
    CUT_MINION,
    REFUSED_SALT, /* a peer that speaks plain ZeroMQ, as Salt does */
    REFUSALS
} refusal_t;

typedef struct refusals refusals_t;

refusals_t *refusals_new(void);
void refusals_destroy(refusals_t **self_p);
/* True: report it now. False: it waits for its turn and replaces an older one of its kind. */
bool refusals_add(refusals_t *self, refusal_t kind, const char *address, const char *reason, int64_t now_ms);
/* A message whose turn has come: NEW texts. False: none. */
bool refusals_due(refusals_t *self, int64_t now_ms, char **ret_address, char **ret_reason);
/* Number of messages replaced since the last call. */
uint64_t refusals_unsaid(refusals_t *self);

#endif
