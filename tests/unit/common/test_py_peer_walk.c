/* test_py_peer_walk.c - every filter, test, global and method with a peer's values in each of its arguments:
 * what is not marked is the same whatever the peer says.
 *
 * Two peers say the same in other letters. Where a pair of renders is alike in all that conditions may ask
 * (lengths, order, quotes), the unmarked parts must be equal but for numbers and conditions; always, no
 * letter of a peer's may be in them. ROUNDS=100 looks longer, SEED=7 elsewhere.
 */
#include <ctype.h>

#include "common/base/str.h"
#include "common/jinja/filter/filter.h"
#include "common/py/py_methods.h"

#include "lib/peer_pair.h"
#include "unit/unit.h"

enum { PAIRS = 3, ARGS_MAX = 5 };

/* Two peers say the same in other letters, which neither templates nor our own values have: whatever of
 * `letters` shows up in an unmarked part is a peer's. */
typedef struct doc {
    char *json;
    const char *letters;
} doc_t;
typedef struct pair {
    doc_t of[2];
    bool
        alike; /* of one length, in one order beside our own values, with quotes and line breaks at the same places */
} pair_t;

static const char ours[] = "{\"s\": \"ogo\", \"l\": [\"o1\", \"o2\"], \"d\": {\"k\": \"o\"}, \"c\": \"-\"}";

/* What the two say as JSON: $ and & are letters that differ, ' is ", ^ is ', and ~ a " in a text. */
static const char shape_plain[] =
    "{'s':'$& $','c':'$','l':['$&','&$'],'d':{'$':'&&','k':'&'},'f':'$>9','t':'%s-$','u':'{}-$','h':'%Y $',"
    "'j':'{~a~: [~$&~]}','y':'n: [$, "
    "&]','m':'<b>$</b>','r':'($)','p':'/$/&.$','w':'https://$.&','g':'$.&','z':'\\\\1$','q':'[o, `~$~`, "
    "[*].`[~&~]`, k]'";
static const char shape_odd[] =
    "{'s':'$~^\\n\\\\&{{ é','c':'\\n','l':['$^','&\\n: "
    "$'],'d':{'$~':'&^','k':'&\\n$'},'f':'$>9','t':'%s~$','u':'{}^$',"
    "'h':'%H\\n$','j':'[~$~, ~&~]','y':'$: &','m':'<b "
    "n=^$^>&</b>','r':'[$&]','p':'../$','w':'$:&','g':'$','z':'$\\n','q':'[*].join(`~$~`, [@, @])'";
static const char shape_long[] =
    "{'s':'$&$&$&$&, "
    "$\\n','c':'$$','l':['$','&&&','$$$$$$$$'],'d':{'$&$':['&&']},'f':'>9','t':'$%s%s','u':'{0}{0}$',"
    "'h':'$','j':'~$~','y':'[$]','m':'&','r':'.$','p':'&','w':'&','g':'k','z':'$$$','q':'*.{$: `~&~`, k: @}'";
static const char *const numbers[] = {
    "'n':121,'i':'fe80::1a/120','a':'2020-01-02 03:04:05','b':'eXl5','k':'00:11:22:33:44:5a','v':[121,122]",
    "'n':118,'i':'fe80::1c/120','a':'3030-02-03 04:05:06','b':'dnZ2','k':'00:11:22:33:44:5b','v':[118,120]",
};

static pair_t pairs[PAIRS];

static char *
say(const char *shape, const char *more, char first, char second)
{
    AUTO_FREE char *all = xasprintf("%s,%s}", shape, more);
    buf_t b = BUF_INIT;

    for (const char *p = all; *p != '\0'; p++) {
        if (*p == '~')
            buf_puts(&b, "\\\"");
        else
            buf_putc(&b, *p == '$' ? first : *p == '&' ? second : *p == '\'' ? '"' : *p == '^' ? '\'' : *p);
    }
    return buf_steal(&b);
}

static void
say_all(void)
{
    const char *const shapes[PAIRS][2] = { { shape_plain, shape_plain },
                                           { shape_odd, shape_odd },
                                           { shape_plain, shape_long } };

    for (size_t i = 0; i < PAIRS; i++)
        pairs[i] = (pair_t){ { { say(shapes[i][0], numbers[0], 'y', 'z'), "yz" },
                               { say(shapes[i][1], numbers[1], 'v', 'x'), "vx" } },
                             i < 2 };
}

static void
say_no_more(void)
{
    for (size_t i = 0; i < PAIRS; i++)
        for (size_t k = 0; k < 2; k++)
            free(pairs[i].of[k].json);
}

/* ---- trials ------------------------------------------------------------------------------------ */

typedef struct trial {
    uint64_t seed;
    size_t rendered, different; /* pairs without an error; those whose texts differ */
    size_t bad;
} trial_t;

static unsigned
chance(trial_t *t, size_t n)
{
    t->seed ^= t->seed << 13;
    t->seed ^= t->seed >> 7;
    t->seed ^= t->seed << 17;
    return (unsigned) ((t->seed >> 20) % n);
}

