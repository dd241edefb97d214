/* ast.c - visits the children of a node in the order of Jinja's fields. The order matters: scope analysis and
 * the search for undeclared names depend on which use of a variable comes first. */
#include "common/jinja/parse/ast_walk.h"

static bool
walk_list(const jlist_t *list, ast_visit_fn *visit, void *cookie)
{
    for (size_t i = 0; i < list->n; i++)
        if (!visit(list->v[i], cookie))
            return false;
    return true;
}

static bool
walk_one(jnode_t *node, ast_visit_fn *visit, void *cookie)
{
    return node == NULL || visit(node, cookie);
}

static bool
walk_args(const jargs_t *args, ast_visit_fn *visit, void *cookie)
{
    if (!walk_list(&args->pos, visit, cookie))
        return false;
    for (size_t i = 0; i < args->nkw; i++)
        if (!visit(args->values[i], cookie))
            return false;
    return walk_one(args->star, visit, cookie) && walk_one(args->starkw, visit, cookie);
}

static bool
walk_compare(const jnode_t *node, ast_visit_fn *visit, void *cookie)
{
    if (!visit(node->compare.first, cookie))
        return false;
    for (size_t i = 0; i < node->compare.n; i++)
        if (!visit(node->compare.v[i], cookie))
            return false;
    return true;
}

/* Branches in Jinja's order: its `elif` nodes are children of the first `if`: test, body, further branches.
 */
static bool
walk_if(const jnode_t *node, ast_visit_fn *visit, void *cookie)
{
    for (size_t i = 0; i < node->branch.n; i++)
        if (!walk_one(node->branch.tests[i], visit, cookie) ||
            !walk_list(&node->branch.bodies[i], visit, cookie))
            return false;
    return true;
}

/* Parameters, then their defaults. */
static bool
walk_signature(const jsignature_t *sig, ast_visit_fn *visit, void *cookie)
{
    for (size_t i = 0; i < sig->nargs; i++)
        if (!visit(sig->args[i], cookie))
            return false;
    for (size_t i = 0; i < sig->ndefaults; i++)
        if (!visit(sig->defaults[i], cookie))
            return false;
    return true;
}

/* Jinja's order: target, iterable, body, else, condition. */
static bool
walk_for(const jnode_for_t *loop, ast_visit_fn *visit, void *cookie)
{
    return visit(loop->target, cookie) && visit(loop->iter, cookie) &&
           walk_list(&loop->body, visit, cookie) && walk_list(&loop->otherwise, visit, cookie) &&
           walk_one(loop->test, visit, cookie);
}

static bool
walk_statement(const jnode_t *node, ast_visit_fn *visit, void *cookie)
{
    switch (node->kind) {
    case N_OUTPUT:
        return walk_list(&node->output.list, visit, cookie);
    case N_FOR:
        return walk_for(node->loop, visit, cookie);
    case N_IF:
        return walk_if(node, visit, cookie);
    case N_MACRO:
    case N_CALL_BLOCK:
        return walk_one(node->macro.call, visit, cookie) && walk_signature(node->macro.sig, visit, cookie) &&
               walk_list(&node->macro.body, visit, cookie);
    case N_FILTER_BLOCK:
        return walk_list(&node->capture.body, visit, cookie) && visit(node->capture.filter, cookie);
    case N_ASSIGN_BLOCK:
        return visit(node->capture.target, cookie) && walk_one(node->capture.filter, visit, cookie) &&
               walk_list(&node->capture.body, visit, cookie);
    case N_WITH:
        return walk_list(&node->with.targets, visit, cookie) &&
               walk_list(&node->with.values, visit, cookie) && walk_list(&node->with.body, visit, cookie);
    case N_BLOCK:
        return walk_list(&node->block->body, visit, cookie);
    case N_EXTENDS:
        return visit(node->extends.template, cookie);
    case N_INCLUDE:
    case N_IMPORT:
    case N_FROM:
        return visit(node->import->template, cookie);
    case N_ASSIGN:
        return visit(node->assign.target, cookie) && visit(node->assign.value, cookie);
    case N_EXPR:
        return visit(node->pair.left, cookie);
    case N_AUTOESCAPE:
        return visit(node->autoescape.value, cookie) && walk_list(&node->autoescape.body, visit, cookie);
    default:
        return true;
    }
}

bool
ast_children(const jnode_t *node, ast_visit_fn *visit, void *cookie)
{
    switch (node->kind) {
    case N_TUPLE:
    case N_LIST:
    case N_DICT:
    case N_CONCAT:
        return walk_list(&node->list, visit, cookie);
    case N_BINARY:
    case N_AND:
    case N_OR:
        return visit(node->pair.left, cookie) && visit(node->pair.right, cookie);
    case N_UNARY:
    case N_NOT:
        return visit(node->pair.left, cookie);
    case N_COMPARE:
        return walk_compare(node, visit, cookie);
    case N_GETATTR:
        return visit(node->attr.node, cookie);
    case N_GETITEM:
        return visit(node->attr.node, cookie) && visit(node->attr.arg, cookie);
    case N_SLICE:
        return walk_one(node->slice.start, visit, cookie) && walk_one(node->slice.stop, visit, cookie) &&
               walk_one(node->slice.step, visit, cookie);
    case N_CALL:
        return visit(node->call.callee, cookie) && walk_args(&node->call.args, visit, cookie);
    case N_FILTER:
    case N_TEST:
        return walk_one(node->filter.node, visit, cookie) && walk_args(&node->filter.args, visit, cookie);
    case N_COND:
        return visit(node->cond.test, cookie) && visit(node->cond.then, cookie) &&
               walk_one(node->cond.otherwise, visit, cookie);
    default:
        return walk_statement(node, visit, cookie);
    }
}

bool
ast_list(const jlist_t *list, ast_visit_fn *visit, void *cookie)
{
    return walk_list(list, visit, cookie);
}
