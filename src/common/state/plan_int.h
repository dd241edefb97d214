/* plan_int.h - a plan's inside, for the files that draw it.
 *
 * Layer      common/state, for plan*.c only
 * Threads    any
 * Tests      tests/unit/common/test_plan.c
 */
#ifndef COMMON_STATE_PLAN_INT_H
#define COMMON_STATE_PLAN_INT_H

#include "common/base/buf.h"
#include "common/state/plan.h"

/* A dependency between two steps. */
typedef struct plan_edge {
    size_t from;
    const char *why; /* BORROWED: a requisite's name; NULL: only the order */
} plan_edge_t;

/* One step with its edges, its time, and its state in the walk over the graph. */
typedef struct plan_node {
    const json_t *chunk;
    char *tag;
    plan_edge_t *edges;
    size_t n_edges;
    double ms, end;
    size_t via; /* the edge's step that ended last; SIZE_MAX: it could begin at once */
    int walk;   /* 0 not yet, 1 under way, 2 done */
    bool ran, failed, critical;
} plan_node_t;

struct plan {
    plan_node_t *nodes;
    size_t n;
    double total;
    bool timed;
    bool ordered; /* the order of steps makes them wait, too */
};

/* BORROWED: the step's ID. */
const char *plan_id_of(const plan_node_t *node);
/* "salt.function test.ping on m*". NEW. */
char *plan_what_of(const plan_node_t *node);
/* True for steps that do not keep later ones waiting. */
bool plan_is_parallel(const plan_node_t *node);

/* Append the plan as a picture, alone or in a page. 0, or -E2BIG with *err. */
int plan_draw_svg(const plan_t *self, buf_t *out, fail_t *err);
int plan_draw_html(const plan_t *self, buf_t *out, fail_t *err);

#endif