#define PICK(t, list) ((list)[chance((t), NELEMS(list))])

static size_t
knob(const char *name, size_t dflt)
{
    const char *v = getenv(name);
    return v != NULL ? strtoul(v, NULL, 10) : dflt;
}

static int
load(void *cookie, const char *name, py_t *globals, jinja_known_fn *known, void *known_cookie,
     jinja_file_t *ret, fail_t *err)
{
    static const char *const files[][2] = {
        { "macros",
          "{% macro m(x, y='o') %}<{{ x }}{{ caller() if caller else y }}>{% endmacro %}{% set o = 'o' %}" },
        { "prints", "o{{ x is defined and x }}{{ peer.s }}o" },
        { "base", "o{% block one %}o{% endblock %}{% block two %}{{ peer.l }}{% endblock %}o" },
        { "printed", "{\"o\": {{ x | string | json }}, \"p\": [{{ peer.s | json }}]}" },
        { "data", "{\"o\": [\"{{ own.s }}\"]}" },
    };

    for (size_t i = 0; i < NELEMS(files); i++)
        if (strcmp(files[i][0], name) == 0) {
            ret->path = xstrdup(name);
            ret->text = xstrdup(files[i][1]);
            ret->len = strlen(ret->text);
            return 0;
        }
    return -ENOENT;
}

static const jinja_loader_t loader = { load, NULL };

static bool
has_letters(const buf_t *text, const char *letters)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->data[i] != '\0' && strchr(letters, tolower((unsigned char) text->data[i])) != NULL)
            return true;
    return false;
}

/* Numbers, addresses of objects and conditions may differ, and so may quotes, which some texts need:
 * `rest` without all that. */
static void
put_plain(const buf_t *rest, buf_t *out)
{
    static const char *const words[] = { "True", "False", "None", "true", "false", "null", "inf", "nan" };
    const char *p = rest->len > 0 ? rest->data : "";

    while (*p != '\0') {
        size_t skip = strncasecmp(p, "0x", 2) == 0
                          ? 2 + strspn(p + 2, "0123456789abcdefABCDEF")
                          : isdigit((unsigned char) *p) || strchr(".+-\"'", *p) != NULL;
        for (size_t i = 0; skip == 0 && i < NELEMS(words); i++)
            skip = str_starts(p, words[i]) ? strlen(words[i]) : 0;
        if (skip == 0)
            buf_putc(out, *p);
        p += skip > 0 ? skip : 1;
    }
}

/* Whether a peer's letters are in the unmarked part of `a`, and not in that of `b`, who has others. */
static bool
leaks(const peer_out_t *a, const peer_out_t *b, const char *letters)
{
    return has_letters(&a->rest, letters) && !has_letters(&b->rest, letters);
}

static bool
same_rest(const peer_out_t *a, const peer_out_t *b)
{
    buf_auto_t x = BUF_INIT, y = BUF_INIT;

    put_plain(&a->rest, &x);
    put_plain(&b->rest, &y);
    return strcmp(buf_str(&x), buf_str(&y)) == 0;
}

/* Own text around what is printed stays our own. */
static bool
has_edges(const peer_out_t *o)
{
    return str_starts(buf_str(&o->rest), "[[") && str_ends(buf_str(&o->rest), "]]");
}

/* Whether there may be another number of things, of spaces, of rounds, or another order, because a peer's
 * digits or a hash say so. */
static bool
may_vary(const char *template)
{
    static const char *const causes[] = { "peer.n", "peer.v", "peer.a", "peer.b", "peer.k", "rand",  "md5",
                                          "sha",    "hmac",   "hash",   "uuid",   "base64", "human", "gen_" };

    for (size_t i = 0; i < NELEMS(causes); i++)
        if (strstr(template, causes[i]) != NULL)
            return true;
    return strstr(template, "encode()") != NULL && strstr(template, "yaml") != NULL; /* base64 too */
}

/* Why a pair of renders isn't well; NULL: it is. */
static const char *
judge(const char *template, const pair_t *pair, const peer_out_t *o)
{
    if (!has_edges(&o[0]) || !has_edges(&o[1]))
        return "own text around a value is marked";
    for (size_t k = 0; k < 2; k++)
        if (leaks(&o[k], &o[1 - k], pair->of[k].letters))
            return "an unmarked part has a peer's letters";
    return pair->alike && !may_vary(template) && !same_rest(&o[0], &o[1]) ? "unmarked parts differ" : NULL;
}

/* Chance and the clock make differences that are no peer's. */
static bool
is_steady(const char *template, const pair_t *pair, const peer_out_t *first)
{
    void *shift[200]; /* what has an address gets another one */
    peer_out_t again;

    for (size_t i = 0; i < NELEMS(shift); i++)
        shift[i] = xcalloc(1, 16 * (i + 1));
    bool same = peer_render(&loader, template, pair->of[0].json, ours, &again) == 0 &&
                same_rest(&again, first);

    peer_out_free(&again);
    for (size_t i = 0; i < NELEMS(shift); i++)
        free(shift[i]);
    return same;
}

