/* jmes.h - JMESPath, the language of the filter `json_query`: an expression is parsed to a tree, which is
 * evaluated over a value. Follows jmespath.py, its deviations from the specification included.
 *
 * Layer      common/jmes, private
 * Threads    one
 * Ownership  a tree counts its references; nodes and tokens belong to it
 * Errors     NULL raised: ParseError, LexerError, ... of JMESPathError, a ValueError, in jmespath.py's words
 * Tests      tests/cases/jinja/jmespath.json */
#ifndef COMMON_JMES_JMES_H
#define COMMON_JMES_JMES_H

#include "common/jinja/arena.h"
#include "common/py/py_host.h"

typedef enum jmes_token_type {
    JT_EOF,
    JT_UNQUOTED,
    JT_QUOTED,
    JT_LITERAL,
    JT_RBRACKET,
    JT_RPAREN,
    JT_COMMA,
    JT_RBRACE,
    JT_NUMBER,
    JT_CURRENT,
    JT_EXPREF,
    JT_COLON,
    JT_PIPE,
    JT_OR,
    JT_AND,
    JT_EQ,
    JT_GT,
    JT_LT,
    JT_GTE,
    JT_LTE,
    JT_NE,
    JT_FLATTEN,
    JT_STAR,
    JT_FILTER,
    JT_DOT,
    JT_NOT,
    JT_LBRACE,
    JT_LBRACKET,
    JT_LPAREN,
    JT_TYPES
} jmes_token_type_t;

/* Each token's name in messages and its binding power. */
extern const struct jmes_token_row {
    const char *name;
    int power;
} jmes_tokens[JT_TYPES];

typedef struct jmes_token {
    jmes_token_type_t type;
    size_t start; /* in characters */
    py_t *value;  /* BORROWED: the tree's */
} jmes_token_t;

/* Kinds of nodes; a projection applies its right side to every element of its left. */
typedef enum jmes_kind {
    JM_FIELD,
    JM_CHAIN, /* right applied to left's result */
    JM_INDEX_EXPR,
    JM_INDEX,
    JM_SLICE,
    JM_FLATTEN,
    JM_PROJECTION,
    JM_VALUES,
    JM_FILTER,
    JM_COMPARE,
    JM_CURRENT,
    JM_EXPREF,
    JM_FUNCTION,
    JM_LITERAL,
    JM_HASH,
    JM_LIST,
    JM_OR,
    JM_AND,
    JM_NOT,
    JM_KINDS
} jmes_kind_t;

/* An expression of the tree; which fields are set depends on the kind. */
typedef struct jmes_node {
    jmes_kind_t kind;
    jmes_token_type_t op; /* JM_COMPARE */
    py_t *value;          /* name, number, slice or literal; BORROWED: the tree's */
    const struct jmes_node *left, *right, *condition;
    const struct jmes_node **v; /* arguments, or elements */
    py_t **keys;                /* of JM_HASH */
    size_t n;
} jmes_node_t;

/* A parsed expression. */
typedef struct jmes {
    int refs;
    arena_t *arena;
    py_t *values; /* list that owns the values of tokens and nodes */
    py_t *text;
    jmes_token_t *tokens; /* the last one is JT_EOF */
    const jmes_node_t *root;
} jmes_t;

extern const py_exc_t jmes_Error, jmes_ParseError, jmes_LexerError;

/* Splits `self->text` into tokens: 0, or -1 raised. */
int jmes_lex(jmes_t *self);
/* Parses an expression. NEW tree, or NULL raised. */
jmes_t *jmes_parse(py_t *text);
/* Accepts NULL. */
void jmes_unref(jmes_t *self);
/* Evaluates the expression for `value`. NEW, or NULL raised. */
py_t *jmes_search(jmes_t *self, py_t *value);

/* ---- between the evaluator and its functions */
/* Evaluates one node. NEW, or NULL raised; recursion counts against the scope's depth. */
py_t *jmes_eval(jmes_t *self, const jmes_node_t *node, py_t *value);
/* `args` are BORROWED. NEW result. */
py_t *jmes_call(const char *name, py_t *const *args, size_t n);
/* "&expression" as a value, which `eval` evaluates, and its application to another one. NEW. */
typedef py_t *jmes_eval_fn(jmes_t *self, const jmes_node_t *node, py_t *value);
py_t *jmes_expref(jmes_t *self, const jmes_node_t *node, jmes_eval_fn *eval);
py_t *jmes_apply(py_t *expref, py_t *value);

#endif
