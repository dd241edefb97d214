/* test_jinja.c - the cache of templates, what outlives its render, and limits. What templates print:
 * tests/cases/jinja. */
#include <sys/resource.h>

#include "unit/unit.h"

#include "common/base/clock.h"
#include "common/jinja/jinja_salt.h"

/* ---- cache ------------------------------------------------------------------------------------ */

typedef struct disk {
    int64_t version;
    int reads;
    const char *text;
} disk_t;

static int
disk_load(void *cookie, const char *name, py_t *globals, jinja_known_fn *known, void *known_cookie,
          jinja_file_t *ret, fail_t *err)
{
    disk_t *d = cookie;
    if (strcmp(name, "lib") != 0)
        return -ENOENT;
    ret->path = xstrdup("/disk/lib");
    ret->version = d->version;
    if (known(known_cookie, ret->path) == d->version)
        return 0;
    d->reads++;
    ret->text = xstrdup(d->text);
    ret->len = strlen(d->text);
    return 0;
}

static char *
rendered(jinja_t *engine, const char *source, const char *key)
{
    const jinja_source_t src = { .text = source, .len = strlen(source), .cache_key = key, .version = 1 };
    jinja_error_t e = JINJA_ERROR_INIT;
    buf_t out = BUF_INIT;
    if (jinja_render(engine, &src, NULL, NULL, &out, &e) < 0)
        buf_printf(&out, "%s: %s", e.cls, e.message);
    jinja_error_free(&e);
    buf_putc(&out, '\0');
    return buf_steal(&out);
}

static void
check_render(jinja_t *engine, const char *source, const char *key, const char *expected)
{
    char *text = rendered(engine, source, key);
    assert_string_equal(text, expected);
    free(text);
}

static void
test_cache(void **state)
{
    disk_t disk = { 1, 0, "{% macro m(x) %}<{{ x }}>{% endmacro %}" };
    const jinja_loader_t loader = { disk_load, &disk };
    jinja_options_t options;
    jinja_salt_options(&options, NULL, false);
    jinja_t *engine = jinja_new(&options, &loader);
    const char *main_text = "{% from 'lib' import m %}{{ m(1) }}";
    check_render(engine, main_text, "main", "<1>");
    check_render(engine, main_text, "main", "<1>");
    assert_int_equal(disk.reads, 1);
    disk.version = 2;
    disk.text = "{% macro m(x) %}[{{ x }}]{% endmacro %}";
    check_render(engine, main_text, "main", "[1]");
    assert_int_equal(disk.reads, 2);
    /* What is cached under a key is what runs, whatever the text. */
    check_render(engine, "other", "main", "[1]");
    check_render(engine, "{% include 'none' %}", NULL, "TemplateNotFound: none");
    jinja_destroy(&engine);
}

/* ---- what outlives its render ------------------------------------------------------------------ */

/* What a render with `kept` in its context prints, or its error. */
static void
check_kept(jinja_t *engine, py_t *context, const char *source, const char *expected)
{
    const jinja_source_t src = { .text = source, .len = strlen(source) };
    jinja_error_t e = JINJA_ERROR_INIT;
    buf_auto_t out = BUF_INIT;
    if (jinja_render(engine, &src, context, NULL, &out, &e) < 0)
        buf_printf(&out, "%s: %s", e.cls, e.message);
    jinja_error_free(&e);
    assert_string_equal(buf_str(&out), expected);
}

static void
test_ended_templates(void **state)
{
    jinja_options_t options;
    jinja_salt_options(&options, NULL, false);
    jinja_t *engine = jinja_new(&options, NULL);
    AUTO(py) context = py_dict();
    py_dict_sets_new(context, "kept", py_dict());
    check_kept(engine, context,
               "{% for i in [1] %}{% do kept.update({'loop': loop}) %}{% endfor %}"
               "{% for i in [1] recursive %}{% do kept.update({'again': loop}) %}{% endfor %}"
               "{% macro hello(x) %}{{ x }}{% endmacro %}{% do kept.update({'macro': hello}) %}"
               "{% block body %}b{% endblock %}{% do kept.update({'self': self, 'block': self.body}) %}",
               "b");
    check_kept(engine, context, "{{ kept.loop.previtem }}", "RuntimeError: the loop's template has ended");
    check_kept(engine, context, "{{ kept.loop.nextitem }}", "RuntimeError: the loop's template has ended");
    check_kept(engine, context, "{{ kept.loop.index }} {{ kept.loop.length }}", "1 1");
    check_kept(engine, context, "{{ kept.again([2]) }}", "RuntimeError: the loop's template has ended");
    check_kept(engine, context, "{{ kept.block() }}", "RuntimeError: the block's template has ended");
    check_kept(engine, context, "{{ kept.macro(1) }}", "RuntimeError: the macro's template has ended");
    check_kept(engine, context, "{{ kept.macro }} {{ kept.macro.name }} {{ kept.macro.arguments }}",
               "<Macro 'hello'> hello ('x',)");
    check_kept(engine, context, "{{ kept.self }}", "<TemplateReference None>");
    check_kept(engine, context, "{{ kept.self.body is defined }}", "False");
    jinja_destroy(&engine);
}

