/* test_text_span.c - what peers say, in every place of a JSON document and of a template. */
#include "common/base/json_span.h"
#include "common/jinja/parse/lex.h"
#include "unit/span_text.h"
#include "unit/unit.h"

typedef struct row {
    const char *text;
    const char *what; /* NULL: fits */
} row_t;

static const row_t documents[] = {
    { "{\"a\": \"⟦x: y, [1] {}⟧\"}", NULL },
    { "{\"a\": \"x ⟦⟧ y\", \"⟦k⟧\": 1}", NULL },
    { "{\"a\": \"⟦say \\\"hi\\\" \\u00e9\\n⟧\"}", NULL },
    { "{\"a\": \"⟦é⟧ ⟨東⟩\"}", NULL },
    { "{\"a\": ⟦1⟧, \"b\": ⟦-1.5e3⟧, \"c\": ⟦null⟧, \"d\": ⟦true⟧}", NULL },
    { "{\"a\": ⟦\"x\"⟧, ⟦\"b\"⟧: ⟦ [1, {\"c\": []}] ⟧}", NULL },
    { "⟦{\"a\": 1}⟧", NULL },
    { "[⟪\"x\"⟫, ⟪1⟫]", NULL },
    { "{\"a\": ", NULL },
    { "{\"a: \"⟦1⟧", NULL },
    { "\\\"⟦x⟧\"", NULL },
    { "{\"a\": \"⟦x\xc3⟧\xa9\"}", "a part of a character" },
    { "{\"a\": \"\xc3⟦\xa9⟧\"}", "a part of a character" },
    { "{\"a\": \"⟦x\"⟧\"}", "the end of a quoted text" },
    { "{\"a\": \"⟦x\", \"b\": \"y⟧\"}", "the end of a quoted text" },
    { "{\"a\": \"⟦x\\⟧\"}", "an escape of what stands beside it" },
    { "{\"a\": \"⟦x\\⟧\", \"b\": \"⟦y⟧\"}", "an escape of what stands beside it" },
    { "{\"a\": \"\\⟦n⟧\"}", "an escape of what stands beside it" },
    { "{\"a\": \"\\u00⟦e⟧9\"}", "an escape of what stands beside it" },
    { "{\"a\": \"⟦\\q⟧\"}", "a character that JSON forbids in a text" },
    { "{\"a\": \"⟦\\u00g0⟧\"}", "a character that JSON forbids in a text" },
    { "{\"a\": \"⟦x\ny⟧\"}", "a character that JSON forbids in a text" },
    { "{\"a\": ⟦x⟧}", "something other than one value of JSON" },
    { "{\"a\": ⟦1, \"b\": 2⟧}", "something other than one value of JSON" },
    { "{\"a\": ⟦⟧⟦ ⟧}", "something other than one value of JSON" },
    { "{\"a\": ⟦\"x⟧\"}", "something other than one value of JSON" },
    { "{\"a\": ⟦[1⟧]}", "something other than one value of JSON" },
    { "{\"a\": ⟦{1: 2}⟧}", "something other than one value of JSON" },
    { "{\"a\": ⟦[1,]⟧}", "something other than one value of JSON" },
    { "{\"a\": 1⟦2⟧}", "a part of a number or word" },
    { "{\"a\": ⟦1⟧2}", "a part of a number or word" },
    { "{\"a\": -⟦1⟧}", "a part of a number or word" },
    { "{\"a\": ⟦1⟧⟨2⟩}", "a part of a number or word" },
    { "{\"a\": ⟪[1]⟫}", "a list" },
    { "{\"a\": ⟪ {}⟫}", "an object" },
};

