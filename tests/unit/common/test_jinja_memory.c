/* test_jinja_memory.c - whatever a template does, it takes no more memory than its limit and a tenth:
 * every filter, test, function, method and operator that there is, with arguments that are large or that
 * multiply. What is taken is counted where the C library gives it. */
#include <malloc.h>

#include "unit/unit.h"

#include "common/base/clock.h"
#include "common/jinja/filter/filter.h"
#include "common/jinja/jinja_salt.h"

enum {
    LIMIT = 2 * 1024 * 1024,
    SLACK = 256 * 1024, /* the compiled template, and what an engine has whatever it renders */
    STEPS = 100000,
    TIME_MS = 1000,
    LARGE = 256 * 1024,
    MANY = 25000
};

/* ---- what the C library gave -------------------------------------------------------------------------------- */

#if !SANITIZED
static _Thread_local struct {
    int64_t now, peak;
} taken;

static void
took(int64_t bytes)
{
    taken.now += bytes;
    if (taken.now > taken.peak)
        taken.peak = taken.now;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void __libc_free(void *p);

static void *
counted(void *p)
{
    if (p != NULL)
        took((int64_t) malloc_usable_size(p));
    return p;
}

void *
malloc(size_t size)
{
    return counted(__libc_malloc(size));
}

void *
calloc(size_t n, size_t size)
{
    return counted(__libc_calloc(n, size));
}

void *
realloc(void *p, size_t size)
{
    int64_t before = p != NULL ? (int64_t) malloc_usable_size(p) : 0;
    void *grown = __libc_realloc(p, size);
    if (grown != NULL)
        took((int64_t) malloc_usable_size(grown) - before);
    return grown;
}

void
free(void *p)
{
    if (p != NULL)
        took(-(int64_t) malloc_usable_size(p));
    __libc_free(p);
}
#endif

/* ---- what templates are given --------------------------------------------------------------------------------- */

static py_t *
repeated(const char *text, size_t bytes)
{
    buf_auto_t b = BUF_INIT;
    while (b.len < bytes)
        buf_puts(&b, text);
    return py_str_buf(&b);
}

static py_t *
numbers(size_t n)
{
    py_t *list = py_list();
    for (size_t i = 0; i < n; i++)
        py_append_new(list, py_int((int64_t) i));
    return list;
}

static py_t *
texts(size_t n)
{
    py_t *list = py_list();
    for (size_t i = 0; i < n; i++)
        py_append_new(list, py_strf("text %zu", i));
    return list;
}

/* One long text many times over: small by itself, large when each is made anew. */
static py_t *
same_texts(size_t n)
{
    AUTO(py) text = repeated("<a&b> ", 4000);
    py_t *list = py_list();
    for (size_t i = 0; i < n; i++)
        py_append(list, text);
    return list;
}

static py_t *
names(size_t n)
{
    py_t *dict = py_dict();
    for (size_t i = 0; i < n; i++) {
        AUTO(py) key = py_strf("name%zu", i);
        AUTO(py) value = py_int((int64_t) i);
        py_dict_set(dict, key, value);
    }
    return dict;
}

static py_t *
pairs(size_t n)
{
    py_t *list = py_list();
    for (size_t i = 0; i < n; i++) {
        AUTO(py) key = py_strf("k%zu", i);
        AUTO(py) value = py_int((int64_t) i);
        py_append_new(list, py_tuple_of(2, key, value));
    }
    return list;
}

static py_t *
dicts(size_t n)
{
    py_t *list = py_list();
    for (size_t i = 0; i < n; i++) {
        py_t *d = py_dict();
        py_dict_sets_new(d, "a", py_int((int64_t) (i % 7)));
        py_dict_sets_new(d, "b", py_strf("text %zu", i));
        py_append_new(list, d);
    }
    return list;
}

/* Each holds the next twice: 2 to the `depth` when it is printed. */
static py_t *
doubling(int depth)
{
    py_t *v = py_strz("leaf");
    for (int i = 0; i < depth; i++) {
        py_t *list = py_list();
        py_append(list, v);
        py_append_new(list, v);
        v = list;
    }
    return v;
}

static py_t *
as_bytes(py_t *text)
{
    size_t len;
    const char *s = py_text(text, &len);
    py_t *v = py_bytes(s, len);
    py_unref(text);
    return v;
}

static py_t *
as_set(py_t *list)
{
    py_t *v = py_toset(list, false);
    py_unref(list);
    return v;
}

static py_t *
as_tuple(py_t *list)
{
    py_t *v = py_totuple(list);
    py_unref(list);
    return v;
}

static py_t *
as_markup(py_t *text)
{
    py_t *v = py_markup(text);
    py_unref(text);
    return v;
}

static py_t *
power(int64_t exponent)
{
    AUTO(py) two = py_int(2);
    AUTO(py) e = py_int(exponent);
    return py_binary(PY_POW, two, e);
}

/* Names of the values in the context. */
typedef struct given {
    const char *name;
    py_t *v;
} given_t;

enum { GIVEN_MAX = 64 };

static size_t
fill_given(given_t *g)
{
    const given_t all[] = {
        { "words", repeated("some words ", LARGE) },
        { "word", repeated("x", LARGE) },
        { "lines", repeated("\n", LARGE) },
        { "wide", repeated("<&>'\"", LARGE) },
        { "accents", repeated("\xc3\x9f\xc5\x89", LARGE) },
        { "astral", repeated("\xf0\x9f\x98\x80", LARGE) },
        { "tabs", repeated("\t", LARGE / 4) },
        { "links", repeated("http://www.example.com/a?b=c&d ", LARGE) },
        { "json", repeated("[1,2,[],{}],", LARGE / 4) },
        { "yaml", repeated("- a\n", LARGE / 4) },
        { "xml", repeated("<a>", LARGE / 4) },
        { "commas", repeated("a,", LARGE / 4) },
        { "fields", repeated("{}", LARGE / 8) },
        { "widest", py_strz("{:>99999999}{:>99999999}") },
        { "precise", py_strz("%99999999s %.99999999f %.99999999d") },
        { "pattern", py_strz("(.?)(.?)(.?)(.?)(.?)(.?)(.?)(.?)(.?)") },
        { "times", py_strz("%c%999999999Y%c") },
        { "net", py_strz("10.0.0.0/8") },
        { "net6", py_strz("fe80::/10") },
        { "comma", py_strz(",") },
        { "nothing", py_strz("") },
        { "name", py_strz("a") },
        { "upper", py_strz("upper") },
        { "markup", as_markup(repeated("<b>&amp;</b> ", LARGE)) },
        { "raw", as_bytes(repeated("\x80\xff", LARGE)) },
        { "numbers", numbers(MANY) },
        { "tuple", as_tuple(numbers(MANY)) },
        { "texts", texts(MANY / 5) },
        { "same", same_texts(10000) },
        { "set", as_set(texts(MANY / 5)) },
        { "dict", names(MANY / 5) },
        { "pairs", pairs(MANY / 5) },
        { "dicts", dicts(MANY / 20) },
        { "doubling", doubling(40) },
        { "wholes", py_range(0, 1000000000, 1) },
        { "big", power(4000000) },
        { "million", py_int(1000000) },
        { "milliard", py_int(1000000000) },
        { "two", py_int(2) },
        { "minus", py_int(-1) },
        { "half", py_float(0.5) },
        { "none", py_ref(PY_None) },
        { "yes", py_ref(PY_True) },
    };
    for (size_t i = 0; i < NELEMS(all); i++)
        assert_non_null(all[i].v);
    memcpy(g, all, sizeof(all));
    return NELEMS(all);
}

/* ---- one template ---------------------------------------------------------------------------------------------- */

typedef struct trial {
    jinja_t *engine;
    py_t *context;
    given_t given[GIVEN_MAX];
    size_t n_given, done, bad;
    uint64_t chance;
} trial_t;

static void
try_source(trial_t *t, const char *source)
{
    const jinja_source_t src = { .text = source, .len = strlen(source) };
    jinja_error_t e = JINJA_ERROR_INIT;
    buf_auto_t out = BUF_INIT;
    AUTO(py) context = py_todict(t->context);
#if !SANITIZED
    int64_t before = taken.now;
    taken.peak = before;
#endif
    (void) jinja_render(t->engine, &src, context, NULL, &out, &e);
    t->done++;
#if !SANITIZED
    int64_t most = taken.peak - before;
    if (most > LIMIT + LIMIT / 10 + SLACK) {
        print_message("%s\n    takes %.1f MiB: %.60s\n", source, (double) most / (1 << 20),
                      e.message != NULL ? e.message : "no error");
        t->bad++;
    }
#endif
    jinja_error_free(&e);
}

static const char *
any_given(trial_t *t)
{
    t->chance = t->chance * UINT64_C(6364136223846793005) + 1442695040888963407;
    return t->given[(t->chance >> 33) % t->n_given].name;
}

/* A value is made, kept, printed; and read to its end when that is possible. */
static void
try_value(trial_t *t, const char *expression)
{
    AUTO_FREE char *source = xasprintf(
        "{%% set r = %s %%}{%% if r is iterable %%}{%% set q = r | list %%}{%% endif %%}{{ r }}", expression);
    try_source(t, source);
}

static int
setup(void **state)
{
    trial_t *t = xcalloc(1, sizeof(*t));
    jinja_options_t options;
    jinja_salt_options(&options, NULL, true);
    options.sandboxed = options.immutable = false;
    options.bytes = LIMIT;
    options.steps = STEPS;
    options.time_ms = TIME_MS;
    t->engine = jinja_new(&options, NULL);
    t->n_given = fill_given(t->given);
    t->chance = 1;
    t->context = py_dict();
    for (size_t i = 0; i < t->n_given; i++)
        py_dict_sets(t->context, t->given[i].name, t->given[i].v);
    *state = t;
    try_source(t, "{{ 1 }}");
    return 0;
}

static int
teardown(void **state)
{
    trial_t *t = *state;
    for (size_t i = 0; i < t->n_given; i++)
        py_unref(t->given[i].v);
    py_unref(t->context);
    jinja_destroy(&t->engine);
    free(t);
    return 0;
}

/* ---- all there is ---------------------------------------------------------------------------------------------- */

/* How often each is tried, with arguments by chance; TRIES=20 in the environment searches longer. */
static int
tries(int n)
{
    const char *more = getenv("TRIES");
    return more != NULL ? n * atoi(more) : n;
}

/* A call with as few arguments as it takes, as many, and between. */
static void
try_call(trial_t *t, const char *before, const char *name, int min, int max)
{
    buf_auto_t b = BUF_INIT;
    int n = min + (max > min ? (int) (t->done % (size_t) (max - min + 1)) : 0);
    buf_printf(&b, "%s%s(", before, name);
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i > 0 ? ", " : "", any_given(t));
    buf_puts(&b, ")");
    try_value(t, buf_str(&b));
}

