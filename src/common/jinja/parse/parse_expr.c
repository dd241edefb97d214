/* parse_expr.c - expressions: one function per level of precedence, as in Jinja's parser.
 *
 * From loosest to tightest: condition, or, and, not, comparison, + -, ~, * / // %, **, unary, filter and
 * test, postfix, primary. Node lines follow Jinja's, which for chains is the line of the last operand's
 * start. */
#include "common/jinja/parse/parse_int.h"
#include "common/py/py_ops.h"

static jnode_t *parse_unary(parser_t *p, bool with_filter);
static jnode_t *parse_primary(parser_t *p);
static jnode_t *parse_postfix(parser_t *p, jnode_t *node);

/* ---- arguments ---------------------------------------------------------------------------------------- */

static void
ensure(parser_t *p, bool ok, int line)
{
    if (!ok)
        parse_fail(p, line, "invalid syntax for function call expression");
}

/* Arguments in parentheses; a trailing comma is allowed. */
static jargs_t
parse_args(parser_t *p)
{
    jargs_t args = { .nkw = 0 };
    int line = parse_expect(p, T_LPAREN).line;
    parse_enter(p);
    for (bool comma = false; !parse_at(p, T_RPAREN); comma = true) {
        if (comma) {
            parse_expect(p, T_COMMA);
            if (parse_at(p, T_RPAREN))
                break;
        }

        /* An argument of a call: Python's order of positional, keyword, * and ** is enforced. */
        if (parse_at(p, T_MUL)) {
            ensure(p, args.star == NULL && args.starkw == NULL, line);
            parse_next(p);
            args.star = parse_expression(p, true);
        } else if (parse_at(p, T_POW)) {
            ensure(p, args.starkw == NULL, line);
            parse_next(p);
            args.starkw = parse_expression(p, true);
        } else if (parse_at(p, T_NAME) && parse_look(p)->type == T_ASSIGN) {
            ensure(p, args.starkw == NULL, line);

            /* Keyword arguments may not repeat: Python's compiler refuses it. */
            token_t name = parse_next(p);
            for (size_t i = 0; i < args.nkw; i++)
                if (strcmp(args.names[i]->text, name.text) == 0)
                    parse_fail(p, name.line, "keyword argument repeated: %s", name.text);
            parse_next(p);
            args.names = arena_grow(p->arena, args.names, args.nkw, sizeof(*args.names));
            args.values = arena_grow(p->arena, args.values, args.nkw, sizeof(*args.values));
            args.names[args.nkw] = jname(p->tree, name.text, name.len);
            args.values[args.nkw] = parse_expression(p, true);
            args.nkw++;
        } else {
            ensure(p, args.star == NULL && args.starkw == NULL && args.nkw == 0, line);
            parse_add(p, &args.pos, parse_expression(p, true));
        }
    }
    parse_expect(p, T_RPAREN);
    parse_leave(p);
    return args;
}

/* Heights of all children count for a node. */
static void
over_list(parser_t *p, jnode_t *node, const jlist_t *list)
{
    for (size_t i = 0; i < list->n; i++)
        parse_over(p, node, list->v[i]);
}

static void
over_args(parser_t *p, jnode_t *node, const jargs_t *args)
{
    over_list(p, node, &args->pos);
    for (size_t i = 0; i < args->nkw; i++)
        parse_over(p, node, args->values[i]);
    parse_over(p, node, args->star);
    parse_over(p, node, args->starkw);
}

static jnode_t *
parse_call(parser_t *p, jnode_t *callee)
{
    jnode_t *node = parse_node(p, N_CALL, p->cur.line);
    node->call.callee = callee;
    node->call.args = parse_args(p);
    parse_over(p, node, callee);
    over_args(p, node, &node->call.args);
    return node;
}

/* ---- filters and tests -------------------------------------------------------------------------------- */

/* Name of a filter or test, which may have dots. */
static jname_t *
parse_expr_dotted(parser_t *p, token_t first)
{
    const char *text = first.text;
    while (parse_skip(p, T_DOT))
        text = arena_printf(p->arena, "%s.%s", text, parse_expect(p, T_NAME).text);
    return jname(p->tree, text, strlen(text));
}

