/* scope.c - resolves names: walks a tree in the order in which Jinja compiles it and annotates the nodes with
 * slots, loads of scopes, rows of filters and tests, and lines of errors.
 *
 * A frame_t mirrors Jinja's compiler frame: `soft` frames (branches) share the symbols of the frame around.
 * Each frame first collects its names (symbols.c), then visits its statements. `line` follows the lines that
 * Jinja's generated code would carry, since run-time errors report those. */
#include "common/jinja/parse/ast_walk.h"
#include "common/jinja/parse/fold.h"
#include "common/jinja/parse/parse.h"
#include "common/jinja/parse/scope.h"
#include "common/jinja/parse/symbols.h"
#include "common/py/py_ops.h"

/* State of the analysis. It visits nodes in the order in which Jinja generates code. */
typedef struct compiler {
    jtree_t *tree;
    arena_t *arena;   /* `arena` is the tree's */
    arena_t *scratch; /* freed after the analysis */
    const jlookup_t *lookup;
    syntax_error_t *error;
    jescape_t escape;
    int line; /* last line in the generated code's order */
    bool extends_before, extends_known;
    int loops; /* number of loops around the statement, within its function */
    ptab_t blocks;
} compiler_t;

/* Surroundings of a statement, as in Jinja's compiler. */
typedef struct frame {
    symbols_t *symbols;
    bool toplevel, rootlevel, soft;
    bool check; /* output depends on whether there is a parent */
} frame_t;

static void visit_list(compiler_t *c, const jlist_t *list, const frame_t *frame);
static void visit_expr(compiler_t *c, jnode_t *node, const frame_t *frame);

/* Raises TemplateAssertionError at a line. */
static void NORETURN
scope_fail(compiler_t *c, int line, const char *text)
{
    c->error->cls = "TemplateAssertionError";
    syntax_fail(c->arena, c->error, line, "%s", text);
}

/* ---- frames ------------------------------------------------------------------------------------------- */

/* A frame within the same function. */
static frame_t
inner(compiler_t *c, const frame_t *frame)
{
    return (frame_t){ symbols_new(c->scratch, frame->symbols, frame->symbols->vars), false, false, false,
                      frame->check };
}

/* A frame of a function with slots of its own. */
static frame_t
inner_func(compiler_t *c, const frame_t *frame, jfunc_t *func, int line)
{
    func_vars_t *vars = arena_take(c->scratch, sizeof(*vars));
    vars->func = func;
    vars->arena = c->arena;
    vars->error = c->error;
    vars->line = line;
    vars->outer = frame != NULL ? frame->symbols->vars : NULL;
    symbols_t *s = symbols_new(c->scratch, frame != NULL ? frame->symbols : NULL, vars);
    return (frame_t){ s, false, false, false, false };
}

/* Reference from the frame's function: hops outwards, and the slot. */
static jref_t
make_ref(const frame_t *frame, const ident_t *id)
{
    uint16_t hops = 0;
    for (const func_vars_t *f = frame->symbols->vars; f->func != id->vars->func; f = f->outer)
        hops++;
    return (jref_t){ hops, id->slot };
}

/* Variable of a name; unknown names are loaded from the context. */
static jref_t
name_ref(const frame_t *frame, jname_t *name)
{
    ident_t *id = symbols_ref(frame->symbols, name);
    if (id == NULL) {
        symbols_load(frame->symbols, name);
        id = symbols_ref(frame->symbols, name);
    }
    return make_ref(frame, id);
}

/* Loads of the frame, parameters last. */
static jscope_t
scope_of(compiler_t *c, const frame_t *frame)
{
    const ptab_t *loads = &frame->symbols->loads;
    jscope_t scope = { arena_take(c->arena, (loads->n + 1) * sizeof(jload_t)), loads->n, 0 };
    size_t last = loads->n;
    for (size_t i = 0; i < loads->n; i++) {
        const load_t *load = loads->v[i].value;
        jload_t *to = load->kind == LOAD_PARAMETER ? &scope.loads[--last] : &scope.loads[scope.entered++];
        *to = (jload_t){ load->kind, make_ref(frame, loads->v[i].key), { 0, 0 }, load->name };
        if (load->from != NULL)
            to->from = make_ref(frame, load->from);
    }
    return scope;
}

