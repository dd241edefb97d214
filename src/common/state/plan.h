/* plan.h - low chunks as a graph: what waits for what, and which steps decide how long all takes.
 *
 * Every step waits for its requisites. In an orchestration, a step without `parallel` keeps those behind it
 * waiting, too.
 *
 * Pure. Layer      common/state
 * Threads    any
 * Tests      tests/unit/common/test_plan.c
 */
#ifndef COMMON_STATE_PLAN_H
#define COMMON_STATE_PLAN_H

#include "salt/base.h"

typedef struct plan plan_t;

/* `chunks`: low chunks in their order. `times`: {tag: {"ms": how long, "result": as a state's}} of those that
 * ran; NULL: none did, and each counts the same. Both BORROWED while it lives. `ordered`: the order of steps
 * counts, not their requisites alone. NEW. */
plan_t *plan_new(const json_t *chunks, const json_t *times, bool ordered);
void plan_destroy(plan_t **self_p);

/* Numbers of the steps on the critical path, first to last. NEW array of integers. */
json_t *plan_critical(const plan_t *self);

#define PLAN_FORMATS "text, dot, mermaid, json, svg or html"
enum { PLAN_STEPS_DRAWN = 2000, PLAN_EDGES_DRAWN = 20000 }; /* in a picture */
/* The plan in one of the formats. svg and html need nothing else to be looked at. NEW; NULL with *err for
 * another word, or a plan that is too large for a picture. */
char *plan_draw(const plan_t *self, const char *format, fail_t *err);

#endif