jnode_t *
parse_filter(parser_t *p, jnode_t *node, bool inline_start)
{
    for (; parse_at(p, T_PIPE) || inline_start; inline_start = false) {
        if (!inline_start)
            parse_next(p);
        token_t token = parse_expect(p, T_NAME);
        jnode_t *filter = parse_node(p, N_FILTER, token.line);
        filter->filter.name = parse_expr_dotted(p, token);
        filter->filter.node = node;
        if (parse_at(p, T_LPAREN))
            filter->filter.args = parse_args(p);
        parse_over(p, filter, node);
        over_args(p, filter, &filter->filter.args);
        node = filter;
    }
    return node;
}

/* A test takes one argument without parentheses when the next token can start one. */
static bool
starts_test_argument(const parser_t *p)
{
    static const tok_t starts[] = { T_NAME, T_STRING, T_INTEGER, T_FLOAT, T_LBRACKET, T_LBRACE };
    if (parse_at_name(p, "else") || parse_at_name(p, "or") || parse_at_name(p, "and"))
        return false;
    for (size_t i = 0; i < NELEMS(starts); i++)
        if (parse_at(p, starts[i]))
            return true;
    return false;
}

/* `x is [not] name [argument]`; a second `is` right after is an error. */
static jnode_t *
parse_test(parser_t *p, jnode_t *node)
{
    int line = parse_next(p).line;
    bool negated = parse_skip_name(p, "not");
    jnode_t *test = parse_node(p, N_TEST, line);
    token_t name = parse_expect(p, T_NAME);
    test->filter.name = parse_expr_dotted(p, name);
    test->filter.node = node;
    parse_over(p, test, node);
    if (parse_at(p, T_LPAREN)) {
        test->filter.args = parse_args(p);
    } else if (starts_test_argument(p)) {
        if (parse_at_name(p, "is"))
            parse_fail(p, p->cur.line, "You cannot chain multiple tests with is");
        jnode_t *arg = parse_primary(p);
        parse_add(p, &test->filter.args.pos, parse_postfix(p, arg));
    }
    over_args(p, test, &test->filter.args);
    if (!negated)
        return test;
    jnode_t *not = parse_node(p, N_NOT, line);
    not ->pair.left = test;
    parse_over(p, not, test);
    return not ;
}

/* ---- subscripts, calls -------------------------------------------------------------------------------- */

/* An element of a subscript: an expression or a slice. */
static jnode_t *
parse_subscribed(parser_t *p)
{
    int line = p->cur.line;
    jnode_t *parts[3] = { NULL, NULL, NULL };
    if (!parse_at(p, T_COLON)) {
        parts[0] = parse_expression(p, true);
        if (!parse_at(p, T_COLON))
            return parts[0];
    }
    parse_next(p);
    if (!parse_at(p, T_COLON) && !parse_at(p, T_RBRACKET) && !parse_at(p, T_COMMA))
        parts[1] = parse_expression(p, true);
    if (parse_skip(p, T_COLON) && !parse_at(p, T_RBRACKET) && !parse_at(p, T_COMMA))
        parts[2] = parse_expression(p, true);
    jnode_t *slice = parse_node(p, N_SLICE, line);
    slice->slice.start = parts[0];
    slice->slice.stop = parts[1];
    slice->slice.step = parts[2];
    return slice;
}

/* `a[...]`; several elements make a tuple. */
static jnode_t *
parse_brackets(parser_t *p, jnode_t *node, int line)
{
    jlist_t args = { NULL, 0 };
    parse_enter(p);
    while (!parse_at(p, T_RBRACKET)) {
        if (args.n > 0)
            parse_expect(p, T_COMMA);
        parse_add(p, &args, parse_subscribed(p));
    }
    parse_expect(p, T_RBRACKET);
    parse_leave(p);
    jnode_t *item = parse_node(p, N_GETITEM, line);
    item->attr.node = node;
    over_list(p, item, &args);
    if (args.n == 1) {
        item->attr.arg = args.v[0];
        return item;
    }
    item->attr.arg = parse_node(p, N_TUPLE, line);
    item->attr.arg->list = args;
    return item;
}