static void
try_pair(trial_t *t, const char *template, const pair_t *pair)
{
    peer_out_t o[2];
    bool made = peer_render(&loader, template, pair->of[0].json, ours, &o[0]) == 0;

    made = peer_render(&loader, template, pair->of[1].json, ours, &o[1]) == 0 && made;
    const char *why = made ? judge(template, pair, o) : NULL;
    if (why != NULL && is_steady(template, pair, &o[0])) {
        print_error("%s\n    %s\n    one:   %s\n       own %s\n    other: %s\n       own %s\n", why, template,
                    buf_str(&o[0].text), buf_str(&o[0].rest), buf_str(&o[1].text), buf_str(&o[1].rest));
        t->bad++;
    }
    t->rendered += made;
    t->different += made && strcmp(buf_str(&o[0].text), buf_str(&o[1].text)) != 0;
    peer_out_free(&o[0]);
    peer_out_free(&o[1]);
}

/* ---- expressions and ways to print them -------------------------------------------------------- */

static const char *const said[] = {
    "peer.s",
    "('o' ~ peer.s ~ 'o-o')",
    "peer.c",
    "peer.l",
    "peer.d",
    "[own.s, peer.s]",
    "{'o': peer.s, 'k': own.s}",
    "[peer.d, own.d]",
    "peer.f",
    "peer.t",
    "peer.u",
    "peer.h",
    "peer.j",
    "peer.y",
    "peer.m",
    "peer.r",
    "peer.p",
    "peer.w",
    "peer.g",
    "peer.z",
    "peer.n",
    "peer.i",
    "peer.a",
    "peer.b",
    "peer.k",
    "peer.v",
    "peer.q",
    "[peer.c.encode()]",
    "['o', peer.s]",
    "[peer.i, '10.0.0.1']",
    "peer.l[0]",
    "[peer.l, peer.l]",
    "peer.s.encode()",
    "(peer.s, own.s)",
    "[[own.s, peer.s], ['o', peer.c]]",
    "(peer.s | escape)",
    "{111: peer.c}",
    "{111: peer.n}",
    "[['o', peer.s]]",
    "peer.c.encode()",
    "{'o': {'o': peer.s}}",
    "odict(peer.d)",
};

static const char *const plain[] = {
    "own.s",
    "own.l",
    "own.d",
    "own.c",
    "'o'",
    "'k'",
    "0",
    "1",
    "2",
    "9",
    "true",
    "none",
    "[own.d]",
    "'%H o'",
    "'upper'",
    "{'o': 'k'}",
    "'o-o'",
    "'(o)'",
    "{111: 'k'}",
    "'fe80::1/64'",
    "'o.o'",
    "'@'",
    "'[].o'",
    "('o', 'k')",
    "'md5'",
    "[['o', 'k']]",
    "'o'.encode()",
    "own.c.encode()",
    "['o'.encode(), 'k'.encode()]",
    "'o-o'.encode()",
    "'10.0.0.0/8'",
    "'length'",
    "'o.k'",
    "['o', 'o']",
    "[1, 2]",
    "'big'",
    "'o%s'",
    "'{}o'",
    "'%s%s'",
    "(' o', 'k ')",
};

/* Each prints `r`, the result of a call. */
static const char *const ways[] = {
    "{{ r }}",
    "{{ r | join('-') }}",
    "{% for x in r %}{{ x }},{% endfor %}",
    "{% for x in r %}{% for y in x %}{{ y }},{% endfor %};{% endfor %}",
    "{{ r | string }}",
    "{{ r | json }}",
    "{{ r | yaml(false) }}",
    "{{ r | pprint }}",
    "{% set s %}<{{ r }}>{% endset %}{{ s }}",
    "{{ [r, {'o': r}] }}",
    "{{ 'o%so' % (r,) }}",
    "{{ r ~ 'o' }}",
    "{{ r | tojson }}",
    "{{ r | yaml }}",
    "{{ r.items() | list }}",
    "{{ r | list }}",
    "{{ '{0:<9}o{0!r}'.format(r) }}",
};

/* What fits the arguments of a kind's methods; NULL: anything. */
static const char *const (*mates)[2][3];

static const char *
operand(trial_t *t, bool of_peer)
{
    if (mates != NULL && chance(t, 2) == 0)
        return PICK(t, (*mates)[of_peer]);
    return of_peer ? PICK(t, said) : PICK(t, plain);
}

/* A call of something with `n` arguments, of which the one at `peers` is a peer's; those from `by_name` on
 * have names. The first `before` of them stand in front of the call: the value of a filter. */
typedef struct call {
    size_t before, n, peers, by_name;
    const char *const *names;
} call_t;

static void
put_arguments(buf_t *out, trial_t *t, const call_t *call)
{
    for (size_t i = call->before; i < call->n; i++) {
        buf_puts(out, i > call->before ? ", " : "");
        if (i >= call->by_name)
            buf_printf(out, "%s=", call->names[i]);
        buf_puts(out, operand(t, i == call->peers || chance(t, 8) == 0));
    }
}

