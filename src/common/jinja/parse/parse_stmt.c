/* parse_stmt.c - statements: one function per tag, and the table by name last. Each function starts at the
 * tag's name and returns its nodes with the end tag consumed, at the closing delimiter. */
#include "common/jinja/parse/parse_int.h"

static const char *const end_for[] = { "endfor", "else", NULL };
static const char *const end_for_else[] = { "endfor", NULL };
static const char *const end_if[] = { "elif", "else", "endif", NULL };
static const char *const end_if_else[] = { "endif", NULL };
static const char *const end_set[] = { "endset", NULL };
static const char *const end_with[] = { "endwith", NULL };
static const char *const end_autoescape[] = { "endautoescape", NULL };
static const char *const end_block[] = { "endblock", NULL };
static const char *const end_call[] = { "endcall", NULL };
static const char *const end_filter[] = { "endfilter", NULL };
static const char *const end_macro[] = { "endmacro", NULL };

jlist_t
parse_one(parser_t *p, jnode_t *node)
{
    jlist_t list = { NULL, 0 };
    parse_add(p, &list, node);
    return list;
}

/* `set x = value`, or a block set with an optional filter. */
static jlist_t
parse_set(parser_t *p)
{
    int line = parse_next(p).line;
    jnode_t *target = parse_target(p, NULL, true);
    if (parse_skip(p, T_ASSIGN)) {
        jnode_t *node = parse_node(p, N_ASSIGN, line);
        node->assign.target = target;
        node->assign.value = parse_tuple(p, 0, NULL);
        return parse_one(p, node);
    }
    jnode_t *node = parse_node(p, N_ASSIGN_BLOCK, line);
    node->capture.target = target;
    node->capture.filter = parse_filter(p, NULL, false);
    node->capture.body = parse_statements(p, end_set, true);
    return parse_one(p, node);
}

/* `for target in iter [if test] [recursive]`, with an optional `else`. */
static jlist_t
parse_for(parser_t *p)
{
    jnode_t *node = parse_node(p, N_FOR, parse_next(p).line);
    jnode_for_t *loop = node->loop = arena_take(p->arena, sizeof(*loop));
    loop->target = parse_target(p, "in", false);
    parse_expect_name(p, "in");
    loop->iter = parse_tuple(p, TUPLE_NO_COND, "recursive");
    if (parse_skip_name(p, "if"))
        loop->test = parse_expression(p, true);
    loop->recursive = parse_skip_name(p, "recursive");
    loop->body = parse_statements(p, end_for, false);
    if (strcmp(parse_next(p).text, "endfor") != 0)
        loop->otherwise = parse_statements(p, end_for_else, true);
    return parse_one(p, node);
}

static void
add_branch(parser_t *p, jnode_t *node, jnode_t *test, jlist_t body)
{
    size_t n = node->branch.n++;
    node->branch.tests = arena_grow(p->arena, node->branch.tests, n, sizeof(*node->branch.tests));
    node->branch.bodies = arena_grow(p->arena, node->branch.bodies, n, sizeof(*node->branch.bodies));
    node->branch.tests[n] = test;
    node->branch.bodies[n] = body;
}

/* All branches of `if`, `elif` and `else` form one node. */
static jlist_t
parse_if(parser_t *p)
{
    jnode_t *node = parse_node(p, N_IF, parse_next(p).line);
    for (int line = node->line;; line = p->cur.line) {
        jnode_t *test = parse_tuple(p, TUPLE_NO_COND, NULL);
        /* An error in the condition reports the tag's line, which may not be the condition's. */
        test->run_line = line;
        jlist_t body = parse_statements(p, end_if, false);
        add_branch(p, node, test, body);
        const char *end = parse_next(p).text;
        if (strcmp(end, "elif") == 0)
            continue;
        if (strcmp(end, "else") == 0)
            add_branch(p, node, NULL, parse_statements(p, end_if_else, true));
        return parse_one(p, node);
    }
}

