/* ast_walk.h - visiting the children of a node.
 *
 * Layer      common/jinja, private
 * Threads    any
 * Ownership  nothing changes hands
 * Errors     none; a visitor stops the walk by returning false
 * Tests      tests/unit/common/test_jinja_parse.c
 */
#ifndef COMMON_JINJA_PARSE_AST_WALK_H
#define COMMON_JINJA_PARSE_AST_WALK_H

#include "common/jinja/parse/ast.h"

typedef bool ast_visit_fn(jnode_t *node, void *cookie);

/* Direct children only; false when a visitor stopped. */
bool ast_children(const jnode_t *node, ast_visit_fn *visit, void *cookie);
bool ast_list(const jlist_t *list, ast_visit_fn *visit, void *cookie);

#endif