/* Variables of all names that this scope and those around assign. */
static jlocals_t
locals_of(compiler_t *c, const frame_t *frame)
{
    ptab_t names = { .n = 0 };
    for (const symbols_t *s = frame->symbols; s != NULL; s = s->parent)
        for (size_t i = 0; i < s->stores.n; i++)
            ptab_set(c->scratch, &names, s->stores.v[i].key, s->stores.v[i].value);
    jlocals_t locals = { arena_take(c->arena, (names.n + 1) * sizeof(jlocal_t)), names.n };
    for (size_t i = 0; i < names.n; i++) {
        jname_t *name = names.v[i].value;
        locals.v[i] = (jlocal_t){ name, name_ref(frame, name) };
    }
    return locals;
}

/* ---- names used in a body ----------------------------------------------------------------------------- */

/* Search for a name that is read before it is assigned. */
typedef struct wanted {
    const char *name;
    bool found, stored;
} wanted_t;

/* Visitor: finds whether `name` is read before anything assigns it; blocks are not searched. */
static bool
find_undeclared(jnode_t *node, void *cookie)
{
    wanted_t *w = cookie;
    if (node->kind == N_BLOCK)
        return true;
    if (node->kind == N_NAME && strcmp(node->name.name->text, w->name) == 0) {
        w->found = w->found || (node->op == CTX_LOAD && !w->stored);
        w->stored = w->stored || node->op != CTX_LOAD;
    }
    return !w->found && !w->stored && ast_children(node, find_undeclared, w);
}

static bool
reads(const jlist_t *body, const char *name)
{
    wanted_t w = { name, false, false };
    ast_list(body, find_undeclared, &w);
    return w.found;
}

/* Visitor: finds a scoped block, for which a loop has to provide `loop`. */
static bool
find_scoped(jnode_t *node, void *cookie)
{
    bool *found = cookie;
    *found = *found || (node->kind == N_BLOCK && node->block->scoped);
    return !*found && ast_children(node, find_scoped, cookie);
}

/* Visitor: raises for an assignment to `loop` within a loop. */
static bool
find_loop_store(jnode_t *node, void *cookie)
{
    if (node->kind == N_NAME && node->op == CTX_STORE && strcmp(node->name.name->text, "loop") == 0)
        scope_fail(cookie, node->line, "Can't assign to special loop variable in for-loop target");
    return ast_children(node, find_loop_store, cookie);
}

/* ---- expressions -------------------------------------------------------------------------------------- */

/* Unknown filters and tests are compile errors, but in soft frames only when reached, as in Jinja. */
static void
visit_filter(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    bool test = node->kind == N_TEST;
    const jlookup_t *l = c->lookup;
    const char *name = node->filter.name->text;
    node->filter.row = test ? l->test(l->cookie, name) : l->filter(l->cookie, name);
    if (node->filter.row == NULL && !frame->soft)
        scope_fail(c, node->line,
                   arena_printf(c->arena, "No %s named '%s'.", test ? "test" : "filter", name));
    node->op = (uint8_t) c->escape;
    if (node->filter.node != NULL)
        visit_expr(c, node->filter.node, frame);

    /* Visits positional and keyword arguments. */
    const jargs_t *args = &node->filter.args;
    /* Visits the expressions in order. */
    const jlist_t *list = &args->pos;
    for (size_t i = 0; i < list->n; i++)
        visit_expr(c, list->v[i], frame);
    for (size_t i = 0; i < args->nkw; i++)
        visit_expr(c, args->values[i], frame);
    if (args->star != NULL)
        visit_expr(c, args->star, frame);
    if (args->starkw != NULL)
        visit_expr(c, args->starkw, frame);
}

/* Branches are soft: unknown filters in them raise only when evaluated. */
static void
visit_cond(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    frame_t soft = *frame;
    soft.soft = true;
    visit_expr(c, node->cond.then, &soft);
    visit_expr(c, node->cond.test, &soft);
    if (node->cond.otherwise != NULL)
        visit_expr(c, node->cond.otherwise, &soft);
}

typedef struct expr_cookie {
    compiler_t *c;
    const frame_t *frame;
} expr_cookie_t;

