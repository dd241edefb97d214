/* targets.h - the accepted minions that a request's target matches.
 *
 * Layer      master
 * Threads    the front loop's. It must not stall, so a match has a budget of work, larger for administrators;
 *            expressions, and the data they are compared with, come from minions too
 * Errors     -EDQUOT when the budget is used up, naming the minion; those of target_new
 * Tests      tests/t/1200-hostile-minion.bats, tests/museum/operators.bats
 */
#ifndef MASTER_JOBS_TARGETS_H
#define MASTER_JOBS_TARGETS_H

#include "common/match/work.h"
#include "master/front/front.h"

/* Set the budget of one match: a user's grows with the number of minions. */
void targets_work(const front_t *self, bool admin, match_work_t *work);

/* `request` is {tgt, tgt_type, delimiter?, pillar_exact?}; pillar_exact marks a request by a user who is no
 * administrator, see target_pillar_exact. *ret_slots: sorted slots of accepted minions, NEW, free();
 * *ret_missing: NEW array of ids that a list names and no accepted minion has. 0, or a negative errno with
 * *err. */
int targets_match(front_t *self, const json_t *request, uint32_t **ret_slots, size_t *ret_n,
                  json_t **ret_missing, fail_t *err);
/* The same as one step of a larger question that shares the budget `work`. */
int targets_match_within(front_t *self, const json_t *request, match_work_t *work, uint32_t **ret_slots,
                         size_t *ret_n, json_t **ret_missing, fail_t *err);

#endif