static void
try_result(trial_t *t, const char *v, const char *made)
{
    AUTO_FREE char *template = xasprintf("{%% set v = %s %%}{%% set r = %s %%}[[%s|{{ v }}]]", v, made,
                                         PICK(t, ways));

    try_pair(t, template, &pairs[chance(t, 8) == 0 ? 2 : chance(t, 2)]);
}

/* What a row takes: its parameters without hidden ones, and how many more may follow. */
typedef struct shape {
    const char *const *names;
    size_t before, min, max, more;
} shape_t;

static const char *const surplus[] = { "o", "indent", "separators", "default", "attribute" };

/* ---- rows whose result never shows a peer's text ----------------------------------------------- */

static const struct {
    const char *name, *why;
} quiet[] = {
    { "| dns_check", "asks resolvers" },
    { "| list_files", "walks the disk" },
    { "| file_hashsum", "a hash of what a file holds" },
    { "| http_query", "a function of the minion's answers" },
    { "raise", "always raises" },
    { "show_full_context", "has no arguments" },
    { "list.clear", "leaves nothing" },
    { "dict.clear", "leaves nothing" },
    { "odict.clear", "leaves nothing" },
    { "set.clear", "leaves nothing" },
    { "range.count", "numbers" },
    { "range.index", "numbers" },
    { "range.start", "numbers" },
    { "range.step", "numbers" },
    { "range.stop", "numbers" },
};

static bool
is_quiet(const char *name)
{
    for (size_t i = 0; i < NELEMS(quiet); i++)
        if (strcmp(quiet[i].name, name) == 0)
            return true;
    return false;
}

/* Each argument in turn is a peer's, with as many others as it takes. */
static void
walk_once(trial_t *t, const shape_t *s, void (*one)(trial_t *t, const char *name, const call_t *call),
          const char *name)
{
    size_t n = s->max + s->more, rounds = knob("ROUNDS", 60);

    for (size_t peers = 0; peers < n || peers == 0; peers++) {
        for (size_t i = 0; i < rounds; i++) {
            size_t least = peers + 1 > s->min ? peers + 1 : s->min;
            call_t call = { s->before, least + (n > least ? chance(t, n - least + 1) : 0), peers, SIZE_MAX,
                            NULL };
            const char *names[16] = { NULL };
            for (size_t k = 0; k < NELEMS(names); k++)
                names[k] = k < s->max && s->names != NULL ? s->names[k] : PICK(t, surplus);
            if ((s->names != NULL || s->more > 0) && chance(t, 3) == 0) {
                call.by_name = s->names != NULL ? s->before + chance(t, n) : s->max;
                call.names = names;
            }
            one(t, name, &call);
        }
    }
}

/* Longer for a row that is hard to call. */
static void
walk_places(trial_t *t, const shape_t *s, void (*one)(trial_t *t, const char *name, const call_t *call),
            const char *kind, const char *name)
{
    AUTO_FREE char *full = xasprintf("%s%s", kind, name);

    walk_once(t, s, one, name);
    for (int i = 0; t->different == 0 && i < 50 && !is_quiet(full); i++)
        walk_once(t, s, one, name);
}

/* A row that no trial has shown at work, or one said to be quiet that is not, is bad. */
static void
close_row(trial_t *all, const trial_t *t, const char *kind, const char *name)
{
    AUTO_FREE char *full = xasprintf("%s%s", kind, name);

    if (t->bad > 0)
        print_error("%s: %zu bad pairs\n", full, t->bad);
    if ((t->different == 0) != is_quiet(full)) {
        print_error("%s: %zu pairs, of which %zu show a peer's text\n", full, t->rendered, t->different);
        all->bad++;
    }
    all->seed = t->seed;
    all->bad += t->bad;
    all->rendered += t->rendered;
    all->different += t->different;
}

static trial_t
begin(void)
{
    return (trial_t){ .seed = 0x9e3779b97f4a7c15ULL * (knob("SEED", 1) + 1) };
}

static void
end(const trial_t *t)
{
    print_message("# %zu pairs rendered, %zu of them different\n", t->rendered, t->different);
    assert_int_equal(t->bad, 0);
}

/* ---- filters, tests, globals ------------------------------------------------------------------- */

static void
try_filter(trial_t *t, const char *name, const call_t *call)
{
    buf_auto_t made = BUF_INIT;

    buf_printf(&made, "v | %s(", name);
    put_arguments(&made, t, call);
    buf_putc(&made, ')');
    try_result(t, operand(t, call->peers == 0 || chance(t, 4) == 0), buf_str(&made));
}

static void
try_test(trial_t *t, const char *name, const call_t *call)
{
    buf_auto_t made = BUF_INIT;

    bool word = isalpha((unsigned char) name[0]) != 0;
    buf_printf(&made, word ? "v is %s" : "[v] | select('%s', ", name);
    if (word && call->n > 1)
        buf_putc(&made, '(');
    put_arguments(&made, t, call);
    buf_puts(&made, !word || call->n > 1 ? ")" : "");
    try_result(t, operand(t, call->peers == 0 || chance(t, 4) == 0), buf_str(&made));
}

