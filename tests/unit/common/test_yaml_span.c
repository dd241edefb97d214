/* test_yaml_span.c - what peers say, in every place of a YAML text. */
#include "common/data/yaml_span.h"

#include "salt/limits.h"
#include "unit/span_oracle.h"
#include "unit/span_text.h"
#include "unit/unit.h"

typedef struct row {
    const char *text;
    const char *what; /* NULL: fits */
} row_t;

static const row_t fitting[] = {
    /* plain values */
    { "a: ⟦word⟧\n", NULL },
    { "a: ⟦⟧\n", NULL },
    { "a: ⟦yes⟧\nb: ⟦null⟧\nc: ⟦1.0⟧\nd: ⟦~⟧\ne: ⟦2024-01-31⟧\nf: ⟦0x1F⟧\n", NULL },
    { "a: ⟦fe80::1⟧\nb: ⟦::1⟧\nc: ⟦2001:db8::/32⟧\n", NULL },
    { "a: ⟦http://example.com:80/x?y=1&z=[2]#top⟧\n", NULL },
    { "a: ⟦C:\\Program Files\\x⟧\n", NULL },
    { "a: ⟦C:\\⟧\n", NULL },
    { "a: ⟦Debian GNU/Linux 12 (bookworm)⟧\n", NULL },
    { "a: ⟦first, second, and third.⟧\n", NULL },
    { "a: ⟦-5⟧\n", NULL },
    { "a: ⟦it's \"fine\"⟧\n", NULL },
    { "a: ⟦Köln – 東京⟧\n", NULL },
    { "a: b⟦c⟧d\n", NULL },
    { "a: ⟦x⟧ # ⟦y⟧\n", NULL },
    { "a: ⟦x⟧⟨y⟩ ⟪z⟫\n", NULL },
    { "a: ⟦two\n  lines⟧\n", NULL },
    { "a: ⟦ padded ⟧\n", NULL },
    { "a: ⟦line\n⟧\nb: 1\n", NULL },
    { "a: ⟦ ⟧\nb: ⟦\n⟧\n", NULL },
    { "- ⟦ ⟧\n- ⟦\n⟧\n", NULL },
    { "⟦  ⟧a: b\n", NULL },
    { "{a: ⟦ ⟧, b: ⟦ ⟧}\n", NULL },
    { "a: x ⟦ ⟧\nb: ⟦ ⟧ y\n", NULL },
    { "a: ⟦x\r\n⟧\r\nb: 1\r\n", NULL },
    { "a: ⟦\"x: y\"⟧\n", NULL },
    { "a: ⟦'it''s'⟧\nb: ⟦ \"x\" ⟧\n", NULL },
    { "⟦word⟧", NULL },
    { "--- ⟦word⟧\n...\n", NULL },
    /* keys */
    { "⟦word⟧: 1\n", NULL },
    { "a-⟦word⟧-b: 1\n", NULL },
    { "⟦10.0.0.1⟧: {⟦a⟧: ⟦b⟧}\n", NULL },
    { "\"⟦a: b⟧\": 1\n'⟦c: d⟧': 2\n", NULL },
    { "? ⟦a⟧\n: ⟦b⟧\n", NULL },
    { "⟦yes⟧: 1\n", NULL },
    /* lists */
    { "- ⟦a⟧\n- ⟦b⟧\n", NULL },
    { "a:\n- ⟦x⟧\n- ⟦ ⟧\nb: 1\n", NULL },
    { "[⟦a⟧, ⟦b⟧, ⟦c d⟧]\n", NULL },
    { "['⟦a, b⟧', \"⟦c]⟧\"]\n", NULL },
    { "{'a': '⟦x: y⟧', 'b': ['⟦z⟧', 1]}\n", NULL },
    { "- ⟦a⟧\n- ⟦b⟧\n- ⟦c⟧\n", NULL },
    { "[⟦a⟧,⟦b⟧]: c\n", NULL },
    /* quoted */
    { "a: \"⟦x: y # z⟧\"\n", NULL },
    { "a: '⟦x: y # z\\⟧'\n", NULL },
    { "a: '⟦it''s⟧'\n", NULL },
    { "a: \"⟦say \\\"hi\\\" \\u00e9 \\\\⟧\"\n", NULL },
    { "a: \"⟦{\\\"b\\\": [1, 2]}⟧\"\n", NULL },
    { "a: '⟦{\"b\": [1, 2]}⟧'\n", NULL },
    { "a: \"⟦one\ntwo⟧\"\n", NULL },
    { "a: '⟦⟧'\n", NULL },
    { "a: '⟦- x\n  - y⟧'\n", NULL },
    /* blocks of text */
    { "a: |\n  ⟦x: y⟧\n  ⟦- z # c⟧\n", NULL },
    { "a: |\n    ⟦one\n    two\n\n    three⟧\nb: 1\n", NULL },
    { "a: >-\n  ⟦\"x'⟧\n  end\n", NULL },
    { "a: |\n  before\n  ⟦&a *b !c %d⟧\n  after\nb: 1\n", NULL },
    { "a: |\n  ⟦x\n  ⟧\nb: 1\n", NULL },
    { "a: |2\n   ⟦x⟧\n", NULL },
    { "a: |\n  ⟦x⟧", NULL },
    /* comments */
    { "# ⟦word⟧\na: 1\n", NULL },
    { "# ⟦x: y - z \" '⟧\na: 1\n", NULL },
    { "# ⟦x\n⟧\na: 1\n", NULL },
    { "a: 1 # ⟦x⟧\n", NULL },
    /* anchors and tags of the template */
    { "a: &x ⟦v⟧\nb: *x\n", NULL },
    { "a: !!str ⟦1⟧\n", NULL },
    { "%YAML 1.1\n---\na: ⟦x⟧\n", NULL },
    /* collections that are one span */
    { "a: ⟦{\"b\": [1, {\"c\": \"d, e\"}]}⟧\n", NULL },
    { "a: ⟦[1, 2]⟧\n- b\n", NULL },
    { "- ⟦[]⟧\n- ⟦{}⟧\n", NULL },
    { "[⟦[1]⟧, ⟦{a: b}⟧]\n", NULL },
    { "{a: ⟦[1]⟧}\n", NULL },
    { "a: {<<: {b: c}, d: ⟦[1]⟧}\ne: ⟦{}⟧\n", NULL },
    { "a:\n  <<: {b: c}\nd: ⟦[1]⟧\n", NULL },
    { "⟦{\"a\": 1}⟧\n", NULL },
    /* no YAML whatever the spans are */
    { "a: [⟦x⟧\n", NULL },
    { "a: b: ⟦x⟧\n", NULL },
    { "a: \"⟦x⟧\n", NULL },
    { "[⟦x\"⟧\n", NULL },
    /* places that look odd and are none */
    { "a: x&⟦y⟧\n", NULL },
    { "a: x|⟦y⟧\n", NULL },
    { "a: 50%⟦y⟧\n", NULL },
    { "\xef\xbb\xbf⟦a⟧: ⟦é⟧ \nb: \"⟦: ⟧\"\n", NULL },
    { "ä: \"⟦ö: ü⟧\"\né: '⟦ß⟧'\n", NULL },
};

