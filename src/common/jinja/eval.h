/* eval.h - what the files of the evaluator share.
 *
 * Layer      common/jinja, private
 * Threads    one
 * Ownership  as run.h
 * Errors     as run.h
 * Tests      tests/unit/common/test_jinja.c, tests/cases/jinja
 */
#ifndef COMMON_JINJA_EVAL_H
#define COMMON_JINJA_EVAL_H

#include "common/jinja/run.h"
#include "common/py/py_obj.h"

static inline py_t *
jeval(jrun_t *r, const jnode_t *node)
{
    return node->eval(r, node);
}
/* Whether it is true: 1, 0, or -1 raised. */
static inline int
jtruth(jrun_t *r, const jnode_t *node)
{
    return node->truth(r, node);
}
/* Decides how an expression whose operands are decided is evaluated. */
void jeval_choose(jnode_t *node);

/* A value to look at while the expression lasts: BORROWED from a variable or constant where it can be, since
 * variables change only between expressions; else NEW in *ret_hold too. NULL raised. */
static inline py_t *
jborrow(jrun_t *r, const jnode_t *node, py_t **ret_hold)
{
    if (node->kind == N_CONST)
        return node->constant.value;
    py_t *v = node->kind == N_NAME ? *jframe_at(r->frame, node->name.ref) : NULL;
    return v != NULL ? v : (*ret_hold = jeval(r, node));
}

/* `and` and `or` as values; what has an answer as one. NEW. */
py_t *jeval_choice(jrun_t *r, const jnode_t *node);
py_t *jeval_truth(jrun_t *r, const jnode_t *node);
py_t *jeval_filter(jrun_t *r, const jnode_t *node);
/* Whether arguments need no binding: as many as there may be, all by position. */
bool jargs_plain(const jargs_t *args, const jfilter_t *f);
/* Sets node->truth; `leaves`: no operand evaluates anything. */
void jtruth_choose(jnode_t *node, bool leaves);

#endif
