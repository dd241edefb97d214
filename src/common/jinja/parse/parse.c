/* parse.c - the parser's tokens and nodes, and bodies of statements.
 *
 * The parser looks ahead by one token beyond the current one. Nesting is limited by parse_enter, chains of
 * operators by parse_over, since rendering recurses along both. Names are interned in a hash table of the
 * template. */
#include "common/base/buf.h"
#include "common/jinja/parse/parse_int.h"
#include "salt/limits.h"

void
parse_fail(parser_t *p, int line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text AUTO_FREE = xvasprintf(fmt, ap);
    va_end(ap);
    const char *copy = arena_text(p->arena, text, strlen(text));
    free(STEAL(text));
    syntax_fail(p->arena, p->error, line, "%s", copy);
}

/* ---- tokens ------------------------------------------------------------------------------------------- */

token_t
parse_next(parser_t *p)
{
    token_t old = p->cur;
    if (p->has_ahead)
        p->cur = p->ahead;
    else if (p->cur.type != T_EOF)
        p->cur = lexer_next(p->lexer);
    p->has_ahead = false;
    return old;
}

const token_t *
parse_look(parser_t *p)
{
    if (!p->has_ahead) {
        p->ahead = p->cur.type == T_EOF ? p->cur : lexer_next(p->lexer);
        p->has_ahead = true;
    }
    return &p->ahead;
}

bool
parse_at(const parser_t *p, tok_t type)
{
    return p->cur.type == type;
}

bool
parse_at_name(const parser_t *p, const char *name)
{
    return p->cur.type == T_NAME && strcmp(p->cur.text, name) == 0;
}

bool
parse_skip(parser_t *p, tok_t type)
{
    if (!parse_at(p, type))
        return false;
    parse_next(p);
    return true;
}

bool
parse_skip_name(parser_t *p, const char *name)
{
    if (!parse_at_name(p, name))
        return false;
    parse_next(p);
    return true;
}

/* Raises for a token that is not the wanted one. */
static void
unexpected(parser_t *p, const char *wanted)
{
    if (p->cur.type == T_EOF)
        parse_fail(p, p->cur.line, "unexpected end of template, expected '%s'.", wanted);
    parse_fail(p, p->cur.line, "expected token '%s', got '%s'", wanted, token_describe(&p->cur));
}

token_t
parse_expect(parser_t *p, tok_t type)
{
    if (!parse_at(p, type))
        unexpected(p, tok_describe(type));
    return parse_next(p);
}

token_t
parse_expect_name(parser_t *p, const char *name)
{
    if (!parse_at_name(p, name))
        unexpected(p, name);
    return parse_next(p);
}

/* ---- nodes -------------------------------------------------------------------------------------------- */

/* FNV-1a hash; chains have two names on average at most. */
jname_t *
jname(jtree_t *tree, const char *text, size_t len)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char) text[i]) * 16777619u;
    h ^= h >> 16;
    if (tree->n_names >= 2 * tree->n_lists) {
        /* Grows the hash table of names fourfold. */
        size_t n = tree->n_lists > 0 ? 4 * tree->n_lists : 64;
        jname_t **lists = arena_take(tree->arena, n * sizeof(*lists));
        for (size_t i = 0; i < tree->n_lists; i++)
            for (jname_t *name = tree->names[i], *next; name != NULL; name = next) {
                next = name->next;
                name->next = lists[name->hash % n];
                lists[name->hash % n] = name;
            }
        tree->names = lists;
        tree->n_lists = n;
    }
    jname_t **list = &tree->names[h % tree->n_lists];
    for (jname_t *n = *list; n != NULL; n = n->next)
        if (n->len == len && memcmp(n->text, text, len) == 0)
            return n;
    jname_t *n = arena_take(tree->arena, sizeof(*n));
    n->text = arena_text(tree->arena, text, len);
    n->len = len;
    n->hash = h;
    n->next = *list;
    *list = n;
    tree->n_names++;
    return n;
}