static const row_t breaking[] = {
    /* new keys and items */
    { "a: ⟦b: c⟧\n", "a new key" },
    { "a: ⟦x\nb: y⟧\n", "a new key" },
    { "a: ⟦x\n  b: y⟧\n", "a new key" },
    { "⟦a: b⟧\n", "a new key" },
    { "⟦a: b⟧: c\n", "a new key" },
    { "a: ⟦x:⟧\n", "a new key" },
    { "a: ⟦x\r\nb: y⟧\n", "a new key" },
    { "a: ⟦x\xc2\x85"
      "b: y⟧\n",
      "a new key" },
    { "a: ⟦x\xe2\x80\xa8"
      "b: y⟧\n",
      "a new key" },
    { "a: ⟦x\xe2\x80\xa9"
      "b: y⟧\n",
      "a new key" },
    { "a: ⟦x\rb: y⟧\n", "a new key" },
    { "- ⟦x\n- y⟧\n", "a new item" },
    { "- ⟦- x⟧\n", "a new item" },
    { "a:\n⟦- x⟧\n", "a new item" },
    { "[⟦a, b⟧]\n", "a new item" },
    { "[⟦a], [b⟧]\n", "the end of a list or mapping" },
    { "{a: ⟦b, c: d⟧}\n", "a new item" },
    { "{a: ⟦b}⟧}\n", "the end of a list or mapping" },
    { "{⟦a: b⟧}\n", "a new key" },
    { "[⟦a: b⟧]\n", "a new key" },
    { "? ⟦a\n: b⟧\n: c\n", "a new key" },
    { "⟦? a⟧\n", "a new key" },
    { "a:⟦ b⟧\n", "a new key" },
    { "a⟦:⟧ b\n", "a new key" },
    { "a: ⟦\n  b:⟧ c\n", "a new key" },
    { "-⟦ a⟧\n", "a new item" },
    { "- ⟦\t⟧\n", "text that YAML cannot read" },
    { "a:\n  b: ⟦x\n⟧  c: d\n", "a new key" },
    { "⟦<<⟧: {a: 1}\n", "a merge key or default value" },
    { "⟦<⟧<: {a: 1}\n", "a merge key or default value" },
    { "a: ⟦=⟧\n", "a merge key or default value" },
    /* anchors, aliases, tags, directives, documents */
    { "a: ⟦&x y⟧\n", "an anchor" },
    { "a: &x 1\nb: ⟦*x⟧\n", "an alias" },
    { "a: ⟦!!binary x⟧\n", "a tag" },
    { "a: ⟦!x⟧\n", "a tag" },
    { "a: &⟦x⟧ y\n", "an anchor" },
    { "a: &x 1\nb: *⟦x⟧\n", "an alias" },
    { "a: !⟦x⟧ y\n", "a tag" },
    { "a: !!⟦str⟧ y\n", "a tag" },
    { "a: !<tag:yaml.org,2002:⟦str⟧> y\n", "a tag" },
    { "a: &x⟦ y⟧\n", "an anchor" },
    { "%TAG ! tag:⟦x⟧\n---\na: !b c\n", "a directive" },
    { "⟦%YAML 1.1\n---\na⟧: b\n", "a directive" },
    { "a: ⟦x\n--- y⟧\n", "a new document" },
    { "a: ⟦x\n...⟧\n", "the end of the document" },
    { "⟦--- x⟧\n", "a new document" },
    { "⟦---⟧\n", "a new document" },
    /* comments */
    { "a: ⟦# x⟧\n", "a comment" },
    { "a: ⟦x # y⟧\n", "a comment" },
    { "a: ⟦x #⟧ y\n", "a comment" },
    { "a: ⟦\n# x\n  y⟧\n", "a comment" },
    { "# ⟦x\na: b⟧\n", "a new key" },
    { "# ⟦x\n⟧: b\n", "a new key" },
    { "# ⟦x\n⟧ y\n", "a second value" },
    { "a: 1 # ⟦x\nb: 2⟧\n", "a new key" },
    /* quoted texts */
    { "a: \"⟦x\"⟧\"\n", "the end of a quoted text" },
    { "a: \"⟦x\", b: \"y⟧\"\n", "the end of a quoted text" },
    { "a: '⟦it's⟧'\n", "the end of a quoted text" },
    { "a: '⟦x'⟧'\n", "the end of a quoted text" },
    { "a: '⟦x'⟧'\nb: '⟦y⟧'\n", "the end of a quoted text" },
    { "a: \"⟦x\\⟧\"\nb: \"⟦y⟧\"\n", "the end of a quoted text" },
    { "a: \"⟦x\\⟧\"\n", "the end of a quoted text" },
    { "a: \"⟦x\\⟧n\"\n", "an escape of what stands beside it" },
    { "a: \"⟦\\x4⟧1\"\n", "an escape of what stands beside it" },
    { "a: \"⟦x\\⟧\n  y\"\n", "an escape of what stands beside it" },
    { "a: \"\\⟦n⟧\"\n", "a part of a sign of YAML's" },
    { "a: \"\\x⟦41⟧\"\n", "a part of a sign of YAML's" },
    { "a: \"\\U0000004⟦1⟧\"\n", "a part of a sign of YAML's" },
    { "a: \"⟦\\q⟧\"\n", "text that YAML cannot read" },
    { "a: \"⟦x\n---\ny⟧\"\n", "text that YAML cannot read" },
    { "a: ⟦\"⟧x\"\n", "a quoted text" },
    { "a: ⟦\"x⟧\n", "a quoted text without end" },
    { "a: ⟦'⟧\nb: ⟦'⟧\n", "a quoted text" },
    { "a: ⟦\"x\"⟧ y\n", "a quoted text" },
    /* blocks of text */
    { "a: |\n  ⟦x\nb: y⟧\n", "the end of a block of text" },
    { "a: |\n  ⟦x\n y⟧\n", "the end of a block of text" },
    { "a: ⟦|⟧\n  x\n", "a block of text" },
    { "a: ⟦|\n  x⟧\nb: 1\n", "a block of text" },
    { "a: ⟦>-\n  x⟧\n", "a block of text" },
    { "a: |⟦2⟧\n   x\n", "a part of a sign of YAML's" },
    { "a: |\n  ⟦    x⟧\n  y\n", "the end of a block of text" },
    /* indentation */
    { "a:\n⟦  ⟧b: c\n", "a new key" },
    { "⟦ ⟧- a\n", "a new item" },
    { "a: ⟦ ⟧\n- b\n", "a new item" },
    { "a: ⟦\tx\n\ty⟧\n", "text that YAML cannot read" },
    { "[⟦ ⟧]\n", "the end of a list or mapping" },
    { "[a, ⟦ ⟧, b]\n", "a new item" },
    { "⟦ ⟧: x\n", "a new key" },
    { "⟦\t⟧a: x\n", "text that YAML cannot read" },
    /* characters */
    { "a: ⟦\x01⟧\n", "a character that YAML forbids" },
    { "# ⟦\x7f⟧\na: 1\n", "a character that YAML forbids" },
    { "a: ⟦\xff⟧\n", "a character that YAML forbids" },
    { "a: ⟦\xc2⟧x\n", "a character that YAML forbids" },
    { "⟦\xff\xfe"
      "a⟧: 1\n",
      "a part of a text that is not UTF-8" },
    { "⟦\xef\xbb\xbf"
      "a⟧: 1\n",
      "a new key" },
    { "a: ⟦@x⟧\n", "text that YAML cannot read" },
    { "a: ⟦`x`⟧\n", "text that YAML cannot read" },
    { "a: ⟦%x⟧\n", "text that YAML cannot read" },
    /* collections */
    { "a: ⟪[1, 2]⟫\n", "a list" },
    { "a: ⟪{b: c}⟫\n", "a mapping" },
    { "a: ⟦[1⟧, ⟦2]⟧\n", "a list" },
    { "a: ⟦[1, 2]⟧⟨x⟩\n", "a list" },
    { "a: ⟦[1] [2]⟧\n", "more than one list or mapping" },
    { "a: ⟦[1]⟧ x\n", "a list" },
    { "a: ⟦[&x 1]⟧\n", "an anchor" },
    { "a: &x 1\nb: ⟦[*x]⟧\n", "an alias" },
    { "a: ⟦[!!int 1]⟧\n", "a tag" },
    { "a: ⟦[1, # x\n  2]⟧\n", "a comment" },
    { "a: ⟦[1] # x⟧\n", "more than one list or mapping" },
    { "a: ⟦{<<: {b: 1}}⟧\n", "a merge key or default value" },
    { "a: ⟦{b: =}⟧\n", "a merge key or default value" },
    { "<<: ⟦{a: 1}⟧\n", "a mapping" },
    { "<<: [*a, {b: c}, ⟦{a: 1}⟧]\n", "a mapping" },
    { "<<:\n- {b: c}\n- ⟦{a: 1}⟧\n", "a mapping" },
    { "⟦[1]⟧: x\n", "a list" },
    { "? ⟦[1]⟧\n", "a list" },
    { "{⟦[1]⟧: x}\n", "a list" },
    { "{a: 1, ⟦[1]⟧}\n", "a list" },
    { "a: !!str ⟦[1]⟧\n", "a list" },
    { "a: ⟦[1}⟧\n", "text that YAML cannot read" },
    { "a: ⟦{b c: d: e}⟧\n", "text that YAML cannot read" },
    { "a: ⟦[1⟧\n", "a part of a list or mapping" },
    { "a: x⟦[⟧\nb: [⟦]⟧]\n", "the end of a list or mapping" },
};