/* ---- limits ----------------------------------------------------------------------------------- */

static void
check_limit(jinja_t *engine, const char *source, const char *cls)
{
    char *text = rendered(engine, source, NULL);
    if (strstr(text, cls) == NULL)
        fail_msg("%s gives %.200s instead of %s", source, text, cls);
    free(text);
}

static void
test_limits(void **state)
{
    jinja_options_t options;
    jinja_salt_options(&options, NULL, false);
    options.output = 100000;
    options.steps = 2000000;
    jinja_t *engine = jinja_new(&options, NULL);
    check_limit(engine, "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
                "LimitError");
    check_limit(engine, "{% for a in range(9999) %}{{ 'x' * 1000 }}{% endfor %}", "LimitError");
    check_limit(engine, "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "RecursionError");
    check_limit(engine, "{{ range(1000000) }}", "OverflowError");
    check_limit(engine, "{{ 'x' * 9999999999999 }}", "Error");
    check_limit(engine, "{% set l = [] %}{% do l.append(l) %}{{ l }}", "RecursionError");
    check_limit(engine, "{% set l = [] %}{% do l.append(l) %}{{ {'a': l} | xml }}", "RecursionError");
    jinja_destroy(&engine);
    options.time_ms = 100;
    engine = jinja_new(&options, NULL);
    check_limit(engine, "{{ ('a' * 60000) | regex_replace('a(?:a*b)?', 'c') }}", "LimitError");
    jinja_destroy(&engine);
}

/* A folder is not empty because no file can be opened. */
static void
test_no_descriptors(void **state)
{
    jinja_options_t options;
    struct rlimit was;
    jinja_salt_options(&options, NULL, false);
    jinja_t *engine = jinja_new(&options, NULL);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    struct rlimit none = { 0, was.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    char *text = rendered(engine, "{{ '/proc/self/fd' | list_files }}", NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    assert_int_equal(
        strncmp(text, "RuntimeError: cannot read the folder /proc/self/fd: Too many open files", 71), 0);
    free(text);
    jinja_destroy(&engine);
}

/* Slots are numbered in 16 bits: a function with as many names is refused, not numbered from 0 again. */
static void
test_many_names(void **state)
{
    enum { MANY = 66000 };
    jinja_options_t options;
    jinja_salt_options(&options, NULL, false);
    jinja_t *engine = jinja_new(&options, NULL);
    buf_auto_t source = BUF_INIT;
    buf_puts(&source, "{% macro m() %}{% set v0");
    for (int i = 1; i < MANY; i++)
        buf_printf(&source, ",v%d", i);
    buf_printf(&source, " = range(%d)|list %%}{%% endmacro %%}{{ m() }}", MANY);
    check_limit(engine, buf_str(&source), "TemplateSyntaxError");
    jinja_destroy(&engine);
}

/* ---- what a scope's budget stops before the process has no memory ------------------------------ */

enum { SCOPE_BYTES = 64 << 20, SCOPE_MS = 1000, PROCESS_BYTES = 1000 << 20 };

/* Renders `source` within a small scope; the process may not become large meanwhile. */
static void
check_budget(const char *source, const char *expected)
{
    jinja_options_t options;
    jinja_salt_options(&options, NULL, false);
    jinja_t *engine = jinja_new(&options, NULL);
    py_scope_t scope;
    const py_limits_t limits = { .bytes = SCOPE_BYTES, .deadline_ms = clock_mono_ms() + SCOPE_MS };
    py_scope_enter(&scope, &limits);
    check_limit(engine, source, expected);
    py_scope_leave(&scope);
    jinja_destroy(&engine);
}

/* A value `v` that a few containers make large: each of them twice in the one around it. */
#define SHARED(container)                                                                                    \
    "{% set ns = namespace(v=[1]) %}{% for i in range(40) %}{% set ns.v = " container " %}{% endfor %}"
#define SHARED_LIST  SHARED("[ns.v, ns.v]")
#define SHARED_TUPLE SHARED("(ns.v, ns.v)")
#define SHARED_DICT  SHARED("{'a': ns.v, 'b': ns.v}")
/* Many times a text of a megabyte. */
#define LARGE        "{% set s = 'x' * 1000000 %}"

static void
test_memory_budget(void **state)
{
    static const char *const sources[] = {
        "{{ [1, 2, 3] | tojson(indent=2000000000) }}",
        "{{ [1] | batch(10000000000, 0) | list }}",
        SHARED_LIST "{{ ns.v }}",
        SHARED_LIST "{{ ns.v | string }}",
        SHARED_LIST "{{ ns.v | tojson }}",
        SHARED_LIST "{{ ns.v | pprint }}",
        SHARED_TUPLE "{{ {'a': ns.v} }}",
        SHARED_DICT "{{ ns.v }}",
        SHARED_DICT "{{ ns.v | string }}",
        SHARED_DICT "{{ ns.v | tojson }}",
        SHARED_DICT "{{ ns.v | pprint }}",
        SHARED_DICT "{{ {'a': ns.v} | xml }}",
        LARGE "{{ [s] * 10000 }}",
        LARGE "{{ ([s] * 10000) | string }}",
        LARGE "{{ ([s] * 10000) | tojson }}",
        LARGE "{{ ([s] * 10000) | yaml }}",
        LARGE "{{ {}.fromkeys(range(10000), s) | string }}",
        LARGE "{{ {}.fromkeys(range(10000), s) | tojson }}",
        LARGE "{{ {}.fromkeys(range(10000), s) | yaml }}",
        LARGE "{{ ([s] * 10000) | json_encode_list | length }}",
        LARGE "{{ {'a': {}.fromkeys(range(10000), s)} | xml }}",
        LARGE "{{ {}.fromkeys(range(10000) | map('string'), s) | xmlattr }}",
        LARGE "{{ {}.fromkeys(range(10000), s) | urlencode }}",
        SHARED_LIST "{{ ns.v | json_encode_list | length }}",
        SHARED_DICT "{{ ns.v | json_encode_dict | length }}",
        "{{ ('a ' * 100000) | wordwrap(1, wrapstring='b' * 100000) }}",
        "{{ ('a\n' * 100000) | wordwrap(1, wrapstring='b' * 100000) }}",
        "{{ ('\\n' * 100000) | wordwrap(1, wrapstring='b' * 100000) }}",
        "{{ ('a' * 30000000) | wordwrap | length }}",
        "{{ ('a' * 50000) | regex_replace('', 'b' * 10000) }}",
        "{{ ('a' * 5000000) | regex_replace('.+', '\\\\g<0>' * 1000) }}",
    };

    SKIP_CHECKED();
    struct rlimit before, low;
    getrlimit(RLIMIT_AS, &before);
    low = (struct rlimit){ PROCESS_BYTES, before.rlim_max };
    setrlimit(RLIMIT_AS, &low);
    for (size_t i = 0; i < NELEMS(sources); i++)
        check_budget(sources[i], "LimitError");
    buf_auto_t many = BUF_INIT;
    buf_puts(&many, "{% set s = 'x' * 30000000 %}{{ s");
    for (size_t i = 0; i < 50; i++)
        buf_puts(&many, " ~ s");
    buf_puts(&many, " }}");
    check_budget(buf_str(&many), "LimitError");
    buf_clear(&many);
    buf_puts(&many, "{% set s = 'x' * 30000000 %}");
    for (size_t i = 0; i < 50; i++)
        buf_puts(&many, "{{ s }}");
    check_budget(buf_str(&many), "LimitError");
    setrlimit(RLIMIT_AS, &before);
}

/* Whatever the limit is, a template gives its whole text or LimitError. */
static void
check_whole(jinja_t *engine, const char *source)
{
    AUTO_FREE char *whole = rendered(engine, source, NULL);
    bool refused = true;

    for (size_t bytes = 4 << 10; refused; bytes += bytes / 16) {
        py_scope_t scope;
        const py_limits_t limits = { .bytes = bytes };
        py_scope_enter(&scope, &limits);
        AUTO_FREE char *text = rendered(engine, source, NULL);
        py_scope_leave(&scope);
        refused = strstr(text, "LimitError") != NULL;
        if (!refused && strcmp(text, whole) != 0)
            fail_msg("%s gives %.200s below %zu bytes", source, text, bytes);
    }
}

static void
test_whole_or_refused(void **state)
{
    static const char *const filters[] = { "pprint", "python",           "tojson",   "json",    "yaml",
                                           "string", "json_decode_dict", "dictsort", "xmlattr", "urlencode" };

    SKIP_CHECKED();
    jinja_options_t options;
    jinja_salt_options(&options, NULL, false);
    jinja_t *engine = jinja_new(&options, NULL);
    for (size_t i = 0; i < NELEMS(filters); i++) {
        buf_auto_t source = BUF_INIT;
        buf_printf(&source,
                   "{%% set ns = namespace(v={'z': 1}) %%}{%% for i in range(9) %%}"
                   "{%% set ns.v = {'b': ns.v, 'a': ns.v} %%}{%% endfor %%}{{ ns.v | %s }}",
                   filters[i]);
        check_whole(engine, buf_str(&source));
    }
    jinja_destroy(&engine);
}

/* Two values `ns.a` and `ns.b` that are equal, and take long to compare. */
#define ALIKE(container_a, container_b)                                                                      \
    "{% set ns = namespace(a=(1,), b=(1,)) %}{% for i in range(60) %}{% set ns.a = " container_a             \
    " %}{% set ns.b = " container_b " %}{% endfor %}"
#define ALIKE_LISTS  ALIKE("[ns.a, ns.a]", "[ns.b, ns.b]")
#define ALIKE_TUPLES ALIKE("(ns.a, ns.a)", "(ns.b, ns.b)")
#define ALIKE_DICTS  ALIKE("{'a': ns.a, 'b': ns.a}", "{'a': ns.b, 'b': ns.b}")
#define MANY         "{% set l = range(100000) | map('string') | list %}"

static void
test_time_budget(void **state)
{
    static const char *const slow[] = {
        ALIKE_LISTS "{{ ns.a == ns.b }}",        ALIKE_LISTS "{{ ns.a < ns.b }}",
        ALIKE_LISTS "{{ ns.a in [ns.b] }}",      ALIKE_LISTS "{{ [ns.b].index(ns.a) }}",
        ALIKE_TUPLES "{{ {ns.a: 1} }}",          ALIKE_DICTS "{{ ns.a == ns.b }}",
        MANY "{{ l | union(l) | length }}",      MANY "{{ l | unique | length }}",
        MANY "{{ l | difference(l) | length }}",
    };

    SKIP_CHECKED();
    for (size_t i = 0; i < NELEMS(slow); i++)
        check_budget(slow[i], "LimitError");
}

/* Texts that are walked once, where a walk for each character would take minutes; and numbers without a text. */
static void
test_long_texts(void **state)
{
    SKIP_CHECKED();
    jinja_options_t options;
    jinja_salt_options(&options, NULL, false);
    jinja_t *engine = jinja_new(&options, NULL);
    check_limit(engine, "{{ ('\xc3\xa9' * 2000000) | reverse | length }}", "2000000");
    check_limit(engine, "{{ ('a\xc3\xa9' * 2000000)[1::2] | length }}", "2000000");
    check_limit(engine, "{{ ('\xc3\xa9 ' * 500000) | title | length }}", "1000000");
    check_limit(engine, "{{ ('\xc3\xa9 ' * 500000) | pprint | length }}", "1");
    check_limit(engine, "{{ (10 ** 4299) | string | length }}", "4300");
    check_limit(engine, "{{ 10 ** 4300 }}", "ValueError: Exceeds the limit (4300 digits)");
    check_limit(engine, "{{ ('f' * 4000000) | int(0, 16) }}", "ValueError: Exceeds the limit (4300 digits)");
    check_limit(engine, "{{ ('a.' ~ '-' * 500000) | wordwrap(500010) | length }}", "500002");
    jinja_destroy(&engine);
}

static void
test_sort_changes(void **state)
{
    check_budget("{% set l = [1] %}{% do l.sort(key=l.append) %}", "ValueError: list modified during sort");
    check_budget("{% set l = [3, 1, 2] %}{% do l.sort(key=l.pop) %}", "IndexError: pop from empty list");
    check_budget("{% set l = [3, 1, 2] %}{% do l.sort(key=l.count) %}{{ l }}", "[3, 1, 2]");
    check_budget("{% set l = ['b', 'A'] %}{% do l.sort(key='{}'.format, reverse=true) %}{{ l }}",
                 "['b', 'A']");
}

UNIT_MAIN(cmocka_unit_test(test_cache), cmocka_unit_test(test_ended_templates), cmocka_unit_test(test_limits),
          cmocka_unit_test(test_no_descriptors), cmocka_unit_test(test_many_names),
          cmocka_unit_test(test_memory_budget), cmocka_unit_test(test_sort_changes),
          cmocka_unit_test(test_whole_or_refused), cmocka_unit_test(test_time_budget),
          cmocka_unit_test(test_long_texts))
