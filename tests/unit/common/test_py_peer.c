/* test_py_peer.c - marks of what a peer said, through templates: which parts of a text are whose. */
#include "common/jinja/jinja_salt.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"

#include "common/base/clock.h"
#include "unit/unit.h"

/* The text with its marks in braces: "ab<cd>e"; a quoted one in "<'" and "'>". */
static void
show(buf_t *out, const char *text, size_t len, const spans_t *spans)
{
    size_t at = 0;

    for (size_t i = 0; i < spans->n; i++) {
        const span_t *s = &spans->v[i];
        buf_add(out, text + at, s->from - at);
        buf_puts(out, s->flags & SPAN_QUOTED ? "<'" : "<");
        buf_add(out, text + s->from, s->to - s->from);
        buf_puts(out, s->flags & SPAN_QUOTED ? "'>" : ">");
        at = s->to;
    }
    buf_add(out, text + at, len - at);
}

/* `peer` is a dict that a peer said, `own` the same of our own. NEW text, or NULL when the template raises. */
static char *
render(const char *text, const char *said)
{
    static const char ours[] = "{\"s\": \"own\", \"l\": [\"o1\", \"o2\"], \"d\": {\"k\": \"v\"}}";
    const py_limits_t limits = { .bytes = 1 << 28,
                                 .steps = 10000000,
                                 .deadline_ms = clock_mono_ms() + 60000 };
    jinja_options_t options = { 0 };
    jinja_error_t e = JINJA_ERROR_INIT;
    spans_t spans = { .v = NULL };
    buf_auto_t out = BUF_INIT, shown = BUF_INIT;
    py_scope_t scope;

    py_scope_enter(&scope, &limits);
    jinja_salt_options(&options, NULL, false);
    jinja_t *engine = jinja_new(&options, NULL);
    py_t *context = py_dict();
    py_dict_sets_new(context, "peer", py_peer(py_json_loads(said, strlen(said)), 0));
    py_dict_sets_new(context, "own", py_json_loads(ours, strlen(ours)));
    const jinja_source_t source = { .text = text, .len = strlen(text), .peer = &spans };
    int rc = jinja_salt_render(engine, &source, context, &out, &e);
    if (rc == 0)
        show(&shown, buf_str(&out), out.len, &spans);
    else
        buf_printf(&shown, "%s: %s", e.cls, e.message);
    spans_free(&spans);
    jinja_error_free(&e);
    py_unref(context);
    jinja_destroy(&engine);
    py_scope_leave(&scope);
    return buf_steal(&shown);
}

#define SAID                                                                                                 \
    "{\"s\": \"Ab c\", \"n\": 7, \"l\": [\"x\", \"y\"], \"d\": {\"k\": \"v\"}, \"q\": \"it's\", \"e\": "     \
    "\"[o, `\\\"lit\\\"`, k, {n: k}]\"}"