static void
try_global(trial_t *t, const char *name, const call_t *call)
{
    buf_auto_t made = BUF_INIT;

    buf_printf(&made, "%s(", name);
    put_arguments(&made, t, call);
    buf_putc(&made, ')');
    try_result(t, operand(t, true), buf_str(&made));
}

static shape_t
shape_of(const jfilter_t *f)
{
    size_t hidden = (f->flags & JF_CONTEXT) != 0;
    bool open = (f->sig.flags & (PY_SIG_STAR | PY_SIG_STARKW)) != 0;

    return (shape_t){ f->sig.params != NULL ? f->sig.params + hidden : NULL, 1, (size_t) f->sig.min - hidden,
                      (size_t) f->sig.max - hidden, open ? 2 : 0 };
}

static jinja_t *
engine_new(void)
{
    jinja_options_t options = { 0 };

    jinja_salt_options(&options, NULL, false);
    return jinja_new(&options, NULL);
}

static void
test_filters(void **state)
{
    jinja_t *engine = engine_new();
    trial_t all = begin();
    const char *name;

    for (size_t i = 0; (name = jfilter_name(engine, i)) != NULL; i++) {
        trial_t t = { .seed = all.seed };
        shape_t s = shape_of(jfilter_find(engine, name));
        if (strcmp(name, "dns_check") != 0 && strcmp(name, "list_files") != 0)
            walk_places(&t, &s, try_filter, "| ", name);
        close_row(&all, &t, "| ", name);
    }
    jinja_destroy(&engine);
    end(&all);
}

static void
test_tests(void **state)
{
    jinja_t *engine = engine_new();
    trial_t all = begin();
    const char *name;

    for (size_t i = 0; (name = jtest_name(engine, i)) != NULL; i++) {
        trial_t t = { .seed = all.seed };
        shape_t s = shape_of(jtest_find(engine, name));
        walk_places(&t, &s, try_test, "is ", name);
        close_row(&all, &t, "is ", name);
    }
    jinja_destroy(&engine);
    end(&all);
}

static void
test_globals(void **state)
{
    const py_limits_t limits = { .bytes = 1 << 26, .steps = 200000, .deadline_ms = clock_mono_ms() + 10000 };
    static const shape_t any = { surplus, 0, 0, 3, 1 };
    trial_t all = begin();
    py_t *name, *value;
    char *names[64];
    size_t n = 0;
    py_scope_t scope;

    py_scope_enter(&scope, &limits);
    jinja_t *engine = engine_new();
    py_t *globals = jinja_globals(engine);
    for (size_t i = 0; py_dict_next(globals, &i, &name, &value) && n < NELEMS(names);)
        names[n++] = xstrdup(py_cstr(name));
    py_unref(globals);
    jinja_destroy(&engine);
    py_scope_leave(&scope);
    for (size_t i = 0; i < n; i++) {
        trial_t t = { .seed = all.seed };
        walk_places(&t, &any, try_global, "", names[i]);
        close_row(&all, &t, "", names[i]);
        free(names[i]);
    }
    end(&all);
}

/* ---- methods ----------------------------------------------------------------------------------- */