/* `a.b`, or `a.0` for an element. */
static jnode_t *
parse_dot(parser_t *p, jnode_t *node, int line)
{
    token_t t = parse_next(p);
    if (t.type == T_NAME) {
        jnode_t *attr = parse_node(p, N_GETATTR, line);
        attr->attr.node = node;
        attr->attr.name = jname(p->tree, t.text, t.len);
        return attr;
    }
    if (t.type != T_INTEGER)
        parse_fail(p, t.line, "expected name or number");
    jnode_t *item = parse_node(p, N_GETITEM, line);
    item->attr.node = node;
    item->attr.arg = parse_node(p, N_CONST, t.line);
    item->attr.arg->constant.token = T_INTEGER;
    item->attr.arg->constant.text = t.text;
    item->attr.arg->constant.len = t.len;
    return item;
}

static jnode_t *
parse_postfix(parser_t *p, jnode_t *node)
{
    for (;;) {
        jnode_t *inner = node;
        int line = p->cur.line;
        if (parse_skip(p, T_DOT))
            node = parse_dot(p, node, line);
        else if (parse_skip(p, T_LBRACKET))
            node = parse_brackets(p, node, line);
        else if (parse_at(p, T_LPAREN))
            node = parse_call(p, node);
        else
            return node;
        parse_over(p, node, inner);
    }
}

/* Filters, tests and calls after an operand, in any order. */
static jnode_t *
parse_filter_expr(parser_t *p, jnode_t *node)
{
    for (;;) {
        if (parse_at(p, T_PIPE))
            node = parse_filter(p, node, false);
        else if (parse_at_name(p, "is"))
            node = parse_test(p, node);
        else if (parse_at(p, T_LPAREN))
            node = parse_call(p, node);
        else
            return node;
    }
}

/* ---- literals ----------------------------------------------------------------------------------------- */

/* A variable, or one of the literal names in either case. */
static jnode_t *
parse_expr_parse_name(parser_t *p)
{
    static const char *const literals[] = { "true", "True", "false", "False", "none", "None" };
    token_t t = parse_next(p);
    for (size_t i = 0; i < NELEMS(literals); i++)
        if (strcmp(t.text, literals[i]) == 0) {
            jnode_t *node = parse_node(p, N_CONST, t.line);
            node->constant.token = T_NAME;
            node->constant.text = literals[i | 1];
            return node;
        }
    return parse_name_node(p, &t, CTX_LOAD);
}

/* Adjacent strings are joined, as in Python. */
static jnode_t *
parse_literal(parser_t *p)
{
    token_t t = parse_next(p);
    jnode_t *node = parse_node(p, N_CONST, t.line);
    node->constant.token = (uint8_t) t.type;
    const char *text = t.text;
    size_t len = t.len;
    while (t.type == T_STRING && parse_at(p, T_STRING)) {
        char *joined = arena_take(p->arena, len + p->cur.len + 1);
        memcpy(joined, text, len);
        memcpy(joined + len, p->cur.text, p->cur.len);
        len += p->cur.len;
        text = joined;
        parse_next(p);
    }
    node->constant.text = text;
    node->constant.len = len;
    return node;
}

static jnode_t *
parse_list(parser_t *p)
{
    jnode_t *node = parse_node(p, N_LIST, parse_next(p).line);
    while (!parse_at(p, T_RBRACKET)) {
        if (node->list.n > 0)
            parse_expect(p, T_COMMA);
        if (parse_at(p, T_RBRACKET))
            break;
        parse_add(p, &node->list, parse_expression(p, true));
    }
    parse_expect(p, T_RBRACKET);
    over_list(p, node, &node->list);
    return node;
}

static jnode_t *
parse_dict(parser_t *p)
{
    jnode_t *node = parse_node(p, N_DICT, parse_next(p).line);
    while (!parse_at(p, T_RBRACE)) {
        if (node->list.n > 0)
            parse_expect(p, T_COMMA);
        if (parse_at(p, T_RBRACE))
            break;
        parse_add(p, &node->list, parse_expression(p, true));
        parse_expect(p, T_COLON);
        parse_add(p, &node->list, parse_expression(p, true));
    }
    parse_expect(p, T_RBRACE);
    over_list(p, node, &node->list);
    return node;
}