static void
check_row(const row_t *row)
{
    span_text_auto_t t = span_text(row->text);
    yaml_breakout_t out = { 99, 99, NULL };
    bool fit = yaml_spans_fit(buf_str(&t.text), t.text.len, &t.spans, &out);

    if (fit != (row->what == NULL))
        fail_msg("%s: %s", row->text, fit ? "fits" : out.what);
    if (fit)
        return;
    if (strcmp(out.what, row->what) != 0)
        fail_msg("%s: is %s", row->text, out.what);
    assert_true(out.span < t.spans.n);
    assert_true(out.at >= t.spans.v[out.span].from && out.at < t.spans.v[out.span].to);
}

static void
test_fitting(void **state)
{
    for (size_t i = 0; i < NELEMS(fitting); i++)
        check_row(&fitting[i]);
}

static void
test_breaking(void **state)
{
    for (size_t i = 0; i < NELEMS(breaking); i++)
        check_row(&breaking[i]);
}

/* ---- random texts ------------------------------------------------------------------------------------------------ */

/* "@" is a place for a value. */
static const char *const templates[] = {
    "a: @\n",
    "a: @ b\n",
    "a: b @\nc: @\n",
    "@: 1\n",
    "a@: [@, @]\n",
    "a:\n  - @\n  - b: @\n    c: 1\n",
    "{a: @, b: '@', c: \"@\"}\n",
    "[@, {b: @}]\n",
    "a: '@'\nb: \"x @ y\"\n",
    "a: |\n  @\n  x @\nb: 1\n",
    "a: >-\n  @\n\nb: @\n",
    "# @\na: 1 # @\nb: @ # c\n",
    "a: &x @\nb: *x\n",
    "a: &@ 1\n",
    "a: !!str @\nb: !@ 1\n",
    "? @\n: @\n",
    "--- @\n",
    "a: \"\\x4@\"\nb: \"\\@\"\n",
    "- @\n- - @\n  - @\n",
    "a:\n@\n",
    "a: @@\nb: '@@'\n",
    "a:@\n-@\n",
    "a: |@\n  x\n",
    "{\"a\":@,\"b\":\"@\"}\n",
    "a: x@: y\n",
    "%TAG ! tag:@\n---\na: @\n",
};
static const char *const fragments[] = {
    "x",
    "abc",
    "10.0.0.1",
    "::1",
    "a b",
    " ",
    "\n",
    "\n  ",
    "\n- ",
    "\nk: v",
    ": ",
    ":",
    " #",
    "#",
    "- ",
    "-",
    "? ",
    "?",
    ",",
    "[",
    "]",
    "{",
    "}",
    "[1, 2]",
    "{k: v}",
    "\"",
    "\"q\"",
    "'",
    "'q'",
    "''",
    "\\",
    "\\n",
    "\\x4",
    "1",
    "41",
    "&a",
    "*x",
    "!t",
    "|",
    "|\n x",
    ">",
    "%",
    "@",
    "`",
    "---",
    "...",
    "\n---\n",
    "\t",
    "\r",
    "\r\n",
    "\xc2\x85",
    "\xe2\x80\xa8",
    "\xef\xbb\xbf",
    "\xc3\xa9",
    "\x01",
    "\xff",
    "yes",
    "null",
    "~",
    "=",
    "<",
    "/etc/passwd",
    "https://x.y/z?a=b",
    "C:\\",
    "2024-01-01",
    "1.5",
    "foo_bar-1",
    "a.",
};

