/* eval_logic.c - truth of expressions: comparisons, tests, and, or, not, without making boolean values.
 *
 * For each node the cheapest function is chosen when it is compiled: comparisons of small numbers without
 * calls, tests without argument binding. eval_nested's accounting (step and level) is the same here. */
#include "common/jinja/eval.h"

/* ---- comparisons -------------------------------------------------------------------------------------- */

/* Compares small integers by their tagged representation, which keeps their order, without branches: the one
 * of three relations that holds is tested against those that the operator accepts. */
static inline bool
compare_small(const py_t *a, const py_t *b, uint8_t op)
{
    enum { LESS = 1, SAME = 2, MORE = 4 };
    static const uint8_t wanted[] = { [PY_LT] = LESS,        [PY_LE] = LESS | SAME, [PY_EQ] = SAME,
                                      [PY_NE] = LESS | MORE, [PY_GT] = MORE,        [PY_GE] = MORE | SAME };
    int64_t x = (int64_t) (intptr_t) a, y = (int64_t) (intptr_t) b;
    return (wanted[op] & ((x < y) * LESS | (x == y) * SAME | (x > y) * MORE)) != 0;
}

/* Any comparison, `in` included: small integers inline, the rest by Python's rules. 1, 0, or -1 raised. */
static int
eval_logic_compare(py_t *a, py_t *b, uint8_t op)
{
    if (op != CMP_IN && op != CMP_NOT_IN)
        return py_small(a) && py_small(b) ? compare_small(a, b, op) : py_compare(a, b, op);
    int in = py_in(a, b);
    return in < 0 || op == CMP_IN ? in : in == 0;
}

/* A single comparison of two operands, which are borrowed where possible. */
static int
truth_of_pair(jrun_t *r, const jnode_t *node)
{
    AUTO(py) x = NULL;
    py_t *a = jborrow(r, node->compare.first, &x);
    if (a == NULL)
        return -1;
    AUTO(py) y = NULL;
    py_t *b = jborrow(r, node->compare.v[0], &y);
    return b != NULL ? eval_logic_compare(a, b, node->compare.ops[0]) : -1;
}

/* Common case: a variable of this function against a small number. */
static int
truth_of_number(jrun_t *r, const jnode_t *node)
{
    const py_t *a = r->frame->v[node->compare.first->name.ref.slot];
    const py_t *b = node->compare.v[0]->constant.value;
    return py_small(a) ? compare_small(a, b, node->compare.ops[0]) : truth_of_pair(r, node);
}

/* Chained comparison "a < b < c"; each operand is evaluated once, as in Python. */
static int
truth_of_chain(jrun_t *r, const jnode_t *node)
{
    AUTO(py) left = jeval(r, node->compare.first);
    int truth = left != NULL ? 1 : -1;
    for (size_t i = 0; truth > 0 && i < node->compare.n; i++) {
        py_t *right = jeval(r, node->compare.v[i]);
        truth = right != NULL ? eval_logic_compare(left, right, node->compare.ops[i]) : -1;
        py_unref(left);
        left = right;
    }
    return truth;
}

/* Chooses the function of a comparison. */
static jtruth_fn *
truth_of_compare(const jnode_t *node)
{
    const jnode_t *a = node->compare.first, *b = node->compare.v[0];
    if (node->compare.n > 1)
        return truth_of_chain;
    bool number = a->kind == N_NAME && a->name.ref.hops == 0 && b->kind == N_CONST &&
                  py_small(b->constant.value) && node->compare.ops[0] < CMP_IN;
    return number ? truth_of_number : truth_of_pair;
}

/* ---- not, and, or ------------------------------------------------------------------------------------- */

static int
truth_of_not(jrun_t *r, const jnode_t *node)
{
    if (py_tick() < 0 || py_enter() < 0)
        return -1;
    int truth = jtruth(r, node->pair.left);
    py_leave();
    return truth < 0 ? -1 : truth == 0;
}

/* Short-circuit; the value itself is never made, unlike in jeval_choice, which serves uses as a value. */
static int
truth_of_and(jrun_t *r, const jnode_t *node)
{
    if (py_tick() < 0 || py_enter() < 0)
        return -1;
    int truth = jtruth(r, node->pair.left);
    if (truth > 0)
        truth = jtruth(r, node->pair.right);
    py_leave();
    return truth;
}

