/* jmes_parse.c - JMESPath's tokens to a tree: a Pratt parser with jmespath.py's binding powers and messages.
 *
 * jmes_parse_begin() parses what may start an expression (nud in jmespath.py), jmes_parse_go_on() what may
 * follow one (led), while the next token binds tighter than the caller's power. Projections apply the rest of
 * the expression to each element, up to a token below PROJECTION_STOP. Nodes live in the tree's arena. */
#include "common/jmes/jmes.h"

/* Tokens with less power end a projection's right side. */
enum { PROJECTION_STOP = 10 };

static const py_exc_t incomplete_error = { "IncompleteExpressionError", &jmes_ParseError };

typedef struct parser {
    jmes_t *tree;
    size_t i;
} parser_t;

static jmes_node_t *expression(parser_t *p, int power);

static const jmes_token_t *
token(const parser_t *p)
{
    return &p->tree->tokens[p->i];
}

static jmes_token_type_t
jmes_parse_at(const parser_t *p)
{
    return token(p)->type;
}

static jmes_token_type_t
behind(const parser_t *p)
{
    return jmes_parse_at(p) == JT_EOF ? JT_EOF : token(p)[1].type;
}

/* A new node in the tree's arena, zeroed but for its kind and sides. */
static jmes_node_t *
node(parser_t *p, jmes_kind_t kind, const jmes_node_t *left, const jmes_node_t *right)
{
    jmes_node_t *n = arena_take(p->tree->arena, sizeof(*n));
    n->kind = kind;
    n->left = left;
    n->right = right;
    return n;
}

/* ParseError with a caret below the column. */
static void *
fail_at(const parser_t *p, const jmes_token_t *t, size_t column, const char *reason)
{
    AUTO(py) value = py_tostr(t->value);
    if (value == NULL)
        return NULL;
    char *name AUTO_FREE = xstrdup(jmes_tokens[t->type].name);
    for (char *c = name; *c != '\0'; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char) (*c - 'a' + 'A') : *c;
    return py_raise(&jmes_ParseError,
                    "%s: Parse error at column %zu, token \"%s\" (%s), for expression:\n\"%s\"\n%*s^", reason,
                    column, py_cstr(value), name, py_cstr(p->tree->text), (int) column + 1, "");
}

/* ParseError at the current token. */
static void *
jmes_parse_fail_here(const parser_t *p, const char *reason)
{
    return fail_at(p, token(p), token(p)->start, reason);
}

/* IncompleteExpressionError: the expression ends too early. */
static void *
incomplete(const parser_t *p)
{
    const char *text = py_cstr(p->tree->text);
    return py_raise(&incomplete_error, "Invalid jmespath expression: Incomplete expression:\n\"%s\"\n%*s^",
                    text, (int) token(p)->start + 1, "");
}

/* Skips a token of the type, or raises and returns false. */
static bool
jmes_parse_match(parser_t *p, jmes_token_type_t type)
{
    if (jmes_parse_at(p) == type) {
        p->i++;
        return true;
    }
    char *reason AUTO_FREE = xasprintf("Expecting: %s, got: %s", jmes_tokens[type].name,
                                       jmes_tokens[jmes_parse_at(p)].name);
    if (jmes_parse_at(p) == JT_EOF)
        incomplete(p);
    else
        jmes_parse_fail_here(p, reason);
    return false;
}

/* ---- lists of expressions ----------------------------------------------------------------------------- */

/* Appends an item to a node's list, which grows in the arena. */
static void
jmes_parse_push(parser_t *p, jmes_node_t *list, const jmes_node_t *item)
{
    list->v = arena_grow(p->tree->arena, list->v, list->n, sizeof(*list->v));
    list->v[list->n++] = item;
}

/* Multi-select list "[a, b]" after "[": each expression gives an element. */
static jmes_node_t *
select_list(parser_t *p)
{
    jmes_node_t *list = node(p, JM_LIST, NULL, NULL);
    for (;;) {
        const jmes_node_t *item = expression(p, 0);
        if (item == NULL)
            return NULL;
        jmes_parse_push(p, list, item);
        if (jmes_parse_at(p) == JT_RBRACKET)
            break;
        if (!jmes_parse_match(p, JT_COMMA))
            return NULL;
    }
    p->i++;
    return list;
}