static const struct {
    const char *text, *expected;
} rows[] = {
    /* plain */
    { "a {{ peer.s }} b", "a <Ab c> b" },
    { "{{ own.s }}{{ peer.n }}{{ peer.s is string }}", "own7True" },
    { "{{ 'yes' if peer.s else 'no' }}", "yes" },
    { "{% for x in peer.l %}{{ loop.index }}={{ x }},{% endfor %}", "1=<x>,2=<y>," },
    { "{% for k, v in peer.d.items() %}{{ k }}:{{ v }}{% endfor %}", "<k>:<v>" },
    /* containers keep marks at their leaves */
    { "{{ peer.l }}", "['<x>', '<y>']" },
    { "{{ peer.d }}", "{'<k>': '<v>'}" },
    { "{{ [own.s, peer.s] }}", "['own', '<Ab c>']" },
    { "{{ peer.d | json }}", "{\"<k>\": \"<v>\"}" },
    { "{{ peer.l | tojson }}", "[\"<x>\", \"<y>\"]" },
    { "{{ {'a': peer.q} | tojson }}", "{\"a\": \"<it\\u0027s>\"}" },
    { "{{ peer.q | yaml_dquote }}{{ peer.q | yaml_squote }}", "\"<it's>\"'<it''s>'" },
    { "{{ {'a': peer.s} | pprint }}", "{'a': '<Ab c>'}" },
    { "{{ peer.d | yaml }} {{ peer.l | yaml(false) }}", "{<k>: <v>} - <x>\n- <y>" },
    { "{{ {'a': peer.q, 'b': [peer.s, own.s]} | yaml(false) }}", "a: <it's>\nb:\n- <Ab c>\n- own" },
    { "{{ [peer.s ~ ': ', '0', peer.s ~ '\u20ac\\t', peer.l[0]] | yaml }}",
      "['<Ab c: >', '0', \"<Ab c€\\t>\", <x>]" },
    { "{% set l = [peer.l[0]] %}{{ [l, 'e', l, peer.s.encode()] | yaml }}",
      "[&id001 [<x>], e, *id001, !!binary \"<QWIgYw==\\n>\"]" },
    { "{{ [peer.s.encode(), peer.s] | yaml(false) }}", "- !!binary |\n<  QWIgYw==\n>- <Ab c>" },
    { "{{ {peer.s: [peer.n, none]} | dict_to_sls_yaml_params }}", "- <Ab c>:\n  - 7\n  - null" },
    { "{{ ('\u20ac' ~ peer.s) | yaml_encode }}{{ peer.n | yaml_encode }}", "\"<\\u20ACAb c>\"7" },
    /* joined */
    { "{{ 'a' ~ peer.s ~ 'b' }}", "a<Ab c>b" },
    { "{{ 'a' + peer.s }}", "a<Ab c>" },
    { "{{ peer.s * 2 }}", "<Ab cAb c>" },
    { "{{ ['a', peer.s] | join('-') }}", "a-<Ab c>" },
    { "{{ ['a', 'b'] | join(peer.s) }}", "a<Ab c>b" },
    { "{{ 'x%sy%s' % (peer.s, own.s) }}", "x<Ab c>yown" },
    { "{{ '%-6s|' % peer.s }}", "<Ab c>  |" },
    { "{{ 'x%sy' | format(peer.s) }}", "x<Ab c>y" },
    { "{{ 'x{0}y{b}'.format(peer.s, b=own.s) }}", "x<Ab c>yown" },
    { "{{ '{:>6}'.format(peer.s) }}", "<  Ab c>" },
    { "{{ 'a-b'.replace('-', peer.s) }}", "a<Ab c>b" },
    { "{{ 'a-b' | replace('-', peer.s) }}", "a<Ab c>b" },
    /* cut */
    { "{{ ('pre' ~ peer.s)[2:5] }}", "e<Ab>" },
    { "{{ ('pre' ~ peer.s)[::-1] }}", "<c bA>erp" },
    { "{{ peer.s[0] }}{{ ('p' ~ peer.s)[0] }}", "<A>p" },
    { "{{ peer.s.split(' ') }}", "['<Ab>', '<c>']" },
    { "{{ ('one:' ~ peer.s).split(':') }}", "['one', '<Ab c>']" },
    { "{{ (' ' ~ peer.s ~ ' ') | trim }}", "<Ab c>" },
    { "{{ ('a ' ~ peer.s ~ ' b').partition(' ')[2] }}", "<Ab c> b" },
    { "{{ ('k: ' ~ peer.s ~ '\\nl: m') | indent(2) }}", "k: <Ab c>\n  l: m" },
    { "{{ peer.s | truncate(3, True, '', 0) }}", "<Ab >" },
    { "{{ peer.s | list | first }}", "<A>" },
    /* all that a peer said is cut away */
    { "{{ ('own' ~ peer.s) | replace(peer.s, '') }}{{ ('own' ~ peer.s).replace(peer.s, '') }}", "ownown" },
    { "{{ ('own' ~ peer.s).removesuffix(peer.s) }}{{ ('own' ~ peer.q) | trim(peer.q) }}", "ownown" },
    { "{{ ('own:o' ~ peer.s).split(':')[0] }}{{ ('o' ~ peer.s ~ 'own').split(peer.s) }}", "own['o', 'own']" },
    { "{{ 'own'.center(2, peer.s[0]) }}{{ ('own' ~ peer.s) | truncate(3, True, '', 0) }}", "ownown" },
    { "{{ ('own\n' ~ peer.s).splitlines()[0] }}{{ ('own' ~ peer.s).partition(peer.s)[0] }}", "ownown" },
    { "{{ peer.l | last }}{{ peer.l | sort | first }}{{ (peer.l + own.l) | first }}", "<yxx>" },
    /* changed */
    { "{{ peer.s | upper }}{{ ('a' ~ peer.s) | lower }}", "<AB C>a<ab c>" },
    { "{{ peer.s | title }}{{ peer.s | capitalize }}", "<Ab CAb c>" },
    { "{{ ('own-text ' ~ peer.s) | title }}{{ ('own ' ~ peer.s).title() }}", "Own-Text <Ab C>Own <Ab C>" },
    { "{{ ('own ' ~ peer.s) | capitalize }}{{ ('own ' ~ peer.s).swapcase() }}", "Own <ab c>OWN <aB C>" },
    { "{{ ('\u20ac ' ~ peer.s).title() }}", "<\u20ac Ab C>" },
    { "{{ peer.s | replace('b', 'x') }}", "<A>x< c>" },
    { "{{ peer.s | regex_replace('b', 'x') }}", "<A>x< c>" },
    { "{{ 'own text' | regex_replace('own', peer.s) }}", "<Ab c> text" },
    { "{{ 'own text' | regex_replace('own', '\\\\g<0>-' ~ peer.s) }}", "own<-Ab c> text" },
    { "{{ ('k: ' ~ peer.s ~ ' l') | regex_replace('(.) *l$', '-\\\\1') }}", "k: <Ab >-<c>" },
    { "{{ 'own' | regex_replace(peer.s, 'x') }}{{ 'own' | regex_search('(' ~ peer.l[0] ~ '?o)') }}",
      "<own>('<o>',)" },
    { "{{ peer.s | regex_search('(b)') }}", "('<b>',)" },
    { "{{ ('k: ' ~ peer.s) | regex_match('(.+): (.+)') }}", "('k', '<Ab c>')" },
    { "{{ peer.s | urlencode }}{{ peer.s | base64_encode }}", "<Ab%20cQWIgYw==>" },
    { "{{ peer.s | base64_encode | base64_decode }}", "<Ab c>" },
    { "{{ peer.s.encode().decode() }}", "<Ab c>" },
    { "{{ peer.s | quote }} {{ own.s | quote }}", "<''Ab c''> own" },
    { "{{ peer.s | quote | replace('A', 'B') }}", "<'''>B<'b c''>" },
    { "{{ '%c' % peer.n }}", "<\a>" },
    { "{{ 'ab'.translate({97: 98}) }}", "<bb>" },
    { "{{ 'a'.center(5, '-') }}{{ 'a'.center(3, peer.s[0]) }}", "--a--<AaA>" },
    { "{{ '{:{f}>4}'.format('x', f=peer.s[0]) }}", "<AAAx>" },
    { "{{ peer.s | wordwrap(2) }}", "<Ab>\n<c>" },
    { "{{ ('k: l\nown ' ~ peer.s) | wordwrap(6, wrapstring='/') }}", "k: l/own <Ab>/<c>" },
    { "{{ 'own text' | wordwrap(4, wrapstring=peer.s) }}", "own<Ab c>text" },
    /* chosen by it, not made of it */
    { "{{ {'Ab c': 'mine: a'}[peer.s] }}{{ {'Ab c': 'mine'}.get(peer.s) }}", "mine: amine" },
    { "{{ own.d | default(peer.s) }}{{ own.x | default(peer.s) }}", "{'k': 'v'}<Ab c>" },
    { "{{ peer.s | length }}{{ peer.s == 'Ab c' }}", "4True" },
    /* captured */
    { "{% macro m(x) %}- {{ x }}\n{% endmacro %}{{ m(peer.s) }}{{ m(own.s) }}", "- <Ab c>\n- own\n" },
    { "{% macro m(x) %}k: {{ x }}\nl: 1{% endmacro %}{{ m(peer.s) | indent }}", "k: <Ab c>\n    l: 1" },
    { "{% set x %}a {{ peer.s }}{% endset %}{{ x }}!", "a <Ab c>!" },
    { "{% filter upper %}a {{ peer.s }}{% endfilter %}", "A <AB C>" },
    { "{% macro m() %}({{ caller() }}){% endmacro %}{% call m() %}{{ peer.s }}{% endcall %}", "(<Ab c>)" },
    { "{% set ns = namespace(v='') %}{% set ns.v = ns.v ~ peer.s %}{{ ns.v }}", "<Ab c>" },
    { "{% set l = [] %}{% do l.append(peer.s) %}{{ l }}", "['<Ab c>']" },
    { "{% set x = '{a: 1}' | load_yaml %}{{ x }}{{ (peer.s ~ '') | load_yaml }}", "{'a': 1}<Ab c>" },
    { "{{ {'o': peer.s, 'k': 'own'} | json_query(peer.e) }}", "['<Ab c>', '<lit>', 'own', {'<n>': 'own'}]" },
    { "{{ {'o': peer.s, 'k': own.s} | json_query('[o, join(`-`, [o, k]), reverse(o), to_string([o]), "
      "reverse(k)]') }}",
      "['<Ab c>', '<Ab c-own>', '<c bA>', '<[\"Ab c\"]>', 'nwo']" },
    { "{{ [peer.s, 'a'] | json_query('[].[@, type(@)]') }}", "[['<Ab c>', 'string'], ['a', 'string']]" },
    /* what was made is shared by several places of it */
    { "{{ '[x, x, &a [x], *a]' | replace('x', peer.s) | load_yaml }}",
      "['<Ab c>', '<Ab c>', ['<Ab c>'], ['<Ab c>']]" },
    { "{% set l = ['o'] %}{% set r = [l, l, peer.l[0]] %}{{ r }}{{ l }}", "[['o'], ['o'], '<x>']['o']" },
};

static void
test_rows(void **state)
{
    int bad = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *shown = render(rows[i].text, SAID);
        if (strcmp(shown, rows[i].expected) != 0) {
            print_error("%s\n    makes    %s\n    expected %s\n", rows[i].text, shown, rows[i].expected);
            bad++;
        }
        free(shown);
    }
    assert_int_equal(bad, 0);
}

UNIT_MAIN(cmocka_unit_test(test_rows))