static int
truth_of_or(jrun_t *r, const jnode_t *node)
{
    if (py_tick() < 0 || py_enter() < 0)
        return -1;
    int truth = jtruth(r, node->pair.left);
    if (truth == 0)
        truth = jtruth(r, node->pair.right);
    py_leave();
    return truth;
}

/* Python's `and` and `or` as values: the left operand when it decides, else the right one. */
py_t *
jeval_choice(jrun_t *r, const jnode_t *node)
{
    AUTO(py) left = jeval(r, node->pair.left);
    int truth = left != NULL ? py_truth(left) : -1;
    if (truth < 0)
        return NULL;
    bool enough = (truth > 0) == (node->kind == N_OR);
    return enough ? STEAL(left) : jeval(r, node->pair.right);
}

/* ---- tests -------------------------------------------------------------------------------------------- */

/* Tests that have no or one further argument and need no binding. */
static int
truth_of_one(jrun_t *r, const jnode_t *node)
{
    const jfilter_t *f = node->filter.row;
    AUTO(py) hold = NULL;
    py_t *v = jborrow(r, node->filter.node, &hold);
    return v != NULL ? f->test(r->ctx, &v) : -1;
}

/* A test with one argument, "x is divisibleby 3": the slots are on the stack, and nothing is bound. */
static int
truth_of_two(jrun_t *r, const jnode_t *node)
{
    const jfilter_t *f = node->filter.row;
    AUTO(py) x = NULL;
    AUTO(py) y = NULL;
    py_t *slots[2] = { jborrow(r, node->filter.node, &x), NULL };
    if (slots[0] == NULL || (slots[1] = jborrow(r, node->filter.args.pos.v[0], &y)) == NULL)
        return -1;
    return f->test(r->ctx, slots);
}

static int
truth_of_test(jrun_t *r, const jnode_t *node)
{
    AUTO(py) v = jeval_filter(r, node);
    return v != NULL ? py_truth(v) : -1;
}

/* Chooses the function of a test: the fast ones need a known row and plain arguments. */
static jtruth_fn *
truth_of_tested(const jnode_t *node)
{
    const jfilter_t *f = node->filter.row;
    size_t more = node->filter.args.pos.n;
    if (f == NULL || (f->flags & JF_TEST) == 0 || node->filter.node == NULL || more > 1 ||
        !jargs_plain(&node->filter.args, f))
        return truth_of_test;
    return more == 0 ? truth_of_one : truth_of_two;
}

/* ---- any other value ---------------------------------------------------------------------------------- */

/* Truth of any other expression's value. */
static int
truth_of_value(jrun_t *r, const jnode_t *node)
{
    AUTO(py) hold = NULL;
    py_t *v = jborrow(r, node, &hold);
    return v == PY_True ? 1 : v == PY_False ? 0 : v != NULL ? py_truth(v) : -1;
}

/* ---- which of them ------------------------------------------------------------------------------------ */

static jtruth_fn *
truth_by_kind(const jnode_t *node)
{
    switch (node->kind) {
    case N_COMPARE:
        return truth_of_compare(node);
    case N_TEST:
        return truth_of_tested(node);
    default:
        return truth_of_value;
    }
}

/* For operands that evaluate something: counts a step and a level. */
static int
truth_nested(jrun_t *r, const jnode_t *node)
{
    if (py_tick() < 0 || py_enter() < 0)
        return -1;
    int truth = truth_by_kind(node)(r, node);
    py_leave();
    return truth;
}

/* `not`, `and` and `or` count their own steps; the other functions are wrapped when operands evaluate
 * something. */
void
jtruth_choose(jnode_t *node, bool leaves)
{
    static jtruth_fn *const logic[N_KINDS] = {
        [N_NOT] = truth_of_not, [N_AND] = truth_of_and, [N_OR] = truth_of_or
    };
    jtruth_fn *truth = logic[node->kind] != NULL ? logic[node->kind] : truth_by_kind(node);
    bool nests = truth != truth_of_value && logic[node->kind] == NULL && !leaves;
    node->truth = nests ? truth_nested : truth;
}

py_t *
jeval_truth(jrun_t *r, const jnode_t *node)
{
    int truth = jtruth(r, node);
    return truth >= 0 ? py_bool(truth > 0) : NULL;
}
