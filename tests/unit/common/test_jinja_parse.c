/* Lexer and parser of templates: trees as text, and the errors of broken templates. */
#include "unit/unit.h"

#include "common/base/buf.h"
#include "common/jinja/parse/ast_walk.h"
#include "common/jinja/parse/parse.h"

typedef struct dump {
    buf_t *out;
    bool first;
} dump_t;

static const char *const kinds[N_KINDS] = {
    "const", "name",      "ns",          "tuple", "list",       "dict",    "binary",   "unary",
    "not",   "and",       "or",          "cmp",   "concat",     "attr",    "item",     "slice",
    "call",  "filter",    "test",        "cond",  "data",       "output",  "for",      "if",
    "macro", "callblock", "filterblock", "with",  "block",      "extends", "include",  "import",
    "from",  "set",       "setblock",    "do",    "autoescape", "break",   "continue",
};

static bool
dump_node(jnode_t *node, void *cookie)
{
    buf_t *out = cookie;
    buf_printf(out, "(%s", kinds[node->kind]);
    if (node->kind == N_CONST || node->kind == N_DATA)
        buf_printf(out, " %s", node->constant.text);
    if (node->kind == N_NAME)
        buf_printf(out, " %s%s", node->name.name->text, node->op == CTX_LOAD ? "" : "=");
    if (node->kind == N_GETATTR)
        buf_printf(out, " .%s", node->attr.name->text);
    if (node->kind == N_FILTER || node->kind == N_TEST)
        buf_printf(out, " %s", node->filter.name->text);
    if (node->kind == N_BINARY || node->kind == N_UNARY)
        buf_printf(out, " %d", node->op);
    ast_children(node, dump_node, out);
    buf_puts(out, ")");
    return true;
}

static syntax_error_t problem;

/* NEW text: the tree, or "CLASS line: message". */
static char *
parsed(const jsyntax_t *syntax, const char *source)
{
    buf_auto_t out = BUF_INIT;
    jtree_t tree = { .arena = arena_new() };
    problem = (syntax_error_t){ .line = 0 };
    if (setjmp(problem.out) == 0) {
        jparse(&tree, syntax, JTAG_DO | JTAG_LOOP_CONTROLS | JTAG_SALT, source, strlen(source), &problem);
        ast_list(&tree.body, dump_node, &out);
    } else {
        buf_printf(&out, "%s %d: %s", problem.cls, problem.line, problem.message);
    }
    arena_destroy(&tree.arena);
    buf_putc(&out, '\0');
    return buf_steal(&out);
}

static void
check(const jsyntax_t *syntax, const char *source, const char *expected)
{
    char *text = parsed(syntax, source);
    if (strcmp(text, expected) != 0)
        fail_msg("%s\n   gives %s\ninstead of %s", source, text, expected);
    free(text);
}

typedef struct example {
    const char *source, *tree;
} example_t;

static const example_t trees[] = {
    { "a{{ b }}c", "(output(data a)(name b)(data c))" },
    { "{{ a.b['c'](1, *d, k=2, **e) }}",
      "(output(call(item(attr .b(name a))(const c))(const 1)(const 2)(name d)(name e)))" },
    { "{{ -1 ** 2 }}", "(output(binary 6(unary 0(const 1))(const 2)))" },
    { "{{ a is not b and c not in d }}", "(output(and(not(test b(name a)))(cmp(name c)(name d))))" },
    { "{{ a if b }}", "(output(cond(name b)(name a)))" },
    { "{{ x|f(1)|g is h 2 }}", "(output(test h(filter g(filter f(name x)(const 1)))(const 2)))" },
    { "{{ 1, }}", "(output(tuple(const 1)))" },
    { "{{ a[1:2, ::3] }}", "(output(item(name a)(tuple(slice(const 1)(const 2))(slice(const 3)))))" },
    { "{% for a, b in c if d recursive %}x{% else %}y{% endfor %}",
      "(for(tuple(name a=)(name b=))(name c)(output(data x))(output(data y))(name d))" },
    { "{% set n.a = 1 %}{% set x | f %}t{% endset %}",
      "(set(ns)(const 1))(setblock(name x=)(filter f)(output(data t)))" },
    { "{% load_yaml as d %}a: 1{% endload %}",
      "(macro(output(data a: 1)))(set(name d=)(filter load_yaml(call(name _fi1))))" },
    { "{% import_json 'x' as d %}", "(set(name _salt_profile_fi1=)(const x))(import(const x))(set(name d=)"
                                    "(filter load_json(name d)))" },
    { "{{ 'a\\x41\\u00e9\\\n' \"b\" }}", "(output(const aA\xc3\xa9"
                                         "b))" },
    { "{{ 1_000 + 0x_ff + 1.5e3 }}", "(output(binary 0(binary 0(const 1000)(const 0xff))(const 1.5e3)))" },
    { "  {%- raw -%} {{ x }} {%- endraw -%}  z", "(output(data {{ x }})(data z))" },
};