static jnode_t *
parse_parentheses(parser_t *p)
{
    parse_next(p);
    jnode_t *node = parse_tuple(p, TUPLE_PARENTHESES, NULL);
    parse_expect(p, T_RPAREN);
    return node;
}

typedef jnode_t *primary_fn(parser_t *p);
static primary_fn *const primaries[TOKENS] = {
    [T_NAME] = parse_expr_parse_name, [T_STRING] = parse_literal,     [T_INTEGER] = parse_literal,
    [T_FLOAT] = parse_literal,        [T_LPAREN] = parse_parentheses, [T_LBRACKET] = parse_list,
    [T_LBRACE] = parse_dict,
};

static jnode_t *
parse_primary(parser_t *p)
{
    primary_fn *fn = primaries[p->cur.type];
    if (fn == NULL)
        parse_fail(p, p->cur.line, "unexpected '%s'", token_describe(&p->cur));
    parse_enter(p);
    jnode_t *node = fn(p);
    parse_leave(p);
    return node;
}

/* ---- operators ---------------------------------------------------------------------------------------- */

/* Sign, primary, postfix, then filters: Jinja applies filters to the signed value. */
static jnode_t *
parse_unary(parser_t *p, bool with_filter)
{
    int line = p->cur.line;
    jnode_t *node;
    if (parse_at(p, T_SUB) || parse_at(p, T_ADD)) {
        node = parse_node(p, N_UNARY, line);
        node->op = parse_next(p).type == T_SUB ? PY_NEG : PY_POS;
        parse_enter(p);
        node->pair.left = parse_unary(p, false);
        parse_leave(p);
        parse_over(p, node, node->pair.left);
    } else {
        node = parse_primary(p);
    }
    node = parse_postfix(p, node);
    return with_filter ? parse_filter_expr(p, node) : node;
}

static jnode_t *
parse_pow_operand(parser_t *p)
{
    return parse_unary(p, true);
}

/* An operator and its operation. */
typedef struct binary {
    tok_t token;
    uint8_t op;
} binary_t;
static const binary_t pow_ops[] = { { T_POW, PY_POW }, { T_EOF, 0 } };
static const binary_t math2_ops[] = {
    { T_MUL, PY_MUL }, { T_DIV, PY_DIV }, { T_FLOORDIV, PY_FLOORDIV }, { T_MOD, PY_MOD }, { T_EOF, 0 }
};
static const binary_t math1_ops[] = { { T_ADD, PY_ADD }, { T_SUB, PY_SUB }, { T_EOF, 0 } };

static const binary_t *
binary_at(const parser_t *p, const binary_t *ops)
{
    for (; ops->token != T_EOF; ops++)
        if (parse_at(p, ops->token))
            return ops;
    return NULL;
}

static jnode_t *
parse_pair(parser_t *p, jkind_t kind, uint8_t op, jnode_t *left, jnode_t *right, int line)
{
    jnode_t *node = parse_node(p, kind, line);
    node->op = op;
    node->pair.left = left;
    node->pair.right = right;
    parse_over(p, node, left);
    parse_over(p, node, right);
    return node;
}

/* Operators of one level, left-associative; so is the power, unlike Python's. */
static jnode_t *
parse_binary(parser_t *p, const binary_t *ops, primary_fn *operand)
{
    int line = p->cur.line;
    jnode_t *left = operand(p);
    for (const binary_t *op; (op = binary_at(p, ops)) != NULL; line = p->cur.line) {
        parse_next(p);
        left = parse_pair(p, N_BINARY, op->op, left, operand(p), line);
    }
    return left;
}

static jnode_t *
parse_pow(parser_t *p)
{
    return parse_binary(p, pow_ops, parse_pow_operand);
}

static jnode_t *
parse_math2(parser_t *p)
{
    return parse_binary(p, math2_ops, parse_pow);
}

/* `~` joins any number of operands in one node. */
static jnode_t *
parse_concat(parser_t *p)
{
    int line = p->cur.line;
    jnode_t *first = parse_math2(p);
    if (!parse_at(p, T_TILDE))
        return first;
    jnode_t *node = parse_node(p, N_CONCAT, line);
    parse_add(p, &node->list, first);
    while (parse_skip(p, T_TILDE))
        parse_add(p, &node->list, parse_math2(p));
    over_list(p, node, &node->list);
    return node;
}

