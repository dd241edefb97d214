/* scope.h - resolves each name of a template to a variable once, so that rendering uses slots instead of
 * look-ups by name.
 *
 * Layer      common/jinja, private
 * Threads    one at a time
 * Ownership  annotations belong to the tree's arena
 * Errors     as the parser: jumps to error->out with TemplateAssertionError
 * Tests      tests/unit/common/test_jinja.c, tests/cases/jinja */
#ifndef COMMON_JINJA_PARSE_SCOPE_H
#define COMMON_JINJA_PARSE_SCOPE_H

#include "common/jinja/parse/ast.h"
#include "common/jinja/parse/lex.h"

/* Rows by name; NULL: there is no such filter or test. */
typedef struct jlookup {
    const void *(*filter)(const void *cookie, const char *name);
    const void *(*test)(const void *cookie, const char *name);
    const void *cookie;
    bool autoescape;
    struct jrun *run; /* to evaluate constants in; without variables */
} jlookup_t;

void jscope_resolve(jtree_t *tree, const jlookup_t *lookup, syntax_error_t *error);

#endif