/* With the usual signs. */
static const row_t usual[] = {
    { "a: ⟦x⟧\n", NULL },
    { "a: ⟦} %} }} #} { % #⟧\n", NULL },
    { "a: ⟦{'a': {'b': 1}}⟧ {{ b }}\n", NULL },
    { "{{ '⟦x }} y⟧' }}", NULL },
    { "{{ \"a ⟦it's \\\" \\x41⟧ b\" ~ ⟦12⟧ }}", NULL },
    { "{% set a = [⟦1⟧, '⟦⟧'] %}⟦x⟧{%- if a -%}⟦ \n⟧{% endif %}", NULL },
    { "{# ⟦x⟧ #}\n{#- ⟦%} }}⟧ -#} ⟦y⟧", NULL },
    { "{% raw %} ⟦{{ x }}⟧ {% endraw %}⟦\r\n⟧\r\n", NULL },
    { "{% raw -%} ⟦ x⟧{% endraw %}", NULL },
    { "⟦{⟧ {", NULL },
    { "{{ ⟦1⟧\n", NULL },
    { "{{ 'x ⟦1⟧\n", NULL },
    { "{# ⟦x⟧", NULL },
    { "a: ⟦\xc3⟧\xa9\n", "a part of a character" },
    { "a: ⟦{{ x }}⟧\n", "the start of a tag of a template" },
    { "a: ⟦{%⟧\n", "the start of a tag of a template" },
    { "a: ⟦{#⟧\n", "the start of a tag of a template" },
    { "a: ⟦{⟧{ x }}\n", "the start of a tag of a template" },
    { "a: {⟦{⟧ x }}\n", "the start of a tag of a template" },
    { "a: {⟦% raw %⟧}\n", "the start of a tag of a template" },
    { "{% ⟦raw⟧ %}{% endraw %}", "the start of a tag of a template" },
    { "{{⟦-⟧ x }}", "the start of a tag of a template" },
    { "{# ⟦#}⟧ #}", "the end of a comment" },
    { "{# ⟦#⟧} #}", "the end of a comment" },
    { "{# x ⟦-⟧#}", "the end of a comment" },
    { "{% raw %}⟦{% endraw %}⟧{% endraw %}", "the end of raw text" },
    { "{% raw %}{% endraw⟦ ⟧%}{% endraw %}", "the end of raw text" },
    { "{{ x ⟦}}⟧", "the end of a tag of a template" },
    { "{{ x ⟦-⟧}}", "the end of a tag of a template" },
    { "{% if x ⟦+%⟧}", "the end of a tag of a template" },
    { "{{ ⟦x⟧ }}", "a part of an expression" },
    { "{{ x⟦1⟧ }}", "a part of an expression" },
    { "{{ 1⟦1⟧ }}", "a part of an expression" },
    { "{{ 0⟦1⟧ }}", "a part of an expression" },
    { "{{ ⟦0⟧x1 }}", "a part of an expression" },
    { "{{ ⟦1⟧.5 }}", "a part of an expression" },
    { "{{ ⟦1, 2⟧ }}", "a part of an expression" },
    { "{{ x⟦ ⟧}}", "a part of an expression" },
    { "{{ ⟦'x'⟧ }}", "a part of an expression" },
    { "{{ ⟦-1⟧ }}", "a part of an expression" },
    { "{{ '⟦x' ~ y ~ '⟧' }}", "the end of a quoted text" },
    { "{{ '⟦x'⟧ }}", "the end of a quoted text" },
    { "{{ '⟦x\\⟧' ~ y ~ '' }}", "an escape of what stands beside it" },
    { "{{ '⟦x\\⟧n' }}", "an escape of what stands beside it" },
    { "{{ '\\⟦n⟧' }}", "an escape of what stands beside it" },
    { "{{ '\\x4⟦1⟧' }}", "an escape of what stands beside it" },
    { "{{ '\\1⟦1⟧' }}", "an escape of what stands beside it" },
    { "{{ '⟦\\u004⟧1' }}", "an escape of what stands beside it" },
    { "{{ '⟦\\U0000004⟧1' }}", "an escape of what stands beside it" },
    { "{{ '⟦x\\⟧' }}", "text that is not a template" },
    { "{{ '⟦\\xq⟧' }}", "text that is not a template" },
};