static void
test_trees(void **state)
{
    static const jsyntax_t plain = { .newline = NULL };
    for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
        check(&plain, trees[i].source, trees[i].tree);
}

static const example_t errors[] = {
    { "a\n{% endfor %}", "TemplateSyntaxError 2: Encountered unknown tag 'endfor'." },
    { "{% for x in y %}\n{% endif %}",
      "TemplateSyntaxError 2: Encountered unknown tag 'endif'. Jinja was looking for the following tags: "
      "'endfor' or 'else'. The innermost block that needs to be closed is 'for'." },
    { "{% if a %}{% for x in y %}{% endif %}",
      "TemplateSyntaxError 1: Encountered unknown tag 'endif'. You probably made a nesting mistake. Jinja is "
      "expecting this tag, but currently looking for 'endfor' or 'else'. The innermost block that needs to "
      "be "
      "closed is 'for'." },
    { "{% if a %}",
      "TemplateSyntaxError 1: Unexpected end of template. Jinja was looking for the following "
      "tags: 'elif' or 'else' or 'endif'. The innermost block that needs to be closed is 'if'." },
    { "{{ a b }}", "TemplateSyntaxError 1: expected token 'end of print statement', got 'b'" },
    { "{{ }}", "TemplateSyntaxError 1: Expected an expression, got 'end of print statement'" },
    { "{{ a", "TemplateSyntaxError 1: unexpected end of template, expected 'end of print statement'." },
    { "{{ (a] }}", "TemplateSyntaxError 1: unexpected ']', expected ')'" },
    { "{{ a ? }}", "TemplateSyntaxError 1: unexpected char '?' at 5" },
    { "{# x", "TemplateSyntaxError 1: Missing end of comment tag" },
    { "{% set true = 1 %}", "TemplateSyntaxError 1: can't assign to 'const'" },
    { "{% from 'a' import _b %}",
      "TemplateAssertionError 1: names starting with an underline can not be imported" },
    { "{{ f(**a, *b) }}", "TemplateSyntaxError 1: invalid syntax for function call expression" },
    { "{{ '\\x1' }}", "TemplateSyntaxError 1: truncated \\xXX escape" },
};

static void
test_errors(void **state)
{
    static const jsyntax_t plain = { .newline = NULL };
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        check(&plain, errors[i].source, errors[i].tree);
}

static void
test_white_space(void **state)
{
    static const jsyntax_t trim = { .trim_blocks = true, .lstrip_blocks = true };
    check(&trim, "  {% do a %}\nb\n", "(do(name a))(output(data b))");
    check(&trim, "  {%+ do a +%}\nb", "(output(data   ))(do(name a))(output(data \nb))");
    static const jsyntax_t lines = { .line_statement = "%", .line_comment = "##" };
    check(&lines, "% for a in b:\nx ## y\n% endfor", "(for(name a=)(name b)(output(data x)(data \n)))");
    static const jsyntax_t other = { .block_start = "<%",
                                     .block_end = "%>",
                                     .variable_start = "${",
                                     .variable_end = "}",
                                     .newline = "\r\n",
                                     .keep_trailing_newline = true };
    check(&other, "<% do {1: 2} %>\n${ a }\n",
          "(do(dict(const 1)(const 2)))(output(data \r\n)(name a)(data \r\n))");
}

static void
test_limits(void **state)
{
    static const jsyntax_t plain = { .newline = NULL };
    buf_auto_t deep = BUF_INIT;
    buf_puts(&deep, "{{ ");
    buf_fill(&deep, '(', 900);
    char *text = parsed(&plain, buf_str(&deep));
    assert_string_equal(text, "TemplateSyntaxError 1: nested too deeply (limit 200)");
    free(text);
    buf_clear(&deep);
    buf_puts(&deep, "{{ a");
    for (int i = 0; i < 5000; i++)
        buf_puts(&deep, "|b");
    text = parsed(&plain, buf_str(&deep));
    assert_string_equal(text,
                        "TemplateSyntaxError 1: the expression has too many parts in a row (limit 1000)");
    free(text);
}

UNIT_MAIN(cmocka_unit_test(test_trees), cmocka_unit_test(test_errors), cmocka_unit_test(test_white_space),
          cmocka_unit_test(test_limits))