/* `with a = 1, b = 2`; the targets are parameters of the body. */
static jlist_t
parse_with(parser_t *p)
{
    jnode_t *node = parse_node(p, N_WITH, parse_next(p).line);
    while (!parse_at(p, T_BLOCK_END)) {
        if (node->with.targets.n > 0)
            parse_expect(p, T_COMMA);
        jnode_t *target = parse_target(p, NULL, false);
        parse_set_ctx(target, CTX_PARAM);
        parse_add(p, &node->with.targets, target);
        parse_expect(p, T_ASSIGN);
        parse_add(p, &node->with.values, parse_expression(p, true));
    }
    node->with.body = parse_statements(p, end_with, true);
    return parse_one(p, node);
}

static jlist_t
parse_autoescape(parser_t *p)
{
    jnode_t *node = parse_node(p, N_AUTOESCAPE, parse_next(p).line);
    node->autoescape.value = parse_expression(p, true);
    node->autoescape.body = parse_statements(p, end_autoescape, true);
    return parse_one(p, node);
}

static bool
parse_stmt_is_blank(const jnode_t *node)
{
    if (node->kind != N_DATA)
        return false;
    const char *s = node->constant.text, *end = s + node->constant.len;
    for (size_t n; (n = space_at(s, end)) > 0;)
        s += n;
    return s == end;
}

/* The end tag may repeat the block's name. */
static jlist_t
parse_block(parser_t *p)
{
    jnode_t *node = parse_node(p, N_BLOCK, parse_next(p).line);
    jnode_block_t *block = node->block = arena_take(p->arena, sizeof(*block));
    token_t name = parse_expect(p, T_NAME);
    block->name = jname(p->tree, name.text, name.len);
    block->scoped = parse_skip_name(p, "scoped");
    block->required = parse_skip_name(p, "required");
    if (parse_at(p, T_SUB))
        parse_fail(
            p, p->cur.line,
            "Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use "
            "an underscore instead.");
    block->body = parse_statements(p, end_block, true);
    if (block->required) {
        /* A required block may contain white space and comments only. */
        for (size_t i = 0; i < block->body.n; i++) {
            const jlist_t *nodes = block->body.v[i]->kind == N_OUTPUT ? &block->body.v[i]->output.list : NULL;
            for (size_t k = 0; nodes == NULL || k < nodes->n; k++)
                if (nodes == NULL || !parse_stmt_is_blank(nodes->v[k]))
                    parse_fail(p, p->cur.line, "Required blocks can only contain comments or whitespace");
        }
    }
    parse_skip_name(p, name.text);
    return parse_one(p, node);
}

static jlist_t
parse_extends(parser_t *p)
{
    jnode_t *node = parse_node(p, N_EXTENDS, parse_next(p).line);
    node->extends.template = parse_expression(p, true);
    p->tree->extends = true;
    return parse_one(p, node);
}

/* Parses `with context` or `without context`; false when neither is there. */
static bool
parse_context(parser_t *p, jnode_import_t *import)
{
    if (!parse_at_name(p, "with") && !parse_at_name(p, "without"))
        return false;
    const token_t *ahead = parse_look(p);
    if (ahead->type != T_NAME || strcmp(ahead->text, "context") != 0)
        return false;
    import->with_context = strcmp(parse_next(p).text, "with") == 0;
    parse_next(p);
    return true;
}

/* The template expression after `include`, `import` or `from`. */
static jnode_t *
import_node(parser_t *p, jkind_t kind)
{
    jnode_t *node = parse_node(p, kind, parse_next(p).line);
    node->import = arena_take(p->arena, sizeof(*node->import));
    node->import->template = parse_expression(p, true);
    return node;
}

/* How an include looks its template up, by the shape of the expression, as in Jinja. */
static jselect_t
select_of(const jnode_t *template)
{
    if (template->kind == N_CONST && template->constant.token == T_STRING)
        return SELECT_ONE;
    return template->kind == N_TUPLE || template->kind == N_LIST ? SELECT_LIST : SELECT_EITHER;
}