/* With lines of statements and comments, and signs that begin with each other. */
static const row_t unusual[] = {
    { "⟦x⟧\n# for a in b\n⟦ y⟧\n# endfor\n", NULL },
    { "⟦{{ x }} {% y %}⟧", NULL },
    { "## ⟦x # y⟧\n⟦z⟧ ## ⟦c⟧\n", NULL },
    { "<% x %><%= '⟦%>⟧' %>", NULL },
    { "a ⟦x\n⟧# for b in c\n", "the start of a tag of a template" },
    { "a ⟦\n# b⟧\n", "the start of a tag of a template" },
    { "⟦  ⟧# for b in c\n", "the start of a tag of a template" },
    { "a ⟦## b⟧\n", "the start of a tag of a template" },
    { "<⟦%⟧ x %>", "the start of a tag of a template" },
    { "<%⟦=⟧ x %>", "the start of a tag of a template" },
    { "## ⟦x\n⟧y", "the end of a comment" },
    { "# for a in b⟦\n⟧c\n", "the end of a tag of a template" },
    { "# for a in ⟦b⟧\n", "a part of an expression" },
};

static const jsyntax_t usual_signs = { 0 };
static const jsyntax_t unusual_signs = { .block_start = "<%",
                                         .block_end = "%>",
                                         .variable_start = "<%=",
                                         .variable_end = "%>",
                                         .comment_start = "<#",
                                         .comment_end = "#>",
                                         .line_statement = "#",
                                         .line_comment = "##" };

/* `signs` NULL: a document. */
static void
check_rows(const row_t *rows, size_t n, const jsyntax_t *signs)
{
    for (size_t i = 0; i < n; i++) {
        span_text_auto_t t = span_text(rows[i].text);
        breakout_t out = { 99, 99, NULL };
        bool fit = signs != NULL ? jinja_spans_fit(buf_str(&t.text), t.text.len, signs, &t.spans, NULL, &out)
                                 : json_spans_fit(buf_str(&t.text), t.text.len, &t.spans, &out);
        if (fit != (rows[i].what == NULL))
            fail_msg("%s: %s", rows[i].text, fit ? "fits" : out.what);
        if (fit)
            continue;
        if (strcmp(out.what, rows[i].what) != 0)
            fail_msg("%s: is %s", rows[i].text, out.what);
        assert_true(out.span < t.spans.n);
        assert_true(out.at >= t.spans.v[out.span].from && out.at < t.spans.v[out.span].to);
    }
}

static void
test_documents(void **state)
{
    check_rows(documents, NELEMS(documents), NULL);
}

static void
test_templates(void **state)
{
    check_rows(usual, NELEMS(usual), &usual_signs);
    check_rows(unusual, NELEMS(unusual), &unusual_signs);
}

/* A value that is a list in a list in a list ... is not followed for ever. */
static void
test_deep_value(void **state)
{
    span_text_auto_t t = { BUF_INIT, SPANS_INIT };
    breakout_t out;

    buf_fill(&t.text, '[', 1000000);
    buf_fill(&t.text, ']', 1000000);
    spans_add(&t.spans, 0, t.text.len, 0);
    assert_false(json_spans_fit(t.text.data, t.text.len, &t.spans, &out));
}

/* Spans that touch become one when they are alike; empty ones are none. */
static void
test_list(void **state)
{
    spans_auto_t s = SPANS_INIT;
    breakout_t out;

    spans_add(&s, 1, 2, 0);
    spans_add(&s, 2, 2, SPAN_QUOTED);
    spans_add(&s, 2, 4, 0);
    spans_add(&s, 4, 6, SPAN_QUOTED);
    for (size_t i = 10; i < 100; i += 10)
        spans_add(&s, i, i + 5, 0);
    assert_int_equal(s.n, 11);
    assert_int_equal(s.v[0].to, 4);
    assert_int_equal(s.v[1].flags, SPAN_QUOTED);
    assert_false(breakout_set(&out, &s, 5, "x"));
    assert_int_equal(out.span, 1);
    assert_int_equal(out.at, 5);
    breakout_set(&out, &s, 99, "x");
    assert_int_equal(out.span, 10);
    assert_int_equal(out.at, 90);
    breakout_set(&out, &s, 0, "x");
    assert_int_equal(out.at, 1);
}

UNIT_MAIN(cmocka_unit_test(test_documents), cmocka_unit_test(test_templates),
          cmocka_unit_test(test_deep_value), cmocka_unit_test(test_list))