/* A value of each type, and such of a peer; `more` are methods of a kind of it, which its table doesn't list. */
static const struct kind {
    const char *type, *own, *peers[4], *more[4], *const mates[2][3];
} kinds[] = {
    { "str",
      "own.s",
      { "peer.s", "('o' ~ peer.s ~ ' o')", "peer.t", "peer.u" },
      { NULL },
      { { "'o'", "own.s", "'our'" }, { "peer.s", "peer.c", "('o' ~ peer.c)" } } },
    { "Markup",
      "(own.s | escape)",
      { "(peer.s | escape)", "('%so{}' | escape)", "(peer.m | escape)", "(peer.u | escape)" },
      { "striptags", "unescape", "escape" },
      { { "'o'", "own.s", "'our'" }, { "peer.s", "peer.c", "('o' ~ peer.c)" } } },
    { "bytes",
      "own.s.encode()",
      { "peer.s.encode()", "('o' ~ peer.s).encode()", "peer.c.encode()", "peer.l[0].encode()" },
      { NULL },
      { { "'o'.encode()", "own.s.encode()", "['o'.encode(), own.s.encode()]" },
        { "peer.s.encode()", "peer.c.encode()", "[peer.s.encode(), peer.c.encode()]" } } },
    { "list",
      "[own.s, 'o']",
      { "['o', peer.s]", "(peer.l + own.l)", "[peer.d, 'k']", "[[peer.c], 1]" },
      { NULL },
      { { "'o'", "own.s", "'our'" }, { "peer.s", "peer.c", "('o' ~ peer.c)" } } },
    { "tuple",
      "(own.s, 'o')",
      { "(own.s, peer.s)", "(peer.c,)", "(1, peer.d)", "(peer.l, 2)" },
      { NULL },
      { { "'o'", "own.s", "'our'" }, { "peer.s", "peer.c", "('o' ~ peer.c)" } } },
    { "dict",
      "{'o': 'k'}",
      { "{'o': peer.s}", "{peer.s: 'o', 'k': peer.c}", "dict(peer.d)", "{1: peer.l}" },
      { NULL },
      { { "'o'", "own.s", "'our'" }, { "peer.s", "peer.c", "('o' ~ peer.c)" } } },
    { "odict",
      "odict({'o': 'k'})",
      { "odict(peer.d)", "odict({peer.s: 'o', 'k': 'o'})", "odict({'o': peer.s})", "odict()" },
      { "move_to_end" },
      { { "'o'", "own.s", "'our'" }, { "peer.s", "peer.c", "('o' ~ peer.c)" } } },
    { "set",
      "(('o', 'k') | unique)",
      { "((peer.s, 'o') | unique)", "((peer.c, own.s) | unique)", "((peer.s,) | unique)",
        "((1, peer.c) | unique)" },
      { NULL },
      { { "'o'", "own.s", "'our'" }, { "peer.s", "peer.c", "('o' ~ peer.c)" } } },
    { "view",
      "own.d.keys()",
      { "peer.d.keys()", "{peer.s: 'o'}.keys()", "{'o': peer.s}.items()", "peer.d.items()" },
      { NULL },
      { { "'o'", "own.s", "'our'" }, { "peer.s", "peer.c", "('o' ~ peer.c)" } } },
    { "int",
      "3",
      { "peer.n", "peer.v[0]", "(peer.n * 300)", "113" },
      { NULL },
      { { "0", "1", "2" }, { "peer.n", "0", "'big'" } } },
    { "float",
      "3.5",
      { "(peer.n / 2)", "(peer.n * 1.5)", "1.5", "(peer.n | float)" },
      { NULL },
      { { "0", "1", "2" }, { "peer.n", "0", "'big'" } } },
    { "range",
      "range(3)",
      { "range(peer.n - peer.n + 2)", "range(2)", "range(3)", "range(1)" },
      { NULL },
      { { "0", "1", "2" }, { "peer.n", "0", "'big'" } } },
};

static const struct kind *kind_now;
static bool is_property;

static void
try_method(trial_t *t, const char *name, const call_t *call)
{
    bool of_peer = call->peers == 0 || chance(t, 4) == 0;
    buf_auto_t made = BUF_INIT;

    buf_printf(&made, "v.%s", name);
    if (!is_property) {
        buf_putc(&made, '(');
        put_arguments(&made, t, call);
        buf_putc(&made, ')');
    }
    try_result(t, of_peer ? PICK(t, kind_now->peers) : kind_now->own, buf_str(&made));
}

/* `at` 0, 1, ... are the names of a kind's methods, first those of its table: 0, or -1 behind the last one. */
static int
method_at(const struct kind *kind, size_t at, char *name, size_t room, shape_t *ret, const char **names)
{
    const py_limits_t limits = { .bytes = 1 << 26, .steps = 200000, .deadline_ms = clock_mono_ms() + 10000 };
    const jinja_source_t source = { .text = kind->own, .len = strlen(kind->own) };
    jinja_error_t e = JINJA_ERROR_INIT;
    py_scope_t scope;
    size_t n = 0;
    int rc = -1;

    py_scope_enter(&scope, &limits);
    jinja_t *engine = engine_new();
    py_t *context = py_dict();
    py_dict_sets_new(context, "own", py_json_loads(ours, strlen(ours)));
    py_t *v = jinja_evaluate(engine, &source, context, NULL, &e);
    assert_non_null(v);
    while (py_method_name(v, n) != NULL)
        n++;
    const char *found = at < n                        ? py_method_name(v, at)
                        : at - n < NELEMS(kind->more) ? kind->more[at - n]
                                                      : NULL;
    const py_method_t *m = found != NULL ? py_method_find(v, found, strlen(found)) : NULL;
    if (found != NULL) {
        snprintf(name, room, "%s", found);
        bool open = m != NULL && (m->flags & (PY_SIG_STAR | PY_SIG_STARKW)) != 0;
        size_t max = m != NULL ? (size_t) m->max : 0;
        names[0] = "self";
        for (size_t i = 0; i < max && m->params != NULL; i++)
            names[i + 1] = m->params[i];
        is_property = m != NULL && (m->flags & PY_METHOD_PROPERTY) != 0;
        *ret = (shape_t){ m != NULL && m->params != NULL ? names : NULL, 1,
                          m != NULL ? (size_t) m->min + 1 : 1, max + 1, open ? 2 : 0 };
        rc = 0;
    }
    py_unref(v);
    py_unref(context);
    jinja_destroy(&engine);
    py_scope_leave(&scope);
    return rc;
}

