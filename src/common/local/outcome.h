/* outcome.h - what is known of one target of a job, and the words an operator reads when it did not return.
 *
 * Layer      common/local
 * Threads    any
 * Tests      tests/unit/common/test_follow.c
 */
#ifndef COMMON_LOCAL_OUTCOME_H
#define COMMON_LOCAL_OUTCOME_H

#include "salt/base.h"

typedef enum outcome {
    OUTCOME_UNHEARD, /* sent, and nothing heard since */
    OUTCOME_DELIVERED,
    OUTCOME_RUNNING,
    OUTCOME_RETURNED, /* final from here on */
    OUTCOME_NOT_CONNECTED,
    OUTCOME_NOT_DELIVERED,
    OUTCOME_LOST,
    OUTCOME_ELSEWHERE,
    OUTCOME_NOT_BEGUN,    /* of a batch that was halted */
    OUTCOME_NOT_ACCEPTED, /* named by the operator, but no accepted key has this id */
    OUTCOMES
} outcome_t;

/* A verdict's word (include/salt/requests.def). A word of a newer master counts as unheard. */
outcome_t outcome_parse(const char *word);
/* True when the return came or can't come any more. */
bool outcome_final(outcome_t o);
/* NEW: "Minion did not return. [...]" and what to do about it. `away`: it runs the job, but has no
 * connection. */
char *outcome_text(outcome_t o, bool away, const char *jid);

#endif