/* Multi-select hash "{key: expression, ...}"; jmespath.py allows a missing comma. */
static jmes_node_t *
select_hash(parser_t *p)
{
    jmes_node_t *hash = node(p, JM_HASH, NULL, NULL);
    for (;;) {
        const jmes_token_t *key = token(p);
        if (key->type == JT_EOF)
            return incomplete(p);
        if (key->type != JT_QUOTED && key->type != JT_UNQUOTED) {
            char *reason AUTO_FREE = xasprintf(
                "Expecting: ['quoted_identifier', 'unquoted_identifier'], got: %s",
                jmes_tokens[key->type].name);
            return jmes_parse_fail_here(p, reason);
        }
        p->i++;
        const jmes_node_t *value = jmes_parse_match(p, JT_COLON) ? expression(p, 0) : NULL;
        if (value == NULL)
            return NULL;
        hash->keys = arena_grow(p->tree->arena, hash->keys, hash->n, sizeof(*hash->keys));
        hash->keys[hash->n] = key->value;
        jmes_parse_push(p, hash, value);
        if (jmes_parse_at(p) == JT_COMMA) {
            p->i++;
        } else if (jmes_parse_at(p) == JT_RBRACE) {
            p->i++;
            return hash;
        }
    }
}

/* Function call after a name; jmespath.py also accepts arguments without commas between them. */
static jmes_node_t *
jmes_parse_call(parser_t *p, const jmes_node_t *left)
{
    if (left->kind != JM_FIELD) {
        const jmes_token_t *before = token(p) - 2;
        AUTO(py) name = py_tostr(before->value);
        char *reason AUTO_FREE = xasprintf("Invalid function name '%s'", py_cstr(name));
        return fail_at(p, before, before->start, reason);
    }
    jmes_node_t *function = node(p, JM_FUNCTION, NULL, NULL);
    function->value = left->value;
    while (jmes_parse_at(p) != JT_RPAREN) {
        const jmes_node_t *arg = expression(p, 0);
        if (arg == NULL)
            return NULL;
        if (jmes_parse_at(p) == JT_COMMA)
            p->i++;
        jmes_parse_push(p, function, arg);
    }
    p->i++;
    return function;
}

/* ---- projections -------------------------------------------------------------------------------------- */

/* Right side of a dot: an identifier, "*", a multi-select list or hash. */
static jmes_node_t *
dot_rhs(parser_t *p, int power)
{
    switch (jmes_parse_at(p)) {
    case JT_QUOTED:
    case JT_UNQUOTED:
    case JT_STAR:
        return expression(p, power);
    case JT_LBRACKET:
        p->i++;
        return select_list(p);
    case JT_LBRACE:
        p->i++;
        return select_hash(p);
    default: {
        char *reason AUTO_FREE = xasprintf(
            "Expecting: ['quoted_identifier', 'unquoted_identifier', 'lbracket', 'lbrace'], got: %s",
            jmes_tokens[jmes_parse_at(p)].name);
        return jmes_parse_fail_here(p, reason);
    }
    }
}

/* Right side of a projection: the current element when the next token ends it. */
static jmes_node_t *
projection_rhs(parser_t *p, int power)
{
    if (jmes_tokens[jmes_parse_at(p)].power < PROJECTION_STOP)
        return node(p, JM_CURRENT, NULL, NULL);
    if (jmes_parse_at(p) == JT_LBRACKET || jmes_parse_at(p) == JT_FILTER)
        return expression(p, power);
    if (jmes_parse_at(p) != JT_DOT)
        return jmes_parse_fail_here(p, "syntax error");
    p->i++;
    return dot_rhs(p, power);
}

/* A projection of `left`: the rest of the expression, as far as it binds tighter than `binds_as`, applies to
 * each element. */
static jmes_node_t *
project(parser_t *p, jmes_kind_t kind, const jmes_node_t *left, jmes_token_type_t binds_as)
{
    const jmes_node_t *right = projection_rhs(p, jmes_tokens[binds_as].power);
    return right != NULL ? node(p, kind, left, right) : NULL;
}

/* "[]": flattens `left` one level and projects the elements. */
static jmes_node_t *
flatten(parser_t *p, const jmes_node_t *left)
{
    return project(p, JM_PROJECTION, node(p, JM_FLATTEN, left, NULL), JT_FLATTEN);
}

/* "[?condition]" after its opening mark. Followed by "[]", the filtered list itself is flattened. */
static jmes_node_t *
jmes_parse_filter(parser_t *p, const jmes_node_t *left)
{
    const jmes_node_t *condition = expression(p, 0);
    if (condition == NULL || !jmes_parse_match(p, JT_RBRACKET))
        return NULL;
    jmes_node_t *n = jmes_parse_at(p) == JT_FLATTEN
                         ? node(p, JM_FILTER, left, node(p, JM_CURRENT, NULL, NULL))
                         : project(p, JM_FILTER, left, JT_FILTER);
    if (n != NULL)
        n->condition = condition;
    return n;
}

