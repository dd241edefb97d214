/* parse_int.h - the parser's state, shared by parse.c, parse_expr.c, parse_stmt.c and parse_salt.c.
 *
 * Layer      common/jinja, private
 * Threads    one at a time
 * Ownership  everything belongs to the arena
 * Errors     parse_fail() does not return
 * Tests      tests/unit/common/test_jinja_parse.c
 */
#ifndef COMMON_JINJA_PARSE_PARSE_INT_H
#define COMMON_JINJA_PARSE_PARSE_INT_H

#include "common/jinja/parse/parse.h"

/* Words that end a body, NULL at the end. */
typedef const char *const *ends_t;

/* State of a parser. */
typedef struct parser {
    jtree_t *tree;
    arena_t *arena;
    lexer_t *lexer;
    syntax_error_t *error;
    unsigned tags;
    token_t cur, ahead;
    bool has_ahead;
    int depth;              /* of nested expressions and bodies */
    int last_free;          /* number of generated names */
    const char **tag_stack; /* tags that are open */
    size_t n_tags;
    ends_t *end_stack;
    size_t n_ends;
} parser_t;

/* Raises a TemplateSyntaxError at the line; jumps out of the parser. */
void parse_fail(parser_t *p, int line, const char *fmt, ...) PRINTF(3, 4) NORETURN;

/* ---- tokens */
/* Consumes and returns the current token; the end is never passed. */
token_t parse_next(parser_t *p);
/* The token after the current one, without consuming any. BORROWED until the next parse_next. */
const token_t *parse_look(parser_t *p);
/* Whether the current token is of the type, or a name of these letters; nothing is consumed. */
bool parse_at(const parser_t *p, tok_t type);
bool parse_at_name(const parser_t *p, const char *name);
/* Consumes the current token when it is of the type. */
bool parse_skip(parser_t *p, tok_t type);
bool parse_skip_name(parser_t *p, const char *name);
/* Consumes a token of the type, or raises Jinja's "expected token ..., got ...". */
token_t parse_expect(parser_t *p, tok_t type);
token_t parse_expect_name(parser_t *p, const char *name);

/* ---- nodes */
/* NEW from the tree's arena, all zero but these: nodes are never freed one by one. */
jnode_t *parse_node(parser_t *p, jkind_t kind, int line);
/* Lists grow in the arena, so a list that is copied must not grow any more. */
void parse_add(parser_t *p, jlist_t *list, jnode_t *node);
void parse_add_all(parser_t *p, jlist_t *list, const jlist_t *more);
/* Records that `node` is above `child`; bounds the height. */
void parse_over(parser_t *p, jnode_t *node, const jnode_t *child);
/* A name that is read or assigned (`ctx`), and a constant text. */
jnode_t *parse_name_node(parser_t *p, const token_t *token, jctx_t ctx);
jnode_t *parse_text_node(parser_t *p, const char *text, int line);
/* Count nesting around bodies and expressions: LIMIT_TEMPLATE_NEST. */
void parse_enter(parser_t *p);
void parse_leave(parser_t *p);

/* ---- expressions */
/* `with_cond`: also "x if y else z". Each raises instead of returning NULL. */
jnode_t *parse_expression(parser_t *p, bool with_cond);
/* Flags of parse_tuple(): names only; no `x if y`; within parentheses, which may be empty. */
enum { TUPLE_SIMPLE = 1, TUPLE_NO_COND = 2, TUPLE_PARENTHESES = 4 };
/* An expression, or a tuple where commas follow it. `end_word` (may be NULL) ends it as the end of a tag
 * does: `in` of a loop. */
jnode_t *parse_tuple(parser_t *p, unsigned flags, const char *end_word);
/* Filters and tests behind `node`; NULL: the text of a filter block. `inline_start`: the "|" is consumed. */
jnode_t *parse_filter(parser_t *p, jnode_t *node, bool inline_start);
/* A target that is a single name. */
jnode_t *parse_target_name(parser_t *p);
/* Names, tuples of them and, `with_namespace`, attributes of namespaces; anything else raises. */
jnode_t *parse_target(parser_t *p, const char *end_word, bool with_namespace);
/* Sets the context of a name, or of all names in a tuple: the parser learns behind them that they are
 * targets. */
void parse_set_ctx(jnode_t *node, jctx_t ctx);

/* ---- statements */
/* A tag's body up to a tag in `ends`, which is consumed with `drop`. */
jlist_t parse_statements(parser_t *p, ends_t ends, bool drop);
/* The same without a tag around it; NULL: up to the end of the text. */
jlist_t parse_body(parser_t *p, ends_t ends);
/* A statement may become several nodes. */
typedef jlist_t parse_fn(parser_t *p);
/* The parser of a tag, or NULL; tags of an extension count only if it is on. */
parse_fn *parse_statement_of(const parser_t *p, const char *name);
/* Name of the next tag from *i on; NULL after the last one. */
const char *parse_tag_name(unsigned tags, size_t *i);
/* Statements that other statements build on; those of Salt's extension become several of Jinja's own. */
jnode_t *parse_import(parser_t *p);
jlist_t parse_one(parser_t *p, jnode_t *node);
jlist_t parse_load(parser_t *p);
jlist_t parse_salt_import(parser_t *p);
jlist_t parse_profile(parser_t *p);

#endif
