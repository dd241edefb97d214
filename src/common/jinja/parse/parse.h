/* parse.h - tokens to a tree, with Jinja's grammar, Salt's tags and their error texts.
 *
 * Layer      common/jinja
 * Threads    one at a time
 * Ownership  the tree belongs to the arena
 * Errors     syntax_error_t: TemplateSyntaxError or TemplateAssertionError with its line
 * Tests      tests/unit/common/test_jinja_parse.c
 */
#ifndef COMMON_JINJA_PARSE_PARSE_H
#define COMMON_JINJA_PARSE_PARSE_H

#include "common/jinja/parse/ast.h"
#include "common/jinja/parse/lex.h"

/* Tags beyond the language itself. */
enum {
    JTAG_DO = 1 << 0,
    JTAG_LOOP_CONTROLS = 1 << 1,
    JTAG_SALT = 1 << 2 /* load_yaml, import_yaml, profile, ... */
};

/* Parses a template into tree->body. Jumps to error->out on failure. */
void jparse(jtree_t *tree, const jsyntax_t *syntax, unsigned tags, const char *source, size_t len,
            syntax_error_t *error);
/* Parses a single expression, as compile_expression does. */
jnode_t *jparse_expression(jtree_t *tree, const jsyntax_t *syntax, unsigned tags, const char *source,
                           size_t len, syntax_error_t *error);

/* The template's unique jname_t for a text. */
jname_t *jname(jtree_t *tree, const char *text, size_t len);

#endif
