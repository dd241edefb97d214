/* parse_salt.c - Salt's tags, rewritten to Jinja's own nodes as salt.utils.jinja's SerializerExtension does.
 *
 * `load_X as v` becomes a macro with the body and `v = macro() | load_X`; `import_X f as v` an import and `v
 * = v | load_X`; `profile` an assignment of its label before the body. Generated names carry a counter. */
#include "common/jinja/parse/parse_int.h"

static const char *const end_load[] = { "endload", NULL };
static const char *const end_profile[] = { "endprofile", NULL };

/* A name that templates do not use: a counter makes it unique in this template. */
static jname_t *
free_name(parser_t *p, const char *fmt)
{
    const char *text = arena_printf(p->arena, "%s%d", fmt, ++p->last_free);
    return jname(p->tree, text, strlen(text));
}

static jnode_t *
name_node(parser_t *p, jname_t *name, jctx_t ctx, int line)
{
    jnode_t *node = parse_node(p, N_NAME, line);
    node->op = (uint8_t) ctx;
    node->name.name = name;
    return node;
}

/* `target = value | filter` */
static jnode_t *
assign_filtered(parser_t *p, jnode_t *target, jnode_t *value, const char *filter, int line)
{
    jnode_t *node = parse_node(p, N_FILTER, line);
    node->filter.node = value;
    node->filter.name = jname(p->tree, filter, strlen(filter));
    jnode_t *assign = parse_node(p, N_ASSIGN, line);
    assign->assign.target = target;
    assign->assign.value = node;
    return assign;
}

/* load_yaml, load_json, load_text. The body becomes a macro, so it has a scope of its own. */
jlist_t
parse_load(parser_t *p)
{
    token_t tag = parse_next(p);
    jlist_t list = { NULL, 0 };
    parse_expect_name(p, "as");
    jnode_t *target = parse_target(p, NULL, false);
    jname_t *name = free_name(p, "_fi");
    jnode_t *macro = parse_node(p, N_MACRO, tag.line);
    macro->macro.sig = arena_take(p->arena, sizeof(*macro->macro.sig));
    macro->macro.name = name;
    macro->macro.body = parse_statements(p, end_load, true);
    jnode_t *call = parse_node(p, N_CALL, tag.line);
    call->call.callee = name_node(p, name, CTX_LOAD, tag.line);
    parse_add(p, &list, macro);
    parse_add(p, &list, assign_filtered(p, target, call, tag.text, tag.line));
    return list;
}

/* Salt's profile assigns its start to a variable, which evaluates the label. */
static jlist_t
profiled(parser_t *p, jnode_t *label, const jlist_t *body, int line)
{
    jlist_t list = { NULL, 0 };
    jnode_t *assign = parse_node(p, N_ASSIGN, line);
    assign->assign.target = name_node(p, free_name(p, "_salt_profile_fi"), CTX_STORE, line);
    assign->assign.value = label;
    parse_add(p, &list, assign);
    parse_add_all(p, &list, body);
    return list;
}

jlist_t
parse_profile(parser_t *p)
{
    int line = parse_next(p).line;
    parse_expect_name(p, "as");
    jnode_t *label = parse_expression(p, true);
    jlist_t body = parse_statements(p, end_profile, true);
    return profiled(p, label, &body, line);
}

/* import_yaml, import_json, import_text: the tag's suffix names the filter. */
jlist_t
parse_salt_import(parser_t *p)
{
    const char *filter = arena_printf(p->arena, "load_%s", strchr(p->cur.text, '_') + 1);
    jnode_t *import = parse_import(p);
    jname_t *name = import->import->target;
    int line = import->line;
    jlist_t body = parse_one(p, import);
    parse_add(p, &body,
              assign_filtered(p, name_node(p, name, CTX_STORE, line), name_node(p, name, CTX_LOAD, line),
                              filter, line));
    return profiled(p, import->import->template, &body, line);
}
