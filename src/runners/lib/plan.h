/* plan.h - the plan of an orchestration as a graph: what waits for what, and which steps decide how long all
 * takes.
 *
 * A step without `parallel` begins when those before it have ended; every step waits for its requisites.
 *
 * Pure. Layer      runners/lib
 * Threads    any
 * Tests      tests/unit/runners/test_plan.c
 */
#ifndef RUNNERS_LIB_PLAN_H
#define RUNNERS_LIB_PLAN_H

#include "salt/base.h"

typedef struct plan plan_t;

/* `chunks`: low chunks in their order. `times`: {tag: {"ms": how long, "result": as a state's}} of those that
 * ran; NULL: none did, and each counts the same. Both BORROWED while it lives. NEW. */
plan_t *plan_new(const json_t *chunks, const json_t *times);
void plan_destroy(plan_t **self_p);

/* Numbers of the steps on the critical path, first to last. NEW array of integers. */
json_t *plan_critical(const plan_t *self);

/* The plan as "text", "dot" or "mermaid". NEW; NULL with *err for another word. */
char *plan_draw(const plan_t *self, const char *format, fail_t *err);

#endif
