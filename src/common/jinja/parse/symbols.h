/* symbols.h - names of one scope and its parents while a template is analysed.
 *
 * Layer      common/jinja, private
 * Threads    one at a time
 * Ownership  everything belongs to the arena it was made in
 * Errors     as the parser: jumps to error->out
 * Tests      tests/unit/common/test_jinja.c
 */
#ifndef COMMON_JINJA_PARSE_SYMBOLS_H
#define COMMON_JINJA_PARSE_SYMBOLS_H

#include "common/jinja/parse/ast.h"
#include "common/jinja/parse/lex.h"

/* Pointers by pointer, in order of insertion. */
typedef struct ptab {
    struct ptab_entry {
        const void *key;
        void *value;
    } * v;
    size_t n;
    uint32_t *index; /* of larger tables: position + 1 */
    size_t cap;
} ptab_t;
/* NULL without the key. Small tables are searched in order, larger ones have an index. */
void *ptab_get(const ptab_t *t, const void *key);
void ptab_set(arena_t *arena, ptab_t *t, const void *key, void *value);

/* A function while its variables are counted. */
typedef struct func_vars {
    jfunc_t *func;
    arena_t *arena; /* the template's */
    syntax_error_t *error;
    int line; /* of the function */
    struct func_vars *outer;
    ptab_t *levels; /* name -> ident */
    size_t n_levels;
} func_vars_t;

/* A variable: a name at a level of nesting in a function. */
typedef struct ident {
    func_vars_t *vars;
    uint16_t slot;
} ident_t;

/* How a variable gets its value when the scope is entered. */
typedef struct load {
    jload_kind_t kind;
    ident_t *from;
    jname_t *name;
} load_t;

/* Names of a scope, as Jinja's idtracking.Symbols. */
typedef struct symbols {
    arena_t *arena; /* scratch */
    func_vars_t *vars;
    struct symbols *parent;
    size_t level;
    ptab_t refs;   /* name -> ident */
    ptab_t loads;  /* ident -> load */
    ptab_t stores; /* name */
} symbols_t;

/* NEW from the arena; a level below `parent` (NULL: the outermost). */
symbols_t *symbols_new(arena_t *arena, symbols_t *parent, func_vars_t *vars);
/* The variable that a name means here or further out; NULL: none yet. */
ident_t *symbols_ref(const symbols_t *s, const jname_t *name);
/* A name that is read: of the context when no scope has assigned it. */
void symbols_load(symbols_t *s, jname_t *name);
/* A name that is assigned: one of this scope from its start on, with the outer value if there is one. */
void symbols_store(symbols_t *s, jname_t *name);
/* A parameter, which the caller sets. */
ident_t *symbols_parameter(symbols_t *s, jname_t *name);
/* Records what statements do to the names of their scope. */
void symbols_visit(symbols_t *s, jnode_t *node);
void symbols_visit_list(symbols_t *s, const jlist_t *list);
/* All names of a target become parameters. */
void symbols_visit_target(symbols_t *s, jnode_t *node);

#endif
