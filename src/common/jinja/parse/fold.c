/* fold.c - evaluates constant expressions when a template is compiled.
 *
 * The same expressions as in Jinja's optimizer are folded, which shows in the lines of errors: folded output
 * has none. Values are kept only when small and immutable; expressions that raise are left for the run, which
 * reports the place. Each level evaluates anew, so the depth is bounded. */
#include "common/jinja/parse/ast_walk.h"
#include "common/jinja/eval.h"
#include "common/jinja/parse/fold.h"
#include "common/jinja/parse/lex.h"
#include "common/py/py_obj.h"

/* Limits per constant: bytes of text, size of a value, and depth of the expressions that are tried. */
enum { TEXT_MAX = 64 * 1024, VALUE_MAX = 4096, LIMBS_MAX = VALUE_MAX / sizeof(mp_limb_t), DEPTH_MAX = 50 };

/* The template owns the value. TAKES it. */
static void
keep_value(jtree_t *tree, py_t *value)
{
    tree->values = arena_grow(tree->arena, tree->values, tree->n_values, sizeof(py_t *));
    tree->values[tree->n_values++] = value;
}

/* Turns a node into a constant. TAKES `value`. */
static void
fold_become(jtree_t *tree, jnode_t *node, py_t *value)
{
    keep_value(tree, value);
    node->kind = N_CONST;
    node->constant.value = value;
    node->constant.folded = true;
    jeval_choose(node);
}

/* ---- literals ----------------------------------------------------------------------------------------- */

/* An integer literal; prefixes are 0b, 0o and 0x. NULL when it is too large. */
static py_t *
integer(const char *text, size_t len)
{
    bool prefixed = text[0] == '0' && len > 1 && (text[1] | 32) >= 'b';
    int base = !prefixed ? 10 : (text[1] | 32) == 'x' ? 16 : (text[1] | 32) == 'o' ? 8 : 2;
    AUTO(py) digits = py_str(prefixed ? text + 2 : text, len - (prefixed ? 2 : 0));
    return py_toint(digits, base);
}

/* Names of literals are case variants of True, False and None; integers may have a prefix. */
bool
jfold_literal(jtree_t *tree, jnode_t *node)
{
    static const struct {
        const char *name;
        py_t *value;
    } named[] = { { "True", PY_True }, { "False", PY_False }, { "None", PY_None } };
    const char *text = node->constant.text;
    size_t len = node->constant.len;
    node->constant_expr = true;
    if (node->constant.value != NULL)
        return true;
    for (size_t i = 0; node->constant.token == T_NAME && i < NELEMS(named); i++)
        if (strcmp(text, named[i].name) == 0)
            node->constant.value = named[i].value;
    if (node->constant.value != NULL)
        return true;
    node->constant.value = node->constant.token == T_INTEGER ? integer(text, len)
                           : node->constant.token == T_FLOAT ? py_float(strtod(text, NULL))
                                                             : py_str(text, len);
    keep_value(tree, node->constant.value);
    return node->constant.value != NULL;
}

/* ---- expressions -------------------------------------------------------------------------------------- */

static bool
is_constant(jnode_t *node, void *cookie)
{
    return node->constant_expr;
}

/* 1 when the branch of `and`, `or` or a condition that counts is constant; the others need not be, as they
 * are not evaluated. 0 when not, -1 when undecided or raised. */
static int
decided(jrun_t *run, const jnode_t *node)
{
    const jnode_t *test = node->kind == N_COND ? node->cond.test : node->pair.left;
    int truth = test->constant_expr ? jtruth(run, test) : -1;
    if (truth < 0)
        return -1;
    if (node->kind != N_COND)
        return (truth > 0) == (node->kind == N_OR) || node->pair.right->constant_expr;
    const jnode_t *branch = truth > 0 ? node->cond.then : node->cond.otherwise;
    return branch != NULL && branch->constant_expr;
}

/* True when a comparison chain is constant up to a link that is false: later operands are never evaluated. */
static bool
chain_decided(jrun_t *run, const jnode_t *node)
{
    if (!node->compare.first->constant_expr)
        return false;
    for (size_t i = 0; i < node->compare.n; i++) {
        if (node->compare.v[i]->constant_expr)
            continue;
        jnode_t known = *node;
        known.compare.n = i;
        jeval_choose(&known);
        return i > 0 && jtruth(run, &known) == 0;
    }
    return true;
}