static void
check(const trial_t *t)
{
    print_message("%zu templates\n", t->done);
    assert_true(t->done > 100);
    assert_int_equal(t->bad, 0);
}

/* They ask the network, or walk the disk. */
static bool
is_outward(const char *name)
{
    static const char *const outward[] = { "dns_check", "list_files" };
    for (size_t i = 0; i < NELEMS(outward); i++)
        if (strcmp(outward[i], name) == 0)
            return true;
    return false;
}

/* Each row of a table, with any value in front. */
static void
try_rows(trial_t *t, bool tests)
{
    const char *name;
    for (size_t i = 0; (name = (tests ? jtest_name : jfilter_name)(t->engine, i)) != NULL; i++) {
        const jfilter_t *f = (tests ? jtest_find : jfilter_find)(t->engine, name);
        int hidden = (f->flags & JF_CONTEXT) != 0 ? 2 : 1;
        int min = f->sig.min - hidden,
            max = f->sig.max - hidden + ((f->sig.flags & PY_SIG_STAR) != 0 ? 3 : 0);
        for (int n = tries(tests ? 4 : 12); n > 0 && !is_outward(name); n--) {
            AUTO_FREE char *before = xasprintf("%s %s ", any_given(t), tests ? "is" : "|");
            try_call(t, before, name, min > 0 ? min : 0, max > 0 ? max : 0);
        }
    }
    check(t);
}