static unsigned
roll(unsigned *seed, size_t sides)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 16) % (unsigned) sides;
}

/* The template with what `value` gives for each place. */
static void
fill_in(span_text_t *out, const char *template, unsigned *seed, void (*value)(buf_t *, unsigned *))
{
    for (; *template != '\0'; template ++) {
        size_t from = out->text.len;
        if (*template != '@') {
            buf_putc(&out->text, *template);
            continue;
        }
        value(&out->text, seed);
        spans_add(&out->spans, from, out->text.len, roll(seed, 4) == 0 ? SPAN_TEXT : 0);
    }
}

static void
any_value(buf_t *out, unsigned *seed)
{
    for (size_t n = roll(seed, 4); n > 0; n--)
        buf_puts(out, fragments[roll(seed, NELEMS(fragments))]);
}

static void
letter(buf_t *out, unsigned *seed)
{
    buf_putc(out, 'k');
}

static void
tame_value(buf_t *out, unsigned *seed)
{
    static const char *const tame[] = {
        "node1.example.com", "/var/log/x y", "fe80::1%", "Jos\xc3\xa9", "a - b", "x=1@2", "7"
    };

    buf_puts(out, tame[roll(seed, NELEMS(tame))]);
    if (out->data[out->len - 1] == '%')
        out->data[out->len - 1] = '1';
}