/* Includes have the context unless told otherwise. */
static jlist_t
parse_stmt_parse_include(parser_t *p)
{
    jnode_t *node = import_node(p, N_INCLUDE);
    node->op = (uint8_t) select_of(node->import->template);
    if (parse_at_name(p, "ignore")) {
        const token_t *ahead = parse_look(p);
        if (ahead->type == T_NAME && strcmp(ahead->text, "missing") == 0) {
            node->import->ignore_missing = true;
            parse_next(p);
            parse_next(p);
        }
    }
    node->import->with_context = true;
    parse_context(p, node->import);
    return parse_one(p, node);
}

/* Imports have no context unless told otherwise. */
jnode_t *
parse_import(parser_t *p)
{
    jnode_t *node = import_node(p, N_IMPORT);
    parse_expect_name(p, "as");
    node->import->target = parse_target_name(p)->name.name;
    parse_context(p, node->import);
    return node;
}

static jlist_t
parse_import_tag(parser_t *p)
{
    return parse_one(p, parse_import(p));
}

/* The list ends before `with context`, or when no comma follows. */
static jlist_t
parse_from(parser_t *p)
{
    jnode_t *node = import_node(p, N_FROM);
    parse_expect_name(p, "import");
    for (;;) {
        if (node->import->n > 0)
            parse_expect(p, T_COMMA);
        if (!parse_at(p, T_NAME))
            parse_expect(p, T_NAME);
        if (parse_context(p, node->import))
            break;

        /* A name of `from ... import`, with an optional alias; private names are refused when compiled. */
        jnode_import_t *import = node->import;
        jnode_t *name = parse_target_name(p);
        if (name->name.name->text[0] == '_') {
            p->error->cls = "TemplateAssertionError";
            parse_fail(p, name->line, "names starting with an underline can not be imported");
        }
        jname_t *alias = name->name.name;
        if (parse_skip_name(p, "as"))
            alias = parse_target_name(p)->name.name;
        import->names = arena_grow(p->arena, import->names, import->n, sizeof(*import->names));
        import->aliases = arena_grow(p->arena, import->aliases, import->n, sizeof(*import->aliases));
        import->names[import->n] = name->name.name;
        import->aliases[import->n++] = alias;

        if (parse_context(p, node->import) || !parse_at(p, T_COMMA))
            break;
    }
    return parse_one(p, node);
}

/* Parameters of a macro; those after the first default need one as well. */
static void
parse_signature(parser_t *p, jsignature_t *sig)
{
    parse_expect(p, T_LPAREN);
    while (!parse_at(p, T_RPAREN)) {
        if (sig->nargs > 0)
            parse_expect(p, T_COMMA);
        jnode_t *arg = parse_target_name(p);
        arg->op = CTX_PARAM;
        if (parse_skip(p, T_ASSIGN)) {
            sig->defaults = arena_grow(p->arena, sig->defaults, sig->ndefaults, sizeof(*sig->defaults));
            sig->defaults[sig->ndefaults++] = parse_expression(p, true);
        } else if (sig->ndefaults > 0) {
            parse_fail(p, p->cur.line, "non-default argument follows default argument");
        }
        sig->args = arena_grow(p->arena, sig->args, sig->nargs, sizeof(*sig->args));
        sig->args[sig->nargs++] = arg;
    }
    parse_expect(p, T_RPAREN);
}

/* `call(args) macro(...)`: the body becomes the macro's caller. */
static jlist_t
parse_call_block(parser_t *p)
{
    jnode_t *node = parse_node(p, N_CALL_BLOCK, parse_next(p).line);
    node->macro.sig = arena_take(p->arena, sizeof(*node->macro.sig));
    if (parse_at(p, T_LPAREN))
        parse_signature(p, node->macro.sig);
    node->macro.call = parse_expression(p, true);
    if (node->macro.call->kind != N_CALL)
        parse_fail(p, node->line, "expected call");
    node->macro.body = parse_statements(p, end_call, true);
    return parse_one(p, node);
}