static jnode_t *
parse_math1(parser_t *p)
{
    return parse_binary(p, math1_ops, parse_concat);
}

static const binary_t compare_ops[] = { { T_EQ, PY_EQ },   { T_NE, PY_NE }, { T_GT, PY_GT },
                                        { T_GTEQ, PY_GE }, { T_LT, PY_LT }, { T_LTEQ, PY_LE },
                                        { T_EOF, 0 } };

/* Consumes a comparison operator; -1 for none. */
static int
compare_op(parser_t *p)
{
    const binary_t *op = binary_at(p, compare_ops);
    if (op != NULL) {
        parse_next(p);
        return op->op;
    }
    if (parse_skip_name(p, "in"))
        return CMP_IN;
    if (!parse_at_name(p, "not"))
        return -1;
    const token_t *ahead = parse_look(p);
    if (ahead->type != T_NAME || strcmp(ahead->text, "in") != 0)
        return -1;
    parse_next(p);
    parse_next(p);
    return CMP_NOT_IN;
}

static jnode_t *
parse_not(parser_t *p)
{
    if (!parse_at_name(p, "not")) {
        /* Chained comparisons form one node; its line is that of the last operator. */
        int line = p->cur.line;
        jnode_t *first = parse_math1(p);
        jnode_t *node = NULL;
        for (int op; (op = compare_op(p)) >= 0; line = p->cur.line) {
            if (node == NULL) {
                node = parse_node(p, N_COMPARE, line);
                node->compare.first = first;
            }
            size_t n = node->compare.n;
            node->compare.ops = arena_grow(p->arena, node->compare.ops, n, 1);
            node->compare.v = arena_grow(p->arena, node->compare.v, n, sizeof(*node->compare.v));
            node->compare.ops[n] = (uint8_t) op;
            node->compare.v[n] = parse_math1(p);
            node->compare.n++;
        }
        if (node == NULL)
            return first;
        node->line = node->run_line = line;
        parse_over(p, node, first);
        for (size_t i = 0; i < node->compare.n; i++)
            parse_over(p, node, node->compare.v[i]);
        return node;
    }
    parse_enter(p);
    jnode_t *node = parse_node(p, N_NOT, parse_next(p).line);
    node->pair.left = parse_not(p);
    parse_over(p, node, node->pair.left);
    parse_leave(p);
    return node;
}

static jnode_t *
parse_and(parser_t *p)
{
    int line = p->cur.line;
    jnode_t *left = parse_not(p);
    for (; parse_skip_name(p, "and"); line = p->cur.line)
        left = parse_pair(p, N_AND, 0, left, parse_not(p), line);
    return left;
}

static jnode_t *
parse_or(parser_t *p)
{
    int line = p->cur.line;
    jnode_t *left = parse_and(p);
    for (; parse_skip_name(p, "or"); line = p->cur.line)
        left = parse_pair(p, N_OR, 0, left, parse_and(p), line);
    return left;
}

/* `a if b else c`; chains to the left without `else`, as in Jinja. */
static jnode_t *
parse_cond(parser_t *p)
{
    int line = p->cur.line;
    jnode_t *then = parse_or(p);
    while (parse_skip_name(p, "if")) {
        jnode_t *node = parse_node(p, N_COND, line);
        node->cond.then = then;
        node->cond.test = parse_or(p);
        if (parse_skip_name(p, "else")) {
            parse_enter(p);
            node->cond.otherwise = parse_cond(p);
            parse_leave(p);
        }
        parse_over(p, node, then);
        parse_over(p, node, node->cond.test);
        parse_over(p, node, node->cond.otherwise);
        then = node;
        line = p->cur.line;
    }
    return then;
}

jnode_t *
parse_expression(parser_t *p, bool with_cond)
{
    return with_cond ? parse_cond(p) : parse_or(p);
}