static bool
all_fit(const span_text_t *t)
{
    yaml_breakout_t out;

    return yaml_spans_fit(buf_str(&t->text), t->text.len, &t->spans, &out);
}

static bool
can_be_loaded(const span_text_t *t)
{
    yproblem_t problem = YPROBLEM_INIT;
    AUTO(py) v = py_yaml_load(t->text.data, t->text.len, true, &problem);

    py_clear();
    yproblem_free(&problem);
    return v != NULL;
}

/* What fits loads as its reference does. What is inert agrees. Where one word fits, another does. */
static void
test_random(void **state)
{
    const py_limits_t no_limits = { 0 };
    unsigned seed = 20240131;
    size_t fit = 0, inert = 0;
    py_scope_t scope;

    py_scope_enter(&scope, &no_limits);
    for (size_t i = 0; i < 40000; i++) {
        const char *template = templates[roll(&seed, NELEMS(templates))];
        span_text_auto_t t = { BUF_INIT, SPANS_INIT }, word = { BUF_INIT, SPANS_INIT },
                         tame = { BUF_INIT, SPANS_INIT };
        yaml_breakout_t out;
        fill_in(&t, template, &seed, any_value);
        const char *fault = all_fit(&t) ? oracle_fault(t.text.data, t.text.len, &t.spans) : NULL;
        if (fault != NULL)
            fail_msg("%s: %s", buf_str(&t.text), fault);
        fit += all_fit(&t);
        if (t.spans.n > 0 && yaml_spans_inert(t.text.data, t.text.len, &t.spans)) {
            inert++;
            if (!yaml_spans_agree(t.text.data, t.text.len, &t.spans, &out))
                fail_msg("%s: is %s", buf_str(&t.text), out.what);
        }
        fill_in(&word, template, &seed, letter);
        fill_in(&tame, template, &seed, tame_value);
        if (can_be_loaded(&word) && all_fit(&word) != all_fit(&tame))
            fail_msg("%s: a word is another thing than %s", buf_str(&word.text), buf_str(&tame.text));
    }
    py_scope_leave(&scope);
    assert_true(fit > 4000 && inert > 1000);
}