static jlist_t
parse_filter_block(parser_t *p)
{
    jnode_t *node = parse_node(p, N_FILTER_BLOCK, parse_next(p).line);
    node->capture.filter = parse_filter(p, NULL, true);
    node->capture.body = parse_statements(p, end_filter, true);
    return parse_one(p, node);
}

static jlist_t
parse_macro(parser_t *p)
{
    jnode_t *node = parse_node(p, N_MACRO, parse_next(p).line);
    node->macro.sig = arena_take(p->arena, sizeof(*node->macro.sig));
    node->macro.name = parse_target_name(p)->name.name;
    parse_signature(p, node->macro.sig);
    node->macro.body = parse_statements(p, end_macro, true);
    return parse_one(p, node);
}

static jlist_t
parse_print(parser_t *p)
{
    jnode_t *node = parse_node(p, N_OUTPUT, parse_next(p).line);
    while (!parse_at(p, T_BLOCK_END)) {
        if (node->output.list.n > 0)
            parse_expect(p, T_COMMA);
        parse_add(p, &node->output.list, parse_expression(p, true));
    }
    return parse_one(p, node);
}

static jlist_t
parse_do(parser_t *p)
{
    jnode_t *node = parse_node(p, N_EXPR, parse_next(p).line);
    node->pair.left = parse_tuple(p, 0, NULL);
    return parse_one(p, node);
}

static jlist_t
parse_break(parser_t *p)
{
    return parse_one(p, parse_node(p, N_BREAK, parse_next(p).line));
}

static jlist_t
parse_continue(parser_t *p)
{
    return parse_one(p, parse_node(p, N_CONTINUE, parse_next(p).line));
}

/* A tag and the function that parses it. */
typedef struct statement {
    const char *name;
    parse_fn *fn;
    unsigned tags; /* the extension it needs; 0: none */
} statement_t;

static const statement_t statements[] = {
    { "autoescape", parse_autoescape, 0 },
    { "block", parse_block, 0 },
    { "break", parse_break, JTAG_LOOP_CONTROLS },
    { "call", parse_call_block, 0 },
    { "continue", parse_continue, JTAG_LOOP_CONTROLS },
    { "do", parse_do, JTAG_DO },
    { "extends", parse_extends, 0 },
    { "filter", parse_filter_block, 0 },
    { "for", parse_for, 0 },
    { "from", parse_from, 0 },
    { "if", parse_if, 0 },
    { "import", parse_import_tag, 0 },
    { "import_json", parse_salt_import, JTAG_SALT },
    { "import_text", parse_salt_import, JTAG_SALT },
    { "import_yaml", parse_salt_import, JTAG_SALT },
    { "include", parse_stmt_parse_include, 0 },
    { "load_json", parse_load, JTAG_SALT },
    { "load_text", parse_load, JTAG_SALT },
    { "load_yaml", parse_load, JTAG_SALT },
    { "macro", parse_macro, 0 },
    { "print", parse_print, 0 },
    { "profile", parse_profile, JTAG_SALT },
    { "set", parse_set, 0 },
    { "with", parse_with, 0 },
};

parse_fn *
parse_statement_of(const parser_t *p, const char *name)
{
    for (size_t i = 0; i < NELEMS(statements); i++)
        if (strcmp(statements[i].name, name) == 0 &&
            (statements[i].tags == 0 || (statements[i].tags & p->tags) != 0))
            return statements[i].fn;
    return NULL;
}

const char *
parse_tag_name(unsigned tags, size_t *i)
{
    for (; *i < NELEMS(statements); ++*i)
        if (statements[*i].tags == 0 || (statements[*i].tags & tags) != 0)
            return statements[(*i)++].name;
    return NULL;
}
