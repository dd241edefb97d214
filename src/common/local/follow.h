/* follow.h - one published job as an operator sees it: who returned, who can't, and when to stop waiting.
 *
 * Pure: the clock comes in as a number, messages come in as values, nothing is sent.
 *
 * Layer      common/local
 * Threads    one at a time
 * Ownership  a job belongs to who made it; ids that come out are BORROWED from it
 * Tests      tests/unit/common/test_follow.c
 */
#ifndef COMMON_LOCAL_FOLLOW_H
#define COMMON_LOCAL_FOLLOW_H

#include "common/local/outcome.h"
#include "salt/base.h"

#define FOLLOW_QUIET_MS 1000 /* final verdicts are told after this long without news, and at the end */
/* A minion that runs the job may lose its connection for a moment: when only such are left, they are waited
 * for so long, or --timeout if that is less. */
#define FOLLOW_AWAY_MS  3000

typedef struct follow follow_t;

/* NEW, from the master's reply to publish or follow: `minions` and `missing` are arrays of ids (BORROWED). */
follow_t *follow_new(const char *jid, const json_t *minions, const json_t *missing, int64_t now_ms);
void follow_destroy(follow_t **self_p);
const char *follow_jid(const follow_t *self);

/* Take a push of the master. True when it is a return that was not seen before. */
bool follow_push(follow_t *self, const json_t *push, int64_t now_ms);
/* The master knows nothing of this job any more: what has not returned is told as it stands. */
void follow_abandon(follow_t *self);

/* True when waiting shall end. `timeout_ms` counts from the last news; the timeout does not end a job that
 * still runs on a connected minion. */
bool follow_over(const follow_t *self, int64_t timeout_ms, int64_t now_ms);
/* When follow_over or follow_silent may next answer something else, without news; INT64_MAX: never. */
int64_t follow_next_ms(const follow_t *self, int64_t timeout_ms);

/* The next target, by id, that is to be told as not returned, each once; NULL when there is none now.
 * `*ret_text` NEW. */
const char *follow_silent(follow_t *self, bool over, int64_t now_ms, outcome_t *ret_outcome, char **ret_text);

typedef struct follow_counts {
    size_t targets, returned, running, silent; /* silent: final without a return */
} follow_counts_t;
follow_counts_t follow_counts(const follow_t *self);
/* NEW: up to `max` ids of those that run the job, comma-separated. */
char *follow_runners(follow_t *self, size_t max);

#endif