static void
test_filters(void **state)
{
    try_rows(*state, false);
}

static void
test_tests(void **state)
{
    try_rows(*state, true);
}

static void
test_methods(void **state)
{
    trial_t *t = *state;
    for (size_t g = 0; g < t->n_given; g++) {
        const char *name;
        for (size_t i = 0; (name = py_method_name(t->given[g].v, i)) != NULL; i++) {
            const py_method_t *m = py_method_find(t->given[g].v, name, strlen(name));
            AUTO_FREE char *before = xasprintf("%s.", t->given[g].name);
            for (int n = tries(1); n > 0; n--)
                try_call(t, before, name, m->min, m->max + ((m->flags & PY_SIG_STAR) != 0 ? 2 : 0));
        }
    }
    check(t);
}

static void
test_functions(void **state)
{
    trial_t *t = *state;
    AUTO(py) globals = jinja_globals(t->engine);
    py_t *key, *value;
    for (size_t i = 0; py_dict_next(globals, &i, &key, &value);)
        for (int n = tries(20); n > 0; n--)
            try_call(t, "", py_cstr(key), 0, 4);
    check(t);
}

static void
test_operators(void **state)
{
    static const char *const operators[] = { "+",  "-",      "*",  "/",   "//", "%",   "**",
                                             "~",  "==",     "!=", "<",   "<=", ">",   ">=",
                                             "in", "not in", "or", "and", "-",  "+ -", "+ +" };
    trial_t *t = *state;
    for (size_t i = 0; i < NELEMS(operators); i++)
        for (int n = tries(40); n > 0; n--) {
            const char *left = any_given(t);
            AUTO_FREE char *e = xasprintf("%s %s %s", left, operators[i], any_given(t));
            try_value(t, e);
        }
    check(t);
}