/* ---- how large it may be ------------------------------------------------------------------------------------------ */

/* A text of `n` times `item`, whose place has `value`. */
static void
many(span_text_t *out, size_t n, const char *item, const char *value)
{
    const char *place = strchr(item, '@');

    for (size_t i = 0; i < n; i++) {
        buf_add(&out->text, item, (size_t) (place - item));
        buf_puts(&out->text, value);
        spans_add(&out->spans, out->text.len - strlen(value), out->text.len, 0);
        buf_puts(&out->text, place + 1);
    }
}

/* The span that is told of is the one that breaks out, not one in a line before it. */
static void
test_culprit(void **state)
{
    static const struct {
        const char *text;
        size_t span;
    } rows[] = { { "- x⟦p⟧\n- a⟦b: c⟧\n", 1 },
                 { "- ⟦p⟧\n- /a/⟦b: c⟧/d\n- ⟦q⟧\n", 1 },
                 { "⟦k⟧: 1\nb: ⟦c: d⟧\n", 1 },
                 { "a: ⟦b: c⟧\nd: ⟦e⟧\n", 0 } };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        span_text_auto_t t = span_text(rows[i].text);
        yaml_breakout_t out = { 99, 99, NULL };
        assert_false(yaml_spans_fit(buf_str(&t.text), t.text.len, &t.spans, &out));
        if (out.span != rows[i].span)
            fail_msg("%s: tells of span %zu", rows[i].text, out.span);
    }
}

/* A key has at most 1024 characters: a span that makes it longer is not a word any more, wherever it stands
 * in its line. */
