/* test_jinja.c - the cache of templates, what outlives its render, and limits. What templates print:
 * tests/cases/jinja. */
#include "unit/unit.h"

#include "common/jinja/jinja_salt.h"

/* ---- cache ------------------------------------------------------------------------------------ */

typedef struct disk {
    int64_t version;
    int reads;
    const char *text;
} disk_t;

static int
disk_load(void *cookie, const char *name, UNUSED py_t *globals, jinja_known_fn *known, void *known_cookie,
          jinja_file_t *ret, UNUSED fail_t *err)
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
    (void) state;
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
    (void) state;
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
    (void) state;
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

UNIT_MAIN(cmocka_unit_test(test_cache), cmocka_unit_test(test_ended_templates), cmocka_unit_test(test_limits))
