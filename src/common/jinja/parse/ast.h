/* ast.h - a template as a tree: made by the parser, annotated by scope analysis, walked by rendering.
 *
 * Layer      common/jinja, private
 * Threads    read-only once compiled, except the constants' reference counts
 * Ownership  nodes belong to the template's arena; constants to the template
 * Errors     none
 * Tests      tests/unit/common/test_jinja_parse.c */
#ifndef COMMON_JINJA_PARSE_AST_H
#define COMMON_JINJA_PARSE_AST_H

#include "common/jinja/parse/ast_parts.h"

struct jrun;
typedef py_t *jeval_fn(struct jrun *r, const jnode_t *node);
typedef int jtruth_fn(struct jrun *r, const jnode_t *node);

struct jnode {
    uint8_t kind;
    uint8_t op; /* py_op_t, py_unary_t; jctx_t of names; jselect_t of includes; jescape_t of output */
    uint16_t depth;
    int line;           /* line in the source */
    int run_line;       /* line of an error at run time */
    bool constant_expr; /* Jinja folds it */
    jeval_fn *eval;     /* of expressions, once their names are resolved */
    jtruth_fn *truth;
    union {
        struct {
            py_t *value;
            const char *text; /* until it is made a value */
            size_t len;
            uint8_t token;
            bool folded; /* the value of a folded expression, or folded text */
        } constant;
        struct {
            jname_t *name;
            jname_t *attr; /* N_NSREF */
            jref_t ref;
        } name;
        jlist_t list; /* N_TUPLE, N_LIST, N_CONCAT, N_OUTPUT; N_DICT: key, value, key, ... */
        struct {
            jnode_t *left, *right;
        } pair; /* N_BINARY, N_AND, N_OR; left alone: N_UNARY, N_NOT, N_EXPR */
        struct {
            jnode_t *first;
            uint8_t *ops;
            jnode_t **v;
            size_t n;
        } compare;
        struct {
            jnode_t *node;
            jname_t *name;
            jnode_t *arg;
        } attr;
        struct {
            jnode_t *start, *stop, *step;
        } slice;
        struct {
            jnode_t *callee;
            jargs_t args;
            bool forward_caller;
            jref_t caller_ref;
        } call;
        struct {
            jnode_t *node; /* NULL: what a filter block or a set block captured */
            jname_t *name;
            const void *row; /* filter or test; NULL: unknown, raised when it is reached */
            jargs_t args;
        } filter;
        struct {
            jnode_t *test, *then, *otherwise;
        } cond;
        struct {
            jlist_t list;
            bool skip, check; /* as in jnode_block_t */
        } output;
        jnode_for_t *loop;
        struct {
            jnode_t **tests; /* one per branch, NULL for else */
            jlist_t *bodies;
            size_t n;
        } branch;
        struct {
            jsignature_t *sig;
            jlist_t body;
            jref_t ref;
            bool toplevel;
            jname_t *name;
            jnode_t *call; /* N_CALL_BLOCK */
        } macro;
        struct {
            jnode_t *filter; /* or NULL */
            jnode_t *target;
            jlist_t body;
            jscope_t scope;
            bool toplevel;
        } capture; /* N_FILTER_BLOCK, N_ASSIGN_BLOCK */
        struct {
            jlist_t targets, values;
            jlist_t body;
            jscope_t scope;
        } with;
        jnode_block_t *block;
        struct {
            jnode_t *template;
            bool again; /* another one may have been before */
            bool known; /* another one was, for certain */
        } extends;
        jnode_import_t *import;
        struct {
            jnode_t *target, *value;
            bool toplevel;
        } assign;
        struct {
            jnode_t *value;
            jlist_t body;
            jscope_t scope;
        } autoescape;
    };
};

/* Besides py_cmp_t, in jnode.compare.ops. */
enum { CMP_IN = 16, CMP_NOT_IN };

/* A compiled template. */
typedef struct jtree {
    arena_t *arena;
    arena_t *scratch;   /* of scope analysis; the caller destroys it when that is over */
    const char *source; /* with its newlines normalised */
    size_t source_len;
    jlist_t body;
    jfunc_t func;
    jnode_t *blocks; /* N_BLOCK, by jnode_block_t.next */
    bool extends;
    int parent_line; /* line at which errors of the parent appear in this template */
    jname_t **names; /* lists, by hash */
    size_t n_lists, n_names;
    py_t **values; /* constants to release */
    size_t n_values;
} jtree_t;

#endif