static void
test_long_keys(void **state)
{
    for (size_t n = 1010; n < 1030; n++) {
        span_text_auto_t t = { BUF_INIT, SPANS_INIT };
        yaml_breakout_t out;
        buf_puts(&t.text, "a: 1\n\"");
        many(&t, 1, "@", "xyz");
        buf_fill(&t.text, 'k', n - 5);
        buf_puts(&t.text, "\": 1\n");
        bool fit = yaml_spans_fit(t.text.data, t.text.len, &t.spans, &out);
        assert_int_equal(fit, yaml_spans_agree(t.text.data, t.text.len, &t.spans, &out));
        assert_int_equal(fit, n <= 1024 || n > 1026);
    }
}

/* Brackets without end are not followed; many spans in one line, and many places, take no more than each
 * of them. */
static void
test_large(void **state)
{
    static const struct {
        const char *item, *value;
        size_t n;
        bool fits;
    } rows[] = {
        { "- @\n", "[", 1, false },         { "- '@'\n", "it''s", 100000, true },
        { "[@, ", "x: y", 100000, true },   { "\"@\" ", "a\\\"", 100000, true },
        { "k@", "x", 200000, true },        { "# @", "\xc3\xa9,", 100000, true },
        { "- @\n", "{a: b}", 50000, true }, { "@- ", "x", 1000, true },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        span_text_auto_t t = { BUF_INIT, SPANS_INIT };
        yaml_breakout_t out;
        many(&t, rows[i].n, rows[i].item, rows[i].value);
        if (yaml_spans_fit(t.text.data, t.text.len, &t.spans, &out) != rows[i].fits)
            fail_msg("%s", rows[i].item);
    }
    span_text_auto_t deep = { BUF_INIT, SPANS_INIT };
    yaml_breakout_t out;
    buf_puts(&deep.text, "a: ");
    buf_fill(&deep.text, '[', 1000000);
    spans_add(&deep.spans, 3, deep.text.len, 0);
    assert_false(yaml_spans_fit(deep.text.data, deep.text.len, &deep.spans, &out));
    assert_string_equal(out.what, "a nesting without end");
    deep.spans.v[0].to = 4;
    assert_true(yaml_spans_fit(deep.text.data, deep.text.len, &deep.spans, &out) == false);
}

/* ---- places ------------------------------------------------------------------------------------------------------- */

static void
note_place(void *cookie, const yaml_span_place_t *place)
{
    buf_t *out = cookie;

    for (size_t i = 0; i < place->depth; i++)
        buf_printf(out, "%s%s", i > 0 ? "." : "", place->path[i]);
    buf_printf(out, "%s@%zu%s ", place->key ? "?" : "", place->at, place->quoted ? "q" : "");
}

static void
test_walk(void **state)
{
    static const struct {
        const char *text, *places;
    } rows[] = {
        { "a:\n  cmd.run:\n  - name: x ⟦y⟧\n  - b: ⟨z⟩ ⟦⟧\nc: d\n", "a.cmd.run.name@26 a.cmd.run.b@35q " },
        { "local.cmd.run:\n- arg:\n  - ls ⟨x⟩ ⟦y⟧\n", "local.cmd.run.arg@29 " },
        { "a: {⟦b⟧: ⟦c⟧, d⟨e⟩: [⟨f⟩, g]}\n", "a?@4 a.b@7 a?@11q a.de@15q " },
        { "? [⟦a⟧, b]\n: ⟦c⟧\n*x : ⟦d⟧\n", "@3 @11 @18 " },
        { "- &x ⟦a⟧\n- *x\n- {*x : ⟦b⟧}\n", "@5 @20 " },
        { "ä: \"⟦ö⟧ é\"\nß: ⟦ü⟧\n", "ä@5 ß@16 " },
        { "a: ⟦[1, {b: 2}]⟧\nc: ⟦d⟧\n", "a@4 a?@8 a.b@11 c@18 " },
        { "# ⟦a⟧\nb: ⟦ ⟧\nc: ⟦d\n", "" },
        { "", "" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        span_text_auto_t t = span_text(rows[i].text);
        buf_auto_t out = BUF_INIT;
        yaml_spans_walk(buf_str(&t.text), t.text.len, &t.spans, note_place, &out);
        assert_string_equal(buf_str(&out), rows[i].places);
    }
}

UNIT_MAIN(cmocka_unit_test(test_fitting), cmocka_unit_test(test_breaking), cmocka_unit_test(test_random),
          cmocka_unit_test(test_culprit), cmocka_unit_test(test_long_keys), cmocka_unit_test(test_large),
          cmocka_unit_test(test_walk))