/* A tuple without parentheses where commas follow; a single expression otherwise. */
jnode_t *
parse_tuple(parser_t *p, unsigned flags, const char *end_word)
{
    int line = p->cur.line;
    jlist_t items = { NULL, 0 };
    bool tuple = false;
    for (;; line = p->cur.line) {
        if (items.n > 0)
            parse_expect(p, T_COMMA);
        if (parse_at(p, T_VARIABLE_END) || parse_at(p, T_BLOCK_END) || parse_at(p, T_RPAREN) ||
            (end_word != NULL && parse_at_name(p, end_word)))
            break;
        parse_add(p, &items,
                  flags & TUPLE_SIMPLE ? parse_primary(p) : parse_expression(p, !(flags & TUPLE_NO_COND)));
        if (!parse_at(p, T_COMMA))
            break;
        tuple = true;
    }
    if (!tuple && items.n > 0)
        return items.v[0];
    if (!tuple && !(flags & TUPLE_PARENTHESES))
        parse_fail(p, p->cur.line, "Expected an expression, got '%s'", token_describe(&p->cur));
    jnode_t *node = parse_node(p, N_TUPLE, line);
    node->list = items;
    over_list(p, node, &items);
    return node;
}

/* ---- targets of assignments --------------------------------------------------------------------------- */

void
parse_set_ctx(jnode_t *node, jctx_t ctx)
{
    if (node->kind == N_NAME)
        node->op = (uint8_t) ctx;
    if (node->kind == N_TUPLE)
        for (size_t i = 0; i < node->list.n; i++)
            parse_set_ctx(node->list.v[i], ctx);
}

/* Only names, namespace references and tuples of them are targets. */
static bool
can_assign(const jnode_t *node)
{
    if (node->kind != N_TUPLE)
        return node->kind == N_NAME || node->kind == N_NSREF;
    for (size_t i = 0; i < node->list.n; i++)
        if (!can_assign(node->list.v[i]))
            return false;
    return true;
}

/* Jinja's name of a node's class, for "can't assign to ...". */
static const char *
kind_name(const jnode_t *node)
{
    static const char *const names[N_KINDS] = {
        [N_CONST] = "const",   [N_TUPLE] = "tuple",     [N_LIST] = "list",       [N_DICT] = "dict",
        [N_NOT] = "not",       [N_AND] = "and",         [N_OR] = "or",           [N_COMPARE] = "compare",
        [N_CONCAT] = "concat", [N_GETATTR] = "getattr", [N_GETITEM] = "getitem", [N_SLICE] = "slice",
        [N_CALL] = "call",     [N_FILTER] = "filter",   [N_TEST] = "test",       [N_COND] = "condexpr",
        [N_NAME] = "name",
    };
    static const char *const binaries[] = {
        [PY_ADD] = "add", [PY_SUB] = "sub", [PY_MUL] = "mul",          [PY_DIV] = "div",
        [PY_MOD] = "mod", [PY_POW] = "pow", [PY_FLOORDIV] = "floordiv"
    };
    if (node->kind == N_BINARY)
        return binaries[node->op];
    if (node->kind == N_UNARY)
        return node->op == PY_NEG ? "neg" : "pos";
    return names[node->kind];
}

jnode_t *
parse_target_name(parser_t *p)
{
    static const char *const reserved[] = { "true", "True", "false", "False", "none", "None" };
    token_t t = parse_expect(p, T_NAME);
    for (size_t i = 0; i < NELEMS(reserved); i++)
        if (strcmp(t.text, reserved[i]) == 0)
            parse_fail(p, t.line, "can't assign to 'name'");
    return parse_name_node(p, &t, CTX_STORE);
}

/* A target of an assignment: a namespace attribute, a name or a tuple. */
jnode_t *
parse_target(parser_t *p, const char *end_word, bool with_namespace)
{
    if (with_namespace && parse_look(p)->type == T_DOT) {
        token_t name = parse_expect(p, T_NAME);
        parse_next(p);
        token_t attr = parse_expect(p, T_NAME);
        jnode_t *node = parse_node(p, N_NSREF, name.line);
        node->name.name = jname(p->tree, name.text, name.len);
        node->name.attr = jname(p->tree, attr.text, attr.len);
        return node;
    }
    jnode_t *node = parse_tuple(p, TUPLE_SIMPLE, end_word);
    parse_set_ctx(node, CTX_STORE);
    if (!can_assign(node))
        parse_fail(p, node->line, "can't assign to '%s'", kind_name(node));
    return node;
}
