/* targets.h - which accepted minions a request means.
 *
 * Layer      master
 * Threads    the front loop's, which nobody may keep for long: who asks has a bound of work, an administrator a larger one
 *            than others. Expressions and what they are held against come from minions too
 * Errors     -EDQUOT when the work is used up, with the minion at which it was; what target_new says
 * Tests      tests/t/1200-hostile-minion.bats, tests/museum/operators.bats
 */
#ifndef MASTER_JOBS_TARGETS_H
#define MASTER_JOBS_TARGETS_H

#include "common/match/work.h"
#include "master/front/front.h"

/* What a question may cost in this fleet. */
void targets_work(const front_t *self, bool admin, match_work_t *work);

/* `request` is {tgt, tgt_type, delimiter?, pillar_exact?: who asks is no administrator, see
 * target_pillar_exact}. Sorted slots of accepted minions (NEW, free()), and NEW array of ids named but not
 * accepted. */
int targets_match(front_t *self, const json_t *request, uint32_t **ret_slots, size_t *ret_n,
                  json_t **ret_missing, fail_t *err);
/* The same in a question that has more to do: `work` pays. */
int targets_match_within(front_t *self, const json_t *request, match_work_t *work, uint32_t **ret_slots,
                         size_t *ret_n, json_t **ret_missing, fail_t *err);

#endif