/* "start:stop:step" after "[", each part optional. */
static jmes_node_t *
slice(parser_t *p)
{
    py_t *parts[3] = { NULL, NULL, NULL };
    for (size_t n = 0; jmes_parse_at(p) != JT_RBRACKET && n < 3; p->i++) {
        if (jmes_parse_at(p) != JT_COLON && jmes_parse_at(p) != JT_NUMBER)
            return jmes_parse_fail_here(p, "syntax error");
        if (jmes_parse_at(p) == JT_NUMBER)
            parts[n] = token(p)->value;
        else if (++n == 3)
            return jmes_parse_fail_here(p, "syntax error");
    }
    if (!jmes_parse_match(p, JT_RBRACKET))
        return NULL;
    jmes_node_t *s = node(p, JM_SLICE, NULL, NULL);
    s->value = py_slice(parts[0], parts[1], parts[2]);
    py_append_new(p->tree->values, s->value);
    return s;
}

/* Index or slice after "[", at a number or colon. A slice begins a projection. */
static jmes_node_t *
index_expression(parser_t *p, const jmes_node_t *left)
{
    jmes_node_t *right;
    if (jmes_parse_at(p) == JT_COLON || behind(p) == JT_COLON) {
        right = slice(p);
    } else {
        right = node(p, JM_INDEX, NULL, NULL);
        right->value = token(p)->value;
        p->i++;
        right = jmes_parse_match(p, JT_RBRACKET) ? right : NULL;
    }
    if (right == NULL)
        return NULL;
    jmes_node_t *both = node(p, JM_INDEX_EXPR, left, right);
    /* jmespath.py: a slice after an index expression makes no projection. */
    if (right->kind != JM_SLICE || left->kind == JM_INDEX_EXPR)
        return both;
    return project(p, JM_PROJECTION, both, JT_STAR);
}

/* ---- at the beginning of an expression ---------------------------------------------------------------- */

/* A leaf whose value is the token's. */
static jmes_node_t *
value_node(parser_t *p, jmes_kind_t kind, const jmes_token_t *t)
{
    jmes_node_t *n = node(p, kind, NULL, NULL);
    n->value = t->value;
    return n;
}

/* "[" at the beginning of an expression: an index, a slice, "[*]" or a multi-select list. */
static jmes_node_t *
begin_bracket(parser_t *p, const jmes_node_t *current)
{
    if (jmes_parse_at(p) == JT_NUMBER || jmes_parse_at(p) == JT_COLON)
        return index_expression(p, current);
    if (jmes_parse_at(p) != JT_STAR || behind(p) != JT_RBRACKET)
        return select_list(p);
    p->i += 2;
    return project(p, JM_PROJECTION, current, JT_STAR);
}

/* Parentheses group only; the tree does not show them. */
static jmes_node_t *
begin_paren(parser_t *p)
{
    jmes_node_t *inner = expression(p, 0);
    return inner != NULL && jmes_parse_match(p, JT_RPAREN) ? inner : NULL;
}

/* "!" and "&", which bind as tightly as their token's power says. */
static jmes_node_t *
begin_unary(parser_t *p, jmes_kind_t kind, jmes_token_type_t type)
{
    const jmes_node_t *inner = expression(p, jmes_tokens[type].power);
    return inner != NULL ? node(p, kind, inner, NULL) : NULL;
}

static jmes_node_t *
jmes_parse_begin(parser_t *p)
{
    const jmes_token_t *t = token(p);
    if (t->type == JT_EOF)
        return incomplete(p);
    p->i++;
    const jmes_node_t *current = node(p, JM_CURRENT, NULL, NULL);
    switch (t->type) {
    case JT_LITERAL:
        return value_node(p, JM_LITERAL, t);
    case JT_UNQUOTED:
        return value_node(p, JM_FIELD, t);
    case JT_QUOTED:

        /* A quoted identifier is a field; functions cannot be named so. */
        if (jmes_parse_at(p) == JT_LPAREN)
            return fail_at(p, token(p), 0, "Quoted identifier not allowed for function names.");
        return value_node(p, JM_FIELD, t);

    case JT_STAR:

        /* "*": the values of an object, projected. */
        if (jmes_parse_at(p) == JT_RBRACKET)
            return node(p, JM_VALUES, current, current);
        return project(p, JM_VALUES, current, JT_STAR);

    case JT_FILTER:
        return jmes_parse_filter(p, current);
    case JT_LBRACE:
        return select_hash(p);
    case JT_LPAREN:
        return begin_paren(p);
    case JT_FLATTEN:
        return flatten(p, current);
    case JT_NOT:
        return begin_unary(p, JM_NOT, JT_NOT);
    case JT_LBRACKET:
        return begin_bracket(p, current);
    case JT_CURRENT:
        return node(p, JM_CURRENT, NULL, NULL);
    case JT_EXPREF:
        return begin_unary(p, JM_EXPREF, JT_EXPREF);
    default:
        return fail_at(p, t, t->start, "invalid token");
    }
}