static void
test_methods(void **state)
{
    trial_t all = begin();
    const char *names[PY_MAX_SLOTS + 1];
    char name[64], prefix[64];
    shape_t s;

    for (size_t i = 0; i < NELEMS(kinds); i++) {
        kind_now = &kinds[i];
        mates = &kind_now->mates;
        snprintf(prefix, sizeof(prefix), "%s.", kinds[i].type);
        for (size_t k = 0; method_at(kind_now, k, name, sizeof(name), &s, names) == 0; k++) {
            trial_t t = { .seed = all.seed };
            walk_places(&t, &s, try_method, prefix, name);
            close_row(&all, &t, prefix, name);
        }
    }
    mates = NULL;
    end(&all);
}

/* ---- at random --------------------------------------------------------------------------------- */

enum { NAMES_MAX = 600 };

static char *filter_names[NAMES_MAX], *method_names[NAMES_MAX];

static void
learn_names(void)
{
    jinja_t *engine = engine_new();
    const char *name, *names[PY_MAX_SLOTS + 1];
    char method[64];
    size_t n = 0;
    shape_t s;

    for (size_t i = 0; (name = jfilter_name(engine, i)) != NULL && n < NAMES_MAX - 1; i++)
        if (strcmp(name, "dns_check") != 0 && strcmp(name, "list_files") != 0)
            filter_names[n++] = xstrdup(name);
    jinja_destroy(&engine);
    n = 0;
    for (size_t i = 0; i < NELEMS(kinds); i++)
        for (size_t k = 0;
             n < NAMES_MAX - 1 && method_at(&kinds[i], k, method, sizeof(method), &s, names) == 0; k++)
            method_names[n++] = xstrdup(method);
}

static void
forget_names(void)
{
    for (size_t i = 0; i < NAMES_MAX; i++) {
        free(filter_names[i]);
        free(method_names[i]);
        filter_names[i] = method_names[i] = NULL;
    }
}

static const char *
name_of(trial_t *t, char *const *names)
{
    size_t n = 0;

    while (names[n] != NULL)
        n++;
    return names[chance(t, n)];
}

static char *
with(const char *form, const char *e)
{
    return str_replace(form, "@", e);
}

/* An expression of calls and operators with a peer's values in it. NEW. */
static char *
expression(trial_t *t, int depth)
{
    static const char *const around[] = { "(@)[0]",
                                          "(@)[1:]",
                                          "(@)[::2]",
                                          "[@, 'o']",
                                          "{'o': @, 'k': own.s}",
                                          "(@, own.s)",
                                          "((@) * 2)",
                                          "((@) if own.s else 'o')",
                                          "('o%so' % (@))",
                                          "[own.s, [@]]" };
    static const char *const between[] = { "~", "+", "%", "and", "or" };
    unsigned kind = depth > 0 ? chance(t, 12) : 12;

    if (kind == 12)
        return xstrdup(operand(t, chance(t, 2) == 0));
    AUTO_FREE char *e = expression(t, depth - 1);
    if (kind == 11)
        return with(PICK(t, around), e);
    if (kind > 8)
        return xasprintf("(%s %s %s)", e, PICK(t, between), operand(t, chance(t, 2) == 0));
    bool method = kind > 5;
    const char *a = operand(t, chance(t, 3) == 0), *b = operand(t, chance(t, 3) == 0);
    unsigned n = chance(t, 3);
    return xasprintf(method ? "(%s).%s(%s%s%s)" : "((%s) | %s(%s%s%s))", e,
                     name_of(t, method ? method_names : filter_names), n > 0 ? a : "", n > 1 ? ", " : "",
                     n > 1 ? b : "");
}