jnode_t *
parse_node(parser_t *p, jkind_t kind, int line)
{
    jnode_t *node = arena_take(p->arena, sizeof(*node));
    node->kind = (uint8_t) kind;
    node->line = node->run_line = line;
    node->depth = 1;
    return node;
}

void
parse_add(parser_t *p, jlist_t *list, jnode_t *node)
{
    list->v = arena_grow(p->arena, list->v, list->n, sizeof(*list->v));
    list->v[list->n++] = node;
}

void
parse_add_all(parser_t *p, jlist_t *list, const jlist_t *more)
{
    for (size_t i = 0; i < more->n; i++)
        parse_add(p, list, more->v[i]);
}

/* Sets a node's height above its children and refuses trees that are too high, as evaluation recurses. */
void
parse_over(parser_t *p, jnode_t *node, const jnode_t *child)
{
    if (child == NULL || child->depth < node->depth)
        return;
    if (child->depth >= LIMIT_TEMPLATE_CHAIN)
        parse_fail(p, node->line, "the expression has too many parts in a row (limit %d)",
                   LIMIT_TEMPLATE_CHAIN);
    node->depth = (uint16_t) (child->depth + 1);
}

/* A name node; its variable is resolved later. */
jnode_t *
parse_name_node(parser_t *p, const token_t *token, jctx_t ctx)
{
    jnode_t *node = parse_node(p, N_NAME, token->line);
    node->op = (uint8_t) ctx;
    node->name.name = jname(p->tree, token->text, token->len);
    return node;
}

jnode_t *
parse_text_node(parser_t *p, const char *text, int line)
{
    jnode_t *node = parse_node(p, N_CONST, line);
    node->constant.token = T_STRING;
    node->constant.text = text;
    node->constant.len = strlen(text);
    return node;
}

void
parse_enter(parser_t *p)
{
    if (++p->depth > LIMIT_TEMPLATE_NEST)
        parse_fail(p, p->cur.line, "nested too deeply (limit %d)", LIMIT_TEMPLATE_NEST);
}

void
parse_leave(parser_t *p)
{
    p->depth--;
}

/* ---- bodies ------------------------------------------------------------------------------------------- */

static bool
among(ends_t ends, const char *name)
{
    for (; *ends != NULL; ends++)
        if (strcmp(*ends, name) == 0)
            return true;
    return false;
}

/* Raises for an unknown tag (`name`), or the end of the template (NULL), with Jinja's advice about open
 * blocks. */
static void
fail_tag(parser_t *p, const char *name, int line)
{
    buf_auto_t b = BUF_INIT;
    if (name == NULL)
        buf_puts(&b, "Unexpected end of template.");
    else
        buf_printf(&b, "Encountered unknown tag '%s'.", name);
    bool open = false;
    for (size_t i = 0; name != NULL && i < p->n_ends; i++)
        open = open || among(p->end_stack[i], name);
    if (p->n_ends > 0) {
        buf_puts(&b, open ? " You probably made a nesting mistake. Jinja is expecting this tag, but "
                            "currently looking for "
                          : " Jinja was looking for the following tags: ");
        ends_t ends = p->end_stack[p->n_ends - 1];
        for (size_t i = 0; ends[i] != NULL; i++)
            buf_printf(&b, "%s'%s'", i > 0 ? " or " : "", ends[i]);
        buf_puts(&b, ".");
    }
    if (p->n_tags > 0)
        buf_printf(&b, " The innermost block that needs to be closed is '%s'.", p->tag_stack[p->n_tags - 1]);
    const char *copy = arena_text(p->arena, buf_str(&b), b.len);
    buf_free(&b);
    parse_fail(p, line, "%s", copy);
}

/* Remembers the end tags of an open body, for fail_tag's advice. */
static void
push_ends(parser_t *p, ends_t ends)
{
    p->end_stack = arena_grow(p->arena, p->end_stack, p->n_ends, sizeof(*p->end_stack));
    p->end_stack[p->n_ends++] = ends;
}

