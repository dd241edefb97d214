/* eval.h - shared by the files of the evaluator.
 *
 * Layer      common/jinja, private
 * Threads    one
 * Ownership  as run.h
 * Errors     as run.h
 * Tests      tests/unit/common/test_jinja.c, tests/cases/jinja */
#ifndef COMMON_JINJA_EVAL_H
#define COMMON_JINJA_EVAL_H

#include "common/jinja/run.h"
#include "common/py/py_obj.h"

static inline py_t *
jeval(jrun_t *r, const jnode_t *node)
{
    return node->eval(r, node);
}
/* Truth of an expression: 1, 0, or -1 raised. */
static inline int
jtruth(jrun_t *r, const jnode_t *node)
{
    return node->truth(r, node);
}
/* Chooses the functions of an expression whose operands have theirs. */
void jeval_choose(jnode_t *node);

/* Value for the duration of an expression: BORROWED from a variable or constant where possible, as variables
 * change only between expressions; else NEW and also in *ret_hold, for the caller to release. NULL raised. */
static inline py_t *
jborrow(jrun_t *r, const jnode_t *node, py_t **ret_hold)
{
    if (node->kind == N_CONST)
        return node->constant.value;
    py_t *v = node->kind == N_NAME ? *jframe_at(r->frame, node->name.ref) : NULL;
    return v != NULL ? v : (*ret_hold = jeval(r, node));
}

/* Values of `and` and `or`; of comparisons, tests and `not`; of filters. NEW. */
py_t *jeval_choice(jrun_t *r, const jnode_t *node);
py_t *jeval_truth(jrun_t *r, const jnode_t *node);
py_t *jeval_filter(jrun_t *r, const jnode_t *node);
/* True when the arguments are positional only and their number fits the signature, so that binding can be
 * skipped. */
bool jargs_plain(const jargs_t *args, const jfilter_t *f);
/* Sets node->truth. `leaves`: all operands are constants or variables. */
void jtruth_choose(jnode_t *node, bool leaves);

#endif
