/* fold.h - constant expressions, evaluated before a template runs.
 *
 * Layer      common/jinja, private
 * Threads    one at a time
 * Ownership  values are kept by the tree
 * Errors     none: an expression that raises is left for the run, which reports the place
 * Tests      tests/unit/common/test_jinja.c, tests/cases/jinja, tests/oracle/jinja_random.py */
#ifndef COMMON_JINJA_PARSE_FOLD_H
#define COMMON_JINJA_PARSE_FOLD_H

#include "common/jinja/run.h"

/* A literal gets its value; false: the number is too large. */
bool jfold_literal(jtree_t *tree, jnode_t *node);
/* Call after the operands: marks a constant expression and replaces it by its value when that is small and
 * immutable. `run` has no variables. */
void jfold(jtree_t *tree, jrun_t *run, jescape_t escape, jnode_t *node);
/* Turns a constant that is printed into text; false: not a constant. */
bool jfold_output(jtree_t *tree, jrun_t *run, jescape_t escape, jnode_t *node);

#endif