/* What the language itself makes of values; %s is each of them. */
static void
test_statements(void **state)
{
    static const char *const sources[] = {
        "{{ %s[::-1] }}{{ %s[1:] }}",
        "{{ [%s, %s, %s] }}{{ {'a': %s} }}{{ (%s,) }}",
        "{%% for x in %s %%}{{ x }}{{ loop.index }}{%% endfor %%}",
        "{%% for x in %s recursive %%}{{ loop(x) }}{%% endfor %%}",
        "{%% for x in wholes %%}{{ %s }}{%% endfor %%}",
        "{%% set l = [] %%}{%% for x in wholes %%}{%% do l.append(%s) %%}{%% endfor %%}{{ l }}",
        "{%% set l = [] %%}{%% for x in wholes %%}{%% do l.append(%s ~ x) %%}{%% endfor %%}{{ l }}",
        "{%% set l = [] %%}{%% for x in wholes %%}{%% do l.append([%s]) %%}{%% endfor %%}{{ l }}",
        "{%% set l = [] %%}{%% for x in wholes %%}{%% do l.append({x: %s}) %%}{%% endfor %%}{{ l }}",
        "{%% set d = {} %%}{%% for x in wholes %%}{%% do d.update({x: %s}) %%}{%% endfor %%}{{ d }}",
        "{%% set n = namespace(v=%s) %%}{%% for x in wholes %%}{%% set n.v = n.v + n.v %%}{%% endfor %%}{{ "
        "n.v }}",
        "{%% set n = namespace(v=%s) %%}{%% for x in wholes %%}{%% set n.v = [n.v, n.v] %%}{%% endfor %%}{{ "
        "n.v }}",
        "{%% set n = namespace(v=%s) %%}{%% for x in wholes %%}{%% set n.v = n.v ~ n.v %%}{%% endfor %%}{{ "
        "n.v }}",
        "{%% macro m(x) %%}{{ x }}{{ x }}{%% endmacro %%}{{ m(m(m(m(m(m(%s)))))) }}",
        "{%% macro m() %%}{{ varargs }}{{ kwargs }}{%% endmacro %%}{{ m(*%s) }}",
        "{%% macro m() %%}{{ varargs }}{{ kwargs }}{%% endmacro %%}{{ m(**%s) }}",
        "{%% macro m() %%}{{ caller() }}{{ caller() }}{%% endmacro %%}{%% call m() %%}{{ %s }}{%% endcall "
        "%%}",
        "{%% macro m(x) %%}{{ m(x) }}{%% endmacro %%}{{ m(%s) }}",
        "{%% set b %%}{{ %s }}{{ %s }}{{ %s }}{%% endset %%}{{ b }}{{ b }}{{ b }}{{ b }}",
        "{%% filter upper %%}{{ %s }}{{ %s }}{%% endfilter %%}",
        "{%% filter replace('a', words) %%}{{ %s }}{%% endfilter %%}",
        "{%% autoescape true %%}{{ %s }}{{ %s ~ %s }}{%% endautoescape %%}",
        "{%% with a = %s ~ %s, b = %s %%}{{ a }}{{ b }}{%% endwith %%}",
        "{%% set a, b = %s %%}{{ a }}{{ b }}",
        "{{ dict(**%s) }}{{ [].append(*%s) }}",
        "{{ '%%s' * 3 %% (%s, %s, %s) }}",
        "{{ '{} {!r} {:>9}'.format(%s, %s, %s) }}{{ '{:{}}'.format(%s, million) }}",
        "{{ '%%s%%s%%s%%r' | format(%s, %s, %s, %s) }}",
        "{{ ('%%' ~ %s ~ 'd') %% 1 }}{{ ('{:' ~ %s ~ '}').format(1.5) }}",
        "{{ %s | map('list') | list | string }}{{ %s | map('string') | list | join }}",
        "{{ %s | map('tojson') | list }}{{ %s | tojson | tojson | tojson }}",
        "{{ %s | batch(million, %s) | list }}{{ %s | slice(million, %s) | list }}",
        "{%% load_yaml as x %%}{{ %s }}{%% endload %%}{{ x }}",
        "{%% load_json as x %%}{{ %s }}{%% endload %%}{{ x }}",
        "{{ undefined_name[%s] }}",
        "{{ %s.no_such_attribute }}{{ %s[%s] }}",
        "{{ raise(%s) }}",
        "{%% include %s %%}",
        "{%% import %s as x %%}",
        "{%% extends %s %%}",
    };
    trial_t *t = *state;
    for (size_t i = 0; i < NELEMS(sources); i++)
        for (int n = tries(10); n > 0; n--) {
            const char *v[] = { any_given(t), any_given(t), any_given(t), any_given(t) };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            AUTO_FREE char *source = xasprintf(sources[i], v[0], v[1], v[2], v[3]);
#pragma GCC diagnostic pop
            try_source(t, source);
        }
    check(t);
}

#define TRIAL(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
UNIT_MAIN(TRIAL(test_filters), TRIAL(test_tests), TRIAL(test_methods), TRIAL(test_functions),
          TRIAL(test_operators), TRIAL(test_statements))