/* Every way of a template to hold, hand on and print a value. */
static const char *const statements[] = {
    "{{ @ }}",
    "{% macro m(x) %}o{{ x }}\no{% endmacro %}{{ m(@) }}{{ m(@) | indent(2) }}{{ m('o').split('o') }}",
    "{% macro m(x=@) %}o{{ x }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m() }}{{ m('o', @) }}",
    "{% macro m(x) %}{% if x %}{{ x[0] }}{{ m(x[1:]) }}{% endif %}{% endmacro %}{{ m(@) }}",
    "{% set a %}o {{ @ }} o{% endset %}{{ a | trim }}{{ a.split(' ') }}",
    "{% set a | upper | replace('O', 'o') %}o {{ @ }} o{% endset %}{{ a }}",
    "{% macro m() %}({{ caller('o') }}){% endmacro %}{% call(x) m() %}{{ x }}{{ @ }}{% endcall %}",
    "{% filter upper %}o{{ @ }}{% endfilter %}{% filter indent(2) %}o\n{{ @ }}{% endfilter %}",
    "{% set x = @ %}{% include 'prints' %}{% include ['none', 'prints'] %}",
    "{% from 'macros' import m, o with context %}{{ m(@, y=@) }}{{ o }}",
    "{% import 'macros' as ms %}{% call ms.m(@) %}o{{ @ }}{% endcall %}",
    "{% set ns = namespace(x='o') %}{% for i in [1, 2] %}{% set ns.x = ns.x ~ (@) %}{% endfor %}{{ ns.x }}",
    "{% set l = ['o'] %}{% do l.append(@) %}{% do l.insert(0, @) %}{{ l }}{{ l | json }}",
    "{% set d = {'k': 'o'} %}{% do d.update({'o': @}) %}{% do d.setdefault('i', @) %}{{ d }}{{ d | dictsort "
    "}}",
    "{% for x in [@, 'o'] %}{{ loop.cycle('o', x) }}{{ loop.index }}{{ loop.changed(x) }}{{ loop.nextitem | "
    "string }}{% endfor %}",
    "{% for x in [@] recursive %}o{{ x }}{% if x is sequence and x is not string %}{{ loop(x) }}{% endif "
    "%}{% endfor %}",
    "{% set j = joiner(@) %}{{ j() }}o{{ j() }}o{{ j() }}",
    "{% set c = cycler('o', @) %}{{ c.next() }}{{ c.next() }}{{ c.current }}",
    "{% load_yaml as y %}o: {{ (@) | json }}{% endload %}{{ y }}{{ y.o }}",
    "{% load_json as y %}{\"o\": {{ (@) | json }}}{% endload %}{{ y.o }}{{ y | yaml }}",
    "{% load_text as y %}o {{ @ }}\n o{% endload %}{{ y }}{{ y | indent }}",
    "{% import_json 'data' as y %}{{ y }}{{ (@) ~ y.o[0] }}",
    "{% set x = @ %}{% import_yaml 'printed' as y with context %}{{ y }}{{ y.o }}{{ y.p }}",
    "{% set x = @ %}{% import_json 'printed' as y with context %}{{ y }}{{ y.o }}{{ y.p }}",
    "{% set x = @ %}{% import_text 'printed' as y with context %}{{ y }}{{ y | upper }}{{ y ~ 'o' }}",
    "{% set x = @ %}{% import 'prints' as y with context %}{{ y }}{{ y ~ 'o' }}{{ y | string | upper }}",
    "{% set x = @ %}{% import 'prints' as y with context %}{{ y | upper }}{{ y | replace('o', 'a') }}",
    "{% set x = @ %}{% import 'prints' as y with context %}{{ y | trim }}{{ [y] | join('-') }}{{ 'o%s' % y "
    "}}",
    "{% set x = @ %}{% import 'prints' as y with context %}{{ y | json }}{{ y | yaml }}{{ '{}'.format(y) }}",
    "{% set x = @ %}{% import 'prints' as y with context %}{{ y | md5 }}{{ y | title }}{{ y | escape }}",
    "{% set x = @ %}{% import 'prints' as y with context %}{{ y | list | join }}{{ y | wordwrap(3) }}",
    "{% import_yaml 'data' as y %}{% do y.update(k=@) %}{{ y | yaml(false) }}",
    "{% import_text 'data' as y %}{{ y }}{{ y.replace('o', (@) | string) }}",
    "{% for k, v in (@).items() %}o{{ k }}: {{ v }}{% endfor %}",
    "{% with x = @ %}{{ x }}{% set y = x %}{{ [y, x] | pprint }}{% endwith %}",
    "{% for a in (@) | batch(2, 'o') %}{{ a | join('-') }}{% endfor %}",
    "{% for a in (@) | map('upper') %}{{ a }},{% endfor %}{{ (@) | map('replace', 'o', peer.c) | list }}",
    "{% for a, b in [{'o': @, 'k': 1}, {'o': @, 'k': 2}] | groupby('k') %}{{ a }}{{ b }}{% endfor %}",
    "{{ [{'o': @}, {'o': 'o'}] | map(attribute='o') | join('-') }}{{ {'o': [@]} | json_query('o[0]') }}",
    "{{ {'o': @, 'k': own.s} | json_query(peer.q) }}{{ [@, 'o'] | json_query(peer.q) }}",
    "{{ {'o': @, 'k': own.s, 'p': peer.s} | json_query('[p, join(`-`, [k, p]), to_string([o]), keys(@), "
    "map(&to_string(@), [o, p])]') }}",
    "{{ {'k': own.s, 'p': @} | json_query('[p, reverse(p), sort([p, k]), max([p, k]), merge(@, {o: p}), "
    "values(@)]') }}",
    "{{ (@) | yaml }}{{ [@, {'o': @}] | yaml(false) }}{{ {'o': @} | dict_to_sls_yaml_params }}",
};

static void
test_random(void **state)
{
    size_t n = knob("TEMPLATES", 6000);
    trial_t t = begin();

    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *e = expression(&t, 1 + (int) chance(&t, 3));
        AUTO_FREE char *made = with(PICK(&t, statements), e);
        AUTO_FREE char *template = xasprintf("[[%s]]", made);
        try_pair(&t, template, &pairs[chance(&t, PAIRS)]);
    }
    end(&t);
}

static int
set_up(void **state)
{
    say_all();
    learn_names();
    return 0;
}

static int
tear_down(void **state)
{
    say_no_more();
    forget_names();
    return 0;
}

#define WALK(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
UNIT_MAIN(WALK(test_filters), WALK(test_tests), WALK(test_globals), WALK(test_methods), WALK(test_random))