/* True when the node's value is known: all parts that would be evaluated are constant and have no effects. */
static bool
can_fold(jrun_t *run, const jnode_t *node)
{
    switch (node->kind) {
    case N_TUPLE:
    case N_LIST:
    case N_DICT:
    case N_BINARY:
    case N_UNARY:
    case N_NOT:
    case N_CONCAT:
    case N_SLICE:
        return ast_children(node, is_constant, NULL);
    case N_COMPARE:
        return chain_decided(run, node);
    case N_GETATTR:
    case N_GETITEM:
        /* an undefined class may report its use, which must happen at run time */
        return run->s->engine->options.undefined->used == NULL && ast_children(node, is_constant, NULL);
    case N_AND:
    case N_OR:
    case N_COND:
        return decided(run, node) > 0;
    case N_FILTER:
    case N_TEST:
        return jfilter_is_pure(node->filter.row) && node->filter.node != NULL &&
               ast_children(node, is_constant, NULL);
    default:
        return false;
    }
}

/* True for small immutable values: a shared object is indistinguishable from a fresh one. */
static bool
fold_is_plain(const py_t *v)
{
    switch (py_type(v)) {
    case PY_NONE:
    case PY_BOOL:
    case PY_FLOAT:
        return true;
    case PY_INT:
        return py_small(v) || abs(((const pybig_t *) v)->n) <= LIMBS_MAX;
    case PY_STR:
        return PY_LEN(v) <= VALUE_MAX;
    case PY_TUPLE:
        if (py_seq_len(v) > VALUE_MAX)
            return false;
        for (size_t i = 0; i < py_seq_len(v); i++)
            if (!fold_is_plain(py_seq_at(v, i)))
                return false;
        return true;
    default:
        return false;
    }
}

/* Makes the constant list of `x in ['a', 'b']` once, as a tuple, since the list itself is never visible. */
static void
fold_choices(jtree_t *tree, jnode_t *node)
{
    if (node->kind != N_LIST)
        return;
    const jlist_t list = node->list;
    for (size_t i = 0; i < list.n; i++)
        if (list.v[i]->kind != N_CONST)
            return;
    py_t *choices = py_tuple(list.n);
    for (size_t i = 0; i < list.n; i++)
        py_tuple_set(choices, i, list.v[i]->constant.value);
    fold_become(tree, node, choices);
}

/* Chooses the node's functions, and folds unless escaping is unknown. */
void
jfold(jtree_t *tree, jrun_t *run, jescape_t escape, jnode_t *node)
{
    jeval_choose(node);
    if (node->kind == N_CONST)
        return;
    if (node->kind == N_COMPARE) {
        /* Only the last operand of a chain may become a tuple. In the middle of a chain the list is also
         * an operand of what follows. */
        size_t last = node->compare.n - 1;
        if (node->compare.ops[last] == CMP_IN || node->compare.ops[last] == CMP_NOT_IN)
            fold_choices(tree, node->compare.v[last]);
    }
    jeval_choose(node);
    if (escape != ESCAPE_ASK) {
        /* Evaluates the node and keeps the value; an exception is dropped, and raised again by the run. */
        run->ctx->autoescape = escape == ESCAPE_YES;
        node->constant_expr = node->depth <= DEPTH_MAX && can_fold(run, node);
        /* Lists and dicts are mutable, so each evaluation makes a new one; a slice is not a value. */
        if (node->constant_expr && node->kind != N_LIST && node->kind != N_DICT && node->kind != N_SLICE) {
            /* Constant parts are joined as texts and escaped only when printed. */
            if (node->kind == N_CONCAT)
                node->op = ESCAPE_NO;
            AUTO(py) v = jeval(run, node);
            if (v != NULL && fold_is_plain(v))
                fold_become(tree, node, STEAL(v));
            node->constant_expr = py_raised() == NULL;
        }
        py_clear();
    }
}

bool
jfold_output(jtree_t *tree, jrun_t *run, jescape_t escape, jnode_t *node)
{
    if (!node->constant_expr || escape == ESCAPE_ASK)
        return false;
    buf_auto_t text = BUF_INIT;
    AUTO(py) v = jeval(run, node);
    run->out = &text;
    bool ok = v != NULL && jprint(run, v, escape == ESCAPE_YES) == 0;
    run->out = NULL;
    py_clear();
    if (ok && text.len <= TEXT_MAX) {
        node->kind = N_DATA;
        node->constant.text = arena_text(tree->arena, buf_str(&text), text.len);
        node->constant.len = text.len;
        node->constant.folded = true;
    }
    return ok;
}