/* ---- behind one --------------------------------------------------------------------------------------- */

/* An infix operator; the right side takes all that binds tighter, so operators are left-associative. */
static jmes_node_t *
binary(parser_t *p, jmes_kind_t kind, const jmes_node_t *left, jmes_token_type_t type)
{
    const jmes_node_t *right = expression(p, jmes_tokens[type].power);
    if (right == NULL)
        return NULL;
    jmes_node_t *n = node(p, kind, left, right);
    n->op = type;
    return n;
}

/* "." after an expression; ".*" projects an object's values. */
static jmes_node_t *
go_on_dot(parser_t *p, const jmes_node_t *left)
{
    if (jmes_parse_at(p) == JT_STAR) {
        p->i++;
        return project(p, JM_VALUES, left, JT_DOT);
    }
    const jmes_node_t *right = dot_rhs(p, jmes_tokens[JT_DOT].power);
    return right != NULL ? node(p, JM_CHAIN, left, right) : NULL;
}

/* "[" after an expression: an index, a slice or "[*]". */
static jmes_node_t *
go_on_bracket(parser_t *p, const jmes_node_t *left)
{
    if (jmes_parse_at(p) == JT_NUMBER || jmes_parse_at(p) == JT_COLON)
        return index_expression(p, left);
    if (!jmes_parse_match(p, JT_STAR) || !jmes_parse_match(p, JT_RBRACKET))
        return NULL;
    return project(p, JM_PROJECTION, left, JT_STAR);
}

/* Token after an expression (led); `left` is the expression so far. */
static jmes_node_t *
jmes_parse_go_on(parser_t *p, const jmes_node_t *left)
{
    jmes_token_type_t type = jmes_parse_at(p);
    p->i++;
    switch (type) {
    case JT_DOT:
        return go_on_dot(p, left);
    case JT_PIPE:
        return binary(p, JM_CHAIN, left, type);
    case JT_OR:
        return binary(p, JM_OR, left, type);
    case JT_AND:
        return binary(p, JM_AND, left, type);
    case JT_EQ:
    case JT_NE:
    case JT_LT:
    case JT_LTE:
    case JT_GT:
    case JT_GTE:
        return binary(p, JM_COMPARE, left, type);
    case JT_FLATTEN:
        return flatten(p, left);
    case JT_FILTER:
        return jmes_parse_filter(p, left);
    case JT_LBRACKET:
        return go_on_bracket(p, left);
    case JT_LPAREN:
        return jmes_parse_call(p, left);
    default:
        p->i--;
        return jmes_parse_fail_here(p, "invalid token");
    }
}

/* Parses while tokens bind tighter than `power`. Depth and steps are limited. */
static jmes_node_t *
expression(parser_t *p, int power)
{
    if (py_enter() < 0)
        return NULL;
    jmes_node_t *left = py_tick() == 0 ? jmes_parse_begin(p) : NULL;
    while (left != NULL && power < jmes_tokens[jmes_parse_at(p)].power)
        left = py_tick() == 0 ? jmes_parse_go_on(p, left) : NULL;
    py_leave();
    return left;
}

/* ---- trees -------------------------------------------------------------------------------------------- */

/* The whole text must be one expression. */
jmes_t *
jmes_parse(py_t *text)
{
    jmes_t *self = xcalloc(1, sizeof(*self));
    self->refs = 1;
    self->arena = arena_new();
    self->values = py_list();
    self->text = py_ref(text);
    parser_t p = { self, 0 };
    if (jmes_lex(self) == 0)
        self->root = expression(&p, 0);
    if (self->root != NULL && jmes_parse_at(&p) != JT_EOF) {
        AUTO(py) value = py_tostr(token(&p)->value);
        char *reason AUTO_FREE = xasprintf("Unexpected token: %s", py_cstr(value));
        self->root = jmes_parse_fail_here(&p, reason);
    }
    if (self->root != NULL)
        return self;
    jmes_unref(self);
    return NULL;
}

void
jmes_unref(jmes_t *self)
{
    if (self == NULL || --self->refs > 0)
        return;
    arena_destroy(&self->arena);
    py_unref(self->values);
    py_unref(self->text);
    free(self);
}
