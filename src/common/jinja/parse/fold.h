/* fold.h - what is known before a template runs: expressions of constants.
 *
 * Layer      common/jinja, private
 * Threads    one at a time
 * Ownership  values are kept by the tree
 * Errors     none: what raises is left for the run, which then tells where
 * Tests      tests/unit/common/test_jinja.c, tests/cases/jinja, tests/oracle/jinja_random.py
 */
#ifndef COMMON_JINJA_PARSE_FOLD_H
#define COMMON_JINJA_PARSE_FOLD_H

#include "common/jinja/run.h"

/* A literal gets its value; false: the number is too large. */
bool jfold_literal(jtree_t *tree, jnode_t *node);
/* After its operands: finds out whether an expression is constant, and puts its value in its place if nobody
 * can tell it from another one. `run` is one without variables. */
void jfold(jtree_t *tree, jrun_t *run, jescape_t escape, jnode_t *node);
/* A constant that is printed becomes text; false: it is no constant. */
bool jfold_output(jtree_t *tree, jrun_t *run, jescape_t escape, jnode_t *node);

#endif
