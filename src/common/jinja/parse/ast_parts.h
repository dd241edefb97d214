/* ast_parts.h - parts of a template's nodes: names, variables, scopes, arguments.
 *
 * Layer      common/jinja, private
 * Threads    as ast.h
 * Ownership  everything belongs to the template's arena
 * Errors     none
 * Tests      tests/unit/common/test_jinja_parse.c */
#ifndef COMMON_JINJA_PARSE_AST_PARTS_H
#define COMMON_JINJA_PARSE_AST_PARTS_H

#include "common/jinja/arena.h"
#include "common/py/py.h"

/* A name, one object per template, so names are compared by address. */
typedef struct jname {
    const char *text;
    size_t len;
    py_t *str; /* the same as a value */
    struct jname *next;
    const void *method; /* py_method_t of that name, or NULL, for the type asked last */
    unsigned method_of; /* key of that type; 0: none yet */
    uint32_t hash;      /* of the text */
} jname_t;

typedef enum jkind {
    /* expressions */
    N_CONST,
    N_NAME,
    N_NSREF,
    N_TUPLE,
    N_LIST,
    N_DICT,
    N_BINARY,
    N_UNARY,
    N_NOT,
    N_AND,
    N_OR,
    N_COMPARE,
    N_CONCAT,
    N_GETATTR,
    N_GETITEM,
    N_SLICE,
    N_CALL,
    N_FILTER,
    N_TEST,
    N_COND,
    N_DATA, /* text of the template */
    /* statements */
    N_OUTPUT,
    N_FOR,
    N_IF,
    N_MACRO,
    N_CALL_BLOCK,
    N_FILTER_BLOCK,
    N_WITH,
    N_BLOCK,
    N_EXTENDS,
    N_INCLUDE,
    N_IMPORT,
    N_FROM,
    N_ASSIGN,
    N_ASSIGN_BLOCK,
    N_EXPR,
    N_AUTOESCAPE,
    N_BREAK,
    N_CONTINUE,
    N_KINDS
} jkind_t;

typedef enum jctx { CTX_LOAD, CTX_STORE, CTX_PARAM } jctx_t;

typedef struct jnode jnode_t;

/* Nodes in their order. */
typedef struct jlist {
    jnode_t **v;
    size_t n;
} jlist_t;

/* Arguments of a call, a filter or a test. */
typedef struct jargs {
    jlist_t pos;
    jname_t **names; /* of the keywords */
    jnode_t **values;
    size_t nkw;
    jnode_t *star, *starkw;
} jargs_t;

/* A variable of a function: `hops` functions outwards, at `slot` of its frame. */
typedef struct jref {
    uint16_t hops, slot;
} jref_t;

/* An action on entering a scope: set a variable to a parameter, a look-up in the context, an outer variable's
 * value, or undefined. */
typedef enum jload_kind { LOAD_PARAMETER, LOAD_RESOLVE, LOAD_ALIAS, LOAD_UNDEFINED } jload_kind_t;
typedef struct jload {
    jload_kind_t kind;
    jref_t target, from;
    jname_t *name;
} jload_t;
typedef struct jscope {
    jload_t *loads;
    size_t n, entered; /* parameters come last: the caller sets them */
} jscope_t;

/* A variable with its name, for contexts derived from local variables. */
typedef struct jlocal {
    jname_t *name;
    jref_t ref;
} jlocal_t;
typedef struct jlocals {
    jlocal_t *v;
    size_t n;
} jlocals_t;

/* Code with a frame of its own: the template, a block, a macro, a recursive loop. */
typedef enum jfunc_kind { FUNC_ROOT, FUNC_BLOCK, FUNC_MACRO, FUNC_LOOP } jfunc_kind_t;
/* A function of the generated code, in Jinja's words: it has a frame of its own. */
typedef struct jfunc {
    jfunc_kind_t kind;
    uint16_t slots;
    const jname_t **names; /* of the slots */
    jscope_t scope;
    jref_t self_ref, super_ref; /* of a root or block that uses them */
    bool has_self, has_super;
} jfunc_t;

/* Escaping of output: known when the template is compiled, or only at run time. */
typedef enum jescape { ESCAPE_NO, ESCAPE_YES, ESCAPE_ASK } jescape_t;

/* Parameters of a macro or call block. */
typedef struct jsignature {
    jnode_t **args; /* N_NAME */
    jnode_t **defaults;
    size_t nargs, ndefaults;
    bool caller, kwargs, varargs; /* which special variables the body uses */
    bool explicit_caller;
    jref_t caller_ref, kwargs_ref, varargs_ref;
    py_t *name; /* NULL: anonymous */
    py_t **arg_names;
    jfunc_t *func;
} jsignature_t;

typedef struct jnode_for {
    jnode_t *target, *iter, *test;
    jlist_t body, otherwise;
    bool recursive, extended;
    jscope_t body_scope, test_scope, else_scope;
    jref_t *test_refs; /* the target's variables as the test sees them, from left to right */
    jref_t loop_ref;   /* `loop` of the body, when extended */
    jfunc_t *func;     /* of a recursive loop */
} jnode_for_t;

typedef struct jnode_block {
    jname_t *name;
    jlist_t body;
    bool scoped, required;
    bool skip, check; /* in a template that extends: never here; only without a parent */
    jlocals_t locals;
    jfunc_t *func;
    struct jnode *next;
} jnode_block_t;

typedef struct jnode_import {
    jnode_t *template;
    bool with_context, ignore_missing;
    jname_t *target; /* N_IMPORT */
    jref_t target_ref;
    jname_t **names, **aliases; /* N_FROM */
    jref_t *refs;
    size_t n;
    bool toplevel;
    jlocals_t locals;
} jnode_import_t;

typedef enum jselect { SELECT_EITHER, SELECT_ONE, SELECT_LIST } jselect_t;

#endif