/* Ends a run of texts and print statements, which form one output node. */
static void
parse_flush(parser_t *p, jlist_t *body, jlist_t *data)
{
    if (data->n == 0)
        return;
    jnode_t *out = parse_node(p, N_OUTPUT, data->v[0]->line);
    out->output.list = *data;
    *data = (jlist_t){ NULL, 0 };
    parse_add(p, body, out);
}

/* Parses a body until one of `ends` (NULL: the end) is the current token. */
jlist_t
parse_body(parser_t *p, ends_t ends)
{
    jlist_t body = { NULL, 0 }, data = { NULL, 0 };
    parse_enter(p);
    if (ends != NULL)
        push_ends(p, ends);
    while (!parse_at(p, T_EOF)) {
        if (parse_at(p, T_DATA)) {
            /* A piece of text as a node. */
            token_t t = parse_next(p);
            jnode_t *node = parse_node(p, N_DATA, t.line);
            node->constant.token = T_DATA;
            node->constant.text = t.text;
            node->constant.len = t.len;
            parse_add(p, &data, node);
        } else if (parse_skip(p, T_VARIABLE_BEGIN)) {
            parse_add(p, &data, parse_tuple(p, 0, NULL));
            parse_expect(p, T_VARIABLE_END);
        } else {
            parse_flush(p, &body, &data);
            parse_next(p);
            if (ends != NULL && p->cur.type == T_NAME && among(ends, p->cur.text))
                break;

            /* A statement, at its tag's name. The stack of tags serves messages only. */
            if (!parse_at(p, T_NAME))
                parse_fail(p, p->cur.line, "tag name expected");
            parse_fn *fn = parse_statement_of(p, p->cur.text);
            if (fn == NULL)
                fail_tag(p, p->cur.text, p->cur.line);
            p->tag_stack = arena_grow(p->arena, p->tag_stack, p->n_tags, sizeof(*p->tag_stack));
            p->tag_stack[p->n_tags++] = p->cur.text;
            jlist_t nodes = fn(p);
            p->n_tags--;

            parse_add_all(p, &body, &nodes);
            parse_expect(p, T_BLOCK_END);
        }
    }
    parse_flush(p, &body, &data);
    if (ends != NULL)
        p->n_ends--;
    parse_leave(p);
    return body;
}

/* A body after a tag's end, up to one of `ends`; `drop` consumes the end tag's name. */
jlist_t
parse_statements(parser_t *p, ends_t ends, bool drop)
{
    parse_skip(p, T_COLON);
    parse_expect(p, T_BLOCK_END);
    jlist_t body = parse_body(p, ends);
    if (parse_at(p, T_EOF)) {
        push_ends(p, ends);
        fail_tag(p, NULL, p->cur.line);
    }
    if (drop)
        parse_next(p);
    return body;
}

static void
parse_start(parser_t *p, jtree_t *tree, const jsyntax_t *syntax, unsigned tags, const char *source,
            size_t len, syntax_error_t *error)
{
    *p = (parser_t){ .tree = tree, .arena = tree->arena, .error = error, .tags = tags };
    p->lexer = lexer_new(tree->arena, syntax, source, len, error);
    tree->source = lexer_source(p->lexer, &tree->source_len);
}

void
jparse(jtree_t *tree, const jsyntax_t *syntax, unsigned tags, const char *source, size_t len,
       syntax_error_t *error)
{
    parser_t p;
    parse_start(&p, tree, syntax, tags, source, len, error);
    if (len > LIMIT_TEMPLATE)
        parse_fail(&p, 1, "the template has more than %d bytes", LIMIT_TEMPLATE);
    p.cur = lexer_next(p.lexer);
    tree->body = parse_body(&p, NULL);
}

jnode_t *
jparse_expression(jtree_t *tree, const jsyntax_t *syntax, unsigned tags, const char *source, size_t len,
                  syntax_error_t *error)
{
    parser_t p;
    parse_start(&p, tree, syntax, tags, source, len, error);
    lexer_start_expression(p.lexer);
    p.cur = lexer_next(p.lexer);
    jnode_t *expr = parse_expression(&p, true);
    if (!parse_at(&p, T_EOF))
        parse_fail(&p, p.cur.line, "chunk after expression");
    return expr;
}