static bool
visit_expr_child(jnode_t *node, void *cookie)
{
    expr_cookie_t *e = cookie;
    visit_expr(e->c, node, e->frame);
    return true;
}

/* Visits operands first, then folds the node: constants propagate upwards. */
static void
visit_expr(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    expr_cookie_t cookie = { c, frame };
    switch (node->kind) {
    case N_CONST:
        if (!jfold_literal(c->tree, node))
            scope_fail(c, node->line, "the number is too large");
        break;
    case N_NAME:
        node->name.ref = name_ref(frame, node->name.name);
        break;
    case N_NSREF:
        node->name.ref = name_ref(frame, node->name.name);
        break;
    case N_FILTER:
    case N_TEST:
        visit_filter(c, node, frame);
        break;
    case N_COND:
        visit_cond(c, node, frame);
        break;
    case N_CONCAT:
        node->op = (uint8_t) c->escape;
        ast_children(node, visit_expr_child, &cookie);
        break;
    default:
        ast_children(node, visit_expr_child, &cookie);
    }
    jfold(c->tree, c->lookup->run, c->escape, node);
}

/* ---- statements --------------------------------------------------------------------------------------- */

/* The line of folded output does not count for later errors. */
static void
visit_output(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    node->op = (uint8_t) c->escape;
    node->output.skip = frame->check && c->extends_known;
    node->output.check = frame->check;
    if (node->output.skip)
        return;
    for (size_t i = 0; i < node->output.list.n; i++) {
        jnode_t *item = node->output.list.v[i];
        if (item->kind == N_DATA)
            continue;
        int before = c->line;
        c->line = item->line;
        visit_expr(c, item, frame);
        if (jfold_output(c->tree, c->lookup->run, c->escape, item))
            c->line = before;
    }
}

/* References of all variables of a target, from left to right. */
static void
collect_refs(compiler_t *c, const jnode_t *target, const frame_t *frame, jref_t **refs, size_t *n)
{
    if (target->kind == N_NAME) {
        *refs = arena_grow(c->arena, *refs, *n, sizeof(**refs));
        (*refs)[(*n)++] = name_ref(frame, target->name.name);
        return;
    }
    for (size_t i = 0; i < target->list.n; i++)
        collect_refs(c, target->list.v[i], frame, refs, n);
}

static void
visit_for_test(compiler_t *c, jnode_for_t *loop, const frame_t *frame, const func_vars_t *vars)
{
    /* The condition's variables are separate from the body's, which may still be at an earlier element. */
    frame_t test = inner(c, frame);
    func_vars_t *apart = arena_take(c->scratch, sizeof(*apart));
    *apart = *vars;
    apart->levels = NULL;
    apart->n_levels = 0;
    test.symbols->vars = apart;
    symbols_visit_target(test.symbols, loop->target);
    symbols_visit(test.symbols, loop->test);
    size_t n = 0;
    collect_refs(c, loop->target, &test, &loop->test_refs, &n);
    c->line = loop->test->line;
    visit_expr(c, loop->test, &test);
    loop->test->run_line = loop->test->line;
    loop->test_scope = scope_of(c, &test);
}

/* `loop` is provided only when the body needs it (`extended`). */
static void
visit_for(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    jnode_for_t *loop = node->loop;
    bool scoped = false;
    ast_list(&loop->body, find_scoped, &scoped);
    ast_list(&loop->otherwise, find_scoped, &scoped);
    loop->extended = loop->recursive || reads(&loop->body, "loop") || scoped;
    if (loop->recursive) {
        loop->func = arena_take(c->arena, sizeof(*loop->func));
        loop->func->kind = FUNC_LOOP;
    }
    frame_t body = loop->recursive ? inner_func(c, frame, loop->func, node->line) : inner(c, frame);
    frame_t otherwise = inner(c, frame);
    otherwise.symbols->vars = body.symbols->vars;
    body.check = frame->check;
    jname_t *loop_name = jname(c->tree, "loop", 4);
    if (loop->extended)
        symbols_parameter(body.symbols, loop_name);
    symbols_visit_target(body.symbols, loop->target);
    symbols_visit_list(body.symbols, &loop->body);
    symbols_visit_list(otherwise.symbols, &loop->otherwise);
    if (loop->test != NULL)
        visit_for_test(c, loop, frame, body.symbols->vars);
    find_loop_store(node, c);
    c->line = node->line;
    visit_expr(c, loop->target, &body);
    visit_expr(c, loop->iter, frame);
    if (loop->extended)
        loop->loop_ref = name_ref(&body, loop_name);
    c->loops++;
    visit_list(c, &loop->body, &body);
    c->loops--;
    loop->body_scope = scope_of(c, &body);
    visit_list(c, &loop->otherwise, &otherwise);
    loop->else_scope = scope_of(c, &otherwise);
    /* In Jinja's code the call of a recursive loop comes after its body. */
    c->line = loop->recursive ? node->line : c->line;
}

