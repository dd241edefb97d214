/* mine.h - the mine: values that minions gave for each other; and what the master forgets of minions.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/7100-mine.bats
 */
#ifndef MASTER_MINE_H
#define MASTER_MINE_H

#include "common/match/work.h"
#include "master/front.h"

/* A minion's or salt-call's mine_ask: it is answered. */
void mine_asked(front_t *self, peer_t *peer, const json_t *body);
/* What minions have put into the mine, as `id` may see it: NEW, or NULL with *err. `work` pays for all of it. */
json_t *mine_get(front_t *self, const char *id, const json_t *request, match_work_t *work, fail_t *err);
/* Forget what is known of targets: NEW [id] of them. `request`: {tgt, tgt_type, what, mine_function?}. */
json_t *mine_forget(front_t *self, const json_t *request, fail_t *err);

#endif
