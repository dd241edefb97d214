/* plan_layout.h - places for the nodes of a directed graph, in rows from top to bottom: what an edge comes from
 * stands above.
 *
 * After K. Sugiyama, S. Tagawa, M. Toda, "Methods for Visual Understanding of Hierarchical System Structures",
 * 1981: rows by the longest way from above, of at most LAYOUT_ROW_MAX nodes each; edges over several rows get
 * a place of their own in each, as long as there are not too many; the order in a row by the means of the
 * neighbours' places, and then the places themselves. Edges that close a circle count for nothing.
 *
 * Pure. Layer      common/state
 * Threads    any
 * Errors     none: every graph has a layout
 * Tests      tests/unit/common/test_plan_layout.c
 */
#ifndef COMMON_STATE_PLAN_LAYOUT_H
#define COMMON_STATE_PLAN_LAYOUT_H

#include "salt/base.h"

enum { LAYOUT_ROW_MAX = 12, LAYOUT_BENDS_MAX = 4000 };

typedef struct layout_edge {
    size_t from, to; /* numbers of nodes */
} layout_edge_t;

/* Sizes in the caller's unit. */
typedef struct layout_sizes {
    double width, height; /* of a node */
    double gap_x, gap_y,
        gap_edge; /* between nodes of a row, between rows, beside an edge that passes a row */
} layout_sizes_t;

typedef struct layout_point {
    double x, y;
} layout_point_t;

/* An edge from the middle of a node's lower side to the middle of another's upper side. Between them are the
 * upper and the lower end of its place in each row that it passes. */
typedef struct layout_path {
    layout_point_t *points; /* owned */
    size_t n;               /* at least 2 */
} layout_path_t;

typedef struct layout {
    double width, height;
    layout_point_t *nodes; /* owned: upper left corners */
    layout_path_t *paths;  /* owned: one per edge, in their order */
    size_t n_paths;
} layout_t;

/* NEW. Edges from a node to itself, or of numbers that are too large, are a bug of the caller. */
layout_t *layout_new(size_t n, const layout_edge_t *edges, size_t n_edges, layout_sizes_t sizes);
void layout_destroy(layout_t **self_p); /* accepts NULL */

#endif