/* Branches share the scope, as `set` in a branch is visible after it. */
static void
scope_visit_if(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    frame_t soft = *frame;
    soft.rootlevel = false;
    soft.soft = true;
    for (size_t i = 0; i < node->branch.n; i++) {
        if (node->branch.tests[i] != NULL) {
            c->line = node->branch.tests[i]->run_line;
            visit_expr(c, node->branch.tests[i], &soft);
        }
        visit_list(c, &node->branch.bodies[i], &soft);
    }
}

/* Declares the special variable `name` when the body reads it and no argument has that name. */
static bool
scope_special(compiler_t *c, const jnode_t *node, const frame_t *frame, const char *name, jref_t *ret_ref)
{
    const jsignature_t *sig = node->macro.sig;
    if (!reads(&node->macro.body, name))
        return false;
    for (size_t i = 0; i < sig->nargs; i++)
        if (strcmp(sig->args[i]->name.name->text, name) == 0)
            return false;
    *ret_ref = make_ref(frame, symbols_parameter(frame->symbols, jname(c->tree, name, strlen(name))));
    return true;
}

/* An explicit `caller` parameter needs a default when the body uses it. */
static void
check_caller(compiler_t *c, const jnode_t *node)
{
    jsignature_t *sig = node->macro.sig;
    for (size_t i = 0; i < sig->nargs; i++)
        if (strcmp(sig->args[i]->name.name->text, "caller") == 0) {
            sig->explicit_caller = true;
            if (reads(&node->macro.body, "caller") && i < sig->nargs - sig->ndefaults)
                scope_fail(
                    c, node->line,
                    "When defining macros or call blocks the special \"caller\" argument must be omitted or "
                    "be given a default.");
        }
}

static void
visit_signature(symbols_t *s, const jnode_t *node)
{
    const jsignature_t *sig = node->macro.sig;
    for (size_t i = 0; i < sig->nargs; i++)
        symbols_visit(s, sig->args[i]);
    for (size_t i = 0; i < sig->ndefaults; i++)
        symbols_visit(s, sig->defaults[i]);
    symbols_visit_list(s, &node->macro.body);
}

/* Defaults are evaluated in the macro's own scope. `break` inside does not reach a loop outside. */
static void
visit_macro_body(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    jsignature_t *sig = node->macro.sig;
    sig->func = arena_take(c->arena, sizeof(*sig->func));
    sig->func->kind = FUNC_MACRO;
    frame_t body = inner_func(c, frame, sig->func, node->line);
    visit_signature(body.symbols, node);
    check_caller(c, node);
    sig->caller = scope_special(c, node, &body, "caller", &sig->caller_ref);
    sig->kwargs = scope_special(c, node, &body, "kwargs", &sig->kwargs_ref);
    sig->varargs = scope_special(c, node, &body, "varargs", &sig->varargs_ref);
    visit_signature(body.symbols, node);
    c->line = node->line;
    for (size_t i = 0; i < sig->nargs; i++)
        sig->args[i]->name.ref = name_ref(&body, sig->args[i]->name.name);
    for (size_t i = 0; i < sig->ndefaults; i++)
        visit_expr(c, sig->defaults[i], &body);
    int loops = c->loops;
    c->loops = 0;
    visit_list(c, &node->macro.body, &body);
    c->loops = loops;
    sig->func->scope = scope_of(c, &body);
}

static void
visit_macro(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    visit_macro_body(c, node, frame);
    node->macro.toplevel = frame->toplevel;
    node->macro.ref = name_ref(frame, node->macro.name);
}

