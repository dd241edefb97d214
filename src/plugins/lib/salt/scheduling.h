/* scheduling.h - what the execution and the state module `schedule` share: the schedule as it is listed, and
 * a job made of keywords.
 *
 * Layer      plugins/lib/salt
 * Ownership  said per function
 * Errors     a negative errno with *err; what a user got wrong is {result: False, comment} instead
 * Tests      tests/t/3500-schedule.bats, tests/cases/exec/schedule.*.json
 */
#ifndef PLUGINS_LIB_SALT_SCHEDULING_H
#define PLUGINS_LIB_SALT_SCHEDULING_H

#include "salt/plugin.h"

/* Ask the scheduler of the minion (minion/parts/mschedule.c). TAKES `request`. NEW, or NULL with *err. */
json_t *scheduling_ask(call_ctx_t *ctx, json_t *request, fail_t *err);

typedef struct scheduling_list {
    bool show_all, hide_disabled, offline;
    const char *where; /* "opts", "pillar"; NULL: both */
} scheduling_list_t;

/* NEW {NAME: job}: without what is not a job's own, `enabled` always there. NULL with *err. */
json_t *scheduling_list(call_ctx_t *ctx, const scheduling_list_t *how, fail_t *err);
/* NEW: a job; or {result: False, comment: why not}. NULL with *err when `function` is missing. */
json_t *scheduling_item(const char *name, const json_t *kwargs, fail_t *err);
/* True when the item is such a refusal. */
bool scheduling_refused(const json_t *item);
/* Why `kwargs` name times that don't go together, in Salt's words; NULL: they do. */
const char *scheduling_conflict(const json_t *kwargs);

#endif