static void
visit_call_block(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    visit_macro_body(c, node, frame);
    c->line = node->line;
    node->macro.call->call.forward_caller = true;
    visit_expr(c, node->macro.call, frame);
}

static void
visit_filter_block(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    frame_t body = inner(c, frame);
    symbols_visit_list(body.symbols, &node->capture.body);
    symbols_visit(body.symbols, node->capture.filter);
    visit_list(c, &node->capture.body, &body);
    c->line = node->line;
    visit_expr(c, node->capture.filter, &body);
    node->capture.scope = scope_of(c, &body);
}

static void
visit_assign_block(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    frame_t body = inner(c, frame);
    body.check = false;
    symbols_visit_list(body.symbols, &node->capture.body);
    if (node->capture.filter != NULL)
        symbols_visit(body.symbols, node->capture.filter);
    visit_list(c, &node->capture.body, &body);
    c->line = node->line;
    visit_expr(c, node->capture.target, frame);
    if (node->capture.filter != NULL)
        visit_expr(c, node->capture.filter, &body);
    node->capture.scope = scope_of(c, &body);
    node->capture.toplevel = frame->toplevel;
}

static void
visit_with(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    frame_t body = inner(c, frame);
    symbols_visit_list(body.symbols, &node->with.targets);
    symbols_visit_list(body.symbols, &node->with.body);
    node->run_line = c->line;
    for (size_t i = 0; i < node->with.targets.n; i++) {
        visit_expr(c, node->with.targets.v[i], &body);
        visit_expr(c, node->with.values.v[i], frame);
    }
    visit_list(c, &node->with.body, &body);
    node->with.scope = scope_of(c, &body);
}

/* A constant setting is known at once, any other only at run time. */
static void
visit_autoescape(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    frame_t body = inner(c, frame);
    symbols_visit(body.symbols, node->autoescape.value);
    symbols_visit_list(body.symbols, &node->autoescape.body);
    node->run_line = c->line;
    visit_expr(c, node->autoescape.value, &body);
    jescape_t before = c->escape;
    const jnode_t *value = node->autoescape.value;
    c->escape = ESCAPE_ASK;
    if (value->kind == N_CONST && before != ESCAPE_ASK)
        c->escape = py_truth(value->constant.value) > 0 ? ESCAPE_YES : ESCAPE_NO;
    visit_list(c, &node->autoescape.body, &body);
    c->escape = before;
    node->autoescape.scope = scope_of(c, &body);
}

/* In a child template, blocks at the top level are definitions only. */
static void
visit_block(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    if (frame->toplevel) {
        node->block->skip = c->extends_known;
        node->block->check = c->extends_before;
        if (node->block->skip)
            return;
    }
    c->line = node->line;
    if (node->block->scoped)
        node->block->locals = locals_of(c, frame);
}

/* Allowed at the top level only; known for certain unless within a branch. */
static void
visit_extends(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    if (!frame->toplevel)
        scope_fail(c, node->line, "cannot use extend from a non top-level scope");
    node->extends.again = c->extends_before;
    node->extends.known = c->extends_known;
    c->line = node->line;
    visit_expr(c, node->extends.template, frame);
    c->extends_known = c->extends_known || frame->rootlevel;
    c->extends_before = true;
}

/* Imports with context pass the local variables. */
static void
visit_import(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    jnode_import_t *import = node->import;
    c->line = node->line;
    visit_expr(c, import->template, frame);
    import->toplevel = frame->toplevel;
    if (import->with_context)
        import->locals = locals_of(c, frame);
    if (node->kind == N_IMPORT)
        import->target_ref = name_ref(frame, import->target);
    import->refs = arena_take(c->arena, (import->n + 1) * sizeof(*import->refs));
    for (size_t i = 0; i < import->n; i++)
        import->refs[i] = name_ref(frame, import->aliases[i]);
}

static void
visit_assign(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    c->line = node->line;
    visit_expr(c, node->assign.target, frame);
    visit_expr(c, node->assign.value, frame);
    node->assign.toplevel = frame->toplevel;
}

static void
visit_do(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    c->line = node->line;
    visit_expr(c, node->pair.left, frame);
}

static void
visit_jump(compiler_t *c, jnode_t *node, const frame_t *frame)
{
    if (c->loops == 0)
        syntax_fail(c->arena, c->error, node->line, "'%s' outside loop",
                    node->kind == N_BREAK ? "break" : "continue");
    c->line = node->line;
}

typedef void visit_fn(compiler_t *c, jnode_t *node, const frame_t *frame);
static visit_fn *const visitors[N_KINDS] = {
    [N_OUTPUT] = visit_output,
    [N_FOR] = visit_for,
    [N_IF] = scope_visit_if,
    [N_MACRO] = visit_macro,
    [N_CALL_BLOCK] = visit_call_block,
    [N_FILTER_BLOCK] = visit_filter_block,
    [N_WITH] = visit_with,
    [N_BLOCK] = visit_block,
    [N_EXTENDS] = visit_extends,
    [N_INCLUDE] = visit_import,
    [N_IMPORT] = visit_import,
    [N_FROM] = visit_import,
    [N_ASSIGN] = visit_assign,
    [N_ASSIGN_BLOCK] = visit_assign_block,
    [N_EXPR] = visit_do,
    [N_AUTOESCAPE] = visit_autoescape,
    [N_BREAK] = visit_jump,
    [N_CONTINUE] = visit_jump,
};

static void
visit_list(compiler_t *c, const jlist_t *list, const frame_t *frame)
{
    for (size_t i = 0; i < list->n; i++)
        visitors[list->v[i]->kind](c, list->v[i], frame);
}

/* ---- the template and its blocks ---------------------------------------------------------------------- */

/* Visitor: registers all blocks, nested ones included; names must be unique. */
static bool
find_blocks(jnode_t *node, void *cookie)
{
    compiler_t *c = cookie;
    if (node->kind == N_BLOCK) {
        jname_t *name = node->block->name;
        if (ptab_get(&c->blocks, name) != NULL)
            scope_fail(c, node->line, arena_printf(c->arena, "block '%s' defined twice", name->text));
        ptab_set(c->scratch, &c->blocks, name, node);
    }
    return ast_children(node, find_blocks, cookie);
}

/* Declares `self` or `super` when the body reads it. */
static bool
declare_special(compiler_t *c, const jlist_t *body, const frame_t *frame, const char *name, jref_t *ret_ref)
{
    if (!reads(body, name))
        return false;
    *ret_ref = make_ref(frame, symbols_parameter(frame->symbols, jname(c->tree, name, strlen(name))));
    return true;
}

void
jscope_resolve(jtree_t *tree, const jlookup_t *lookup, syntax_error_t *error)
{
    compiler_t c = { .tree = tree,
                     .arena = tree->arena,
                     .scratch = tree->scratch,
                     .lookup = lookup,
                     .error = error,
                     .escape = lookup->autoescape ? ESCAPE_YES : ESCAPE_NO,
                     .line = 1 };
    ast_list(&tree->body, find_blocks, &c);

    /* The template's own function; the line of the parent's call is the last one. */
    tree = c.tree;
    tree->func.kind = FUNC_ROOT;
    frame_t root = inner_func(&c, NULL, &tree->func, 1);
    tree->func.has_self = declare_special(&c, &tree->body, &root, "self", &tree->func.self_ref);
    symbols_visit_list(root.symbols, &tree->body);
    root.toplevel = root.rootlevel = true;
    root.check = tree->extends;
    visit_list(&c, &tree->body, &root);
    tree->func.scope = scope_of(&c, &root);
    tree->parent_line = c.line;

    for (size_t i = 0; i < c.blocks.n; i++) {
        /* A block is a function without outer variables. */
        jnode_t *node = c.blocks.v[i].value;
        jnode_block_t *block = node->block;
        block->func = arena_take(c.arena, sizeof(*block->func));
        block->func->kind = FUNC_BLOCK;
        c.line = node->line;
        frame_t frame = inner_func(&c, NULL, block->func, node->line);
        block->func->has_self = declare_special(&c, &block->body, &frame, "self", &block->func->self_ref);
        block->func->has_super = declare_special(&c, &block->body, &frame, "super", &block->func->super_ref);
        symbols_visit_list(frame.symbols, &block->body);
        visit_list(&c, &block->body, &frame);
        block->func->scope = scope_of(&c, &frame);
        block->next = c.tree->blocks;
        c.tree->blocks = node;
    }
}
