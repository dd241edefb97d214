/* test_state_compile.c - top files, SLS trees and requisites against what Salt 3006 made of the same
 * (tests/cases/state-compile); and what Salt does not say: places, suggestions, limits, time. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "common/py/py_json.h"
#include "common/state/compile.h"
#include "unit/unit.h"

typedef struct fixture {
    char dir[64];
    json_t *opts, *pillar;
    registry_t *registry;
    call_ctx_t *ctx;
    fileclient_t *files;
    render_t *render;
    highstate_t *high;
} fixture_t;

static json_t *
fixture_grains(void *cookie)
{
    static json_t *grains;

    if (grains == NULL)
        grains = json_pack("{s:s, s:s, s:s}", "os", "Debian", "role", "web", "id", "m1.example.com");
    return grains;
}

static py_t *
fixture_pillar(void *cookie, json_t *ask, fail_t *err)
{
    fixture_t *f = cookie;
    return f->pillar != NULL ? py_from_json(f->pillar) : py_dict();
}

/* ---- a file server with trouble ---------------------------------------------------------------- */

/* The files are there, but not what `fails` names: "list" or "envs". */
typedef struct troubled {
    fileclient_t *files;
    const char *fails;
} troubled_t;

static int
troubled_cache(void *cookie, const char *path, const char *saltenv, char **ret_local, fail_t *err)
{
    return fileclient_cache(((troubled_t *) cookie)->files, path, saltenv, ret_local, err);
}

static json_t *
troubled_list(void *cookie, files_kind_t kind, const char *saltenv, const char *prefix, fail_t *err)
{
    troubled_t *self = cookie;

    if (strcmp(self->fails, "list") != 0)
        return fileclient_list(self->files, kind, saltenv, prefix, err);
    (void) fail_set(err, -EIO, "the disk is gone");
    return NULL;
}

static json_t *
troubled_envs(void *cookie, fail_t *err)
{
    troubled_t *self = cookie;

    if (strcmp(self->fails, "envs") != 0)
        return fileclient_envs(self->files, err);
    (void) fail_set(err, -EIO, "the disk is gone");
    return NULL;
}

static void
troubled_free(void *cookie)
{
    troubled_t *self = cookie;

    fileclient_destroy(&self->files);
    free(self);
}

static fileclient_t *
fixture_files(json_t *opts, const char *fails)
{
    static const fileclient_class_t cls = {
        .cache = troubled_cache, .list = troubled_list, .envs = troubled_envs, .free = troubled_free
    };
    troubled_t *self;

    if (*fails == '\0')
        return fileclient_local(opts, NULL);
    self = xcalloc(1, sizeof(*self));
    *self = (troubled_t){ fileclient_local(opts, NULL), fails };
    return fileclient_new(&cls, self);
}

/* ---- a compilation ----------------------------------------------------------------------------- */

/* "dev/web/init.sls": the first folder is the environment. */
static void
write_files(fixture_t *f, json_t *files)
{
    json_t *roots = json_object_get(f->opts, "file_roots");
    const char *path;
    json_t *text;

    json_object_foreach (files, path, text) {
        AUTO_FREE char *full = fs_join(f->dir, path);
        AUTO_FREE char *folder = xstrndup(full, (size_t) (strrchr(full, '/') - full));
        AUTO_FREE char *saltenv = xstrndup(path, strcspn(path, "/"));
        assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
        assert_int_equal(fs_write_quick(full, json_string_value(text), json_string_length(text), 0644, NULL),
                         0);
        if (json_object_get(roots, saltenv) == NULL) {
            AUTO_FREE char *root = fs_join(f->dir, saltenv);
            json_object_set_new(roots, saltenv, json_pack("[s]", root));
        }
    }
}

static void
fixture_init(fixture_t *f, json_t *test)
{
    static const plugin_t *const none[] = { NULL };

    *f = (fixture_t){ .pillar = json_object_get(test, "pillar") };
    str_copy(f->dir, sizeof(f->dir), "/tmp/test-state-compile-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    AUTO_FREE char *base = fs_join(f->dir, "base");
    assert_int_equal(fs_mkdirs(base, 0755, NULL), 0);
    f->opts = json_pack("{s:s, s:{s:[s]}}", "renderer", "jinja|yaml", "file_roots", "base", base);
    json_object_update(f->opts, json_object_get(test, "opts"));
    write_files(f, json_object_get(test, "files"));
    f->registry = registry_new(PLUGIN_EXEC, none, 0);
    f->files = fixture_files(f->opts, value_str(test, "fails", ""));
    f->ctx = call_ctx_new(&(call_env_t){ .registry = f->registry,
                                         .opts = f->opts,
                                         .id = "m1.example.com",
                                         .grains = fixture_grains,
                                         .pillar = fixture_pillar,
                                         .cookie = f });
    f->render = render_new(f->ctx, f->files);
    f->high = highstate_new(&(state_env_t){
        .ctx = f->ctx, .files = f->files, .render = f->render, .saltenv = value_str(test, "saltenv", NULL) });
}

static void
fixture_free(fixture_t *f)
{
    highstate_destroy(&f->high);
    render_destroy(&f->render);
    call_ctx_destroy(&f->ctx);
    fileclient_destroy(&f->files);
    registry_destroy(&f->registry);
    json_decref(f->opts);
    assert_int_equal(fs_remove_tree(f->dir, NULL), 0);
}

/* ---- case files ------------------------------------------------------------------------------- */

static json_t *
named_matches(const json_t *test)
{
    json_t *matches = json_object(), *list = json_array();
    char **names = str_split(value_str(test, "arg", ""), ",", true);

    for (char **name = names; *name != NULL; name++)
        json_array_append_new(list, json_string(*name));
    strv_free(names);
    json_object_set_new(matches, value_str(test, "saltenv", "base"), list);
    return matches;
}

static json_t *
compile_all(fixture_t *f, py_t *high, json_t *errors)
{
    high_env_t env = { .opts = f->opts, .from = f->high };

    high_reconcile_extend(high, false, &env, errors);
    high_verify(high, &env, errors);
    high_requisite_in(high, &env, errors);
    high_apply_exclude(high);
    return json_array_size(errors) > 0 ? NULL : high_compile(high, &env, errors);
}

/* What Salt's function of that name returns; NULL when there are errors. */
static json_t *
run_case(fixture_t *f, json_t *test, json_t *errors)
{
    const char *fun = value_str(test, "fun", "");
    high_env_t env = { .opts = f->opts, .from = f->high };
    bool topped = json_is_null(json_object_get(test, "arg"));
    json_auto_t *ignored = json_array();
    json_auto_t *matches = topped ? highstate_top(f->high, strcmp(fun, "top") == 0 ? errors : ignored)
                                  : named_matches(test);

    if (strcmp(fun, "top") == 0)
        return json_array_size(errors) > 0 ? NULL : json_incref(matches);
    AUTO(py) high = highstate_render(f->high, matches, errors);
    if (strcmp(fun, "lowstate") == 0)
        return compile_all(f, high, errors);
    if (strcmp(fun, "run") == 0) {
        if (json_array_size(errors) > 0)
            return NULL;
        if (json_object_get(test, "exclude") != NULL)
            high_exclude(high, json_object_get(test, "exclude"));
        json_t *chunks = high_to_low(high, &env, errors);
        if (json_array_size(errors) == 0)
            return chunks;
        json_decref(chunks);
        return NULL;
    }
    if (strcmp(fun, "highstate") != 0)
        high_verify(high, &env, errors);
    if (json_array_size(errors) > 0)
        return NULL;
    return strcmp(fun, "low_sls") == 0 ? high_compile(high, &env, errors) : py_to_json(high);
}

static bool
starts_with(const json_t *text, const json_t *start)
{
    return str_starts(json_string_value(text), json_string_value(start));
}

/* Our errors are Salt's with places and suggestions behind; a null for them means only that there are some.
 */
static bool
same_errors(const json_t *wanted, const json_t *errors)
{
    if (json_is_null(wanted))
        return json_array_size(errors) > 0;
    if (json_array_size(wanted) != json_array_size(errors))
        return false;
    for (size_t i = 0; i < json_array_size(wanted); i++)
        if (!starts_with(json_array_get(errors, i), json_array_get(wanted, i)))
            return false;
    return true;
}

static bool
check_case(json_t *test)
{
    fixture_t f;
    json_auto_t *errors = json_array();
    json_t *wanted = json_object_get(test, "errors");

    fixture_init(&f, test);
    json_auto_t *result = run_case(&f, test, errors);
    bool same = wanted != NULL ? same_errors(wanted, errors)
                               : result != NULL && value_equal(result, json_object_get(test, "expect"));
    if (!same) {
        AUTO_FREE char *got = value_dump(json_array_size(errors) > 0 ? errors : result);
        AUTO_FREE char *want = value_dump(wanted != NULL ? wanted : json_object_get(test, "expect"));
        print_message("# %s:\n#   wanted %s\n#   got    %s\n", value_str(test, "name", "?"), want, got);
    }
    fixture_free(&f);
    return same;
}

static int
check_file(const char *path)
{
    json_error_t error;
    json_auto_t *cases = json_load_file(path, 0, &error);
    int failed = 0;
    json_t *test;
    size_t i;

    assert_true(json_is_array(cases));
    json_array_foreach (cases, i, test)
        failed += !check_case(test);
    return failed;
}

static void
test_case_files(void **state)
{
    static const char folder[] = TEST_SOURCE_DIR "/tests/cases/state-compile";
    struct dirent **names;
    int n = scandir(folder, &names, NULL, alphasort), failed = 0, files = 0;

    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        AUTO_FREE char *path = fs_join(folder, names[i]->d_name);
        if (str_ends(path, ".json")) {
            failed += check_file(path);
            files++;
        }
        free(names[i]);
    }
    free(names);
    assert_true(files > 0);
    assert_int_equal(failed, 0);
}

/* ---- what Salt does not say ---------------------------------------------------------------------------- */

/* NEW array of the errors of running "a" with these files. */
static json_t *
errors_of(json_t *files)
{
    json_auto_t *test = json_pack("{s:O, s:s, s:s}", "files", files, "arg", "a", "fun", "run");
    json_t *errors = json_array();
    fixture_t f;

    fixture_init(&f, test);
    json_decref(run_case(&f, test, errors));
    fixture_free(&f);
    return errors;
}

static void
assert_error(json_t *files, const char *end)
{
    json_auto_t *held = files;
    json_auto_t *errors = errors_of(held);
    const char *text = json_string_value(json_array_get(errors, 0));

    assert_non_null(text);
    if (!str_ends(text, end))
        fail_msg("'%s' does not end with '%s'", text, end);
}

static void
test_places(void **state)
{
    assert_error(json_pack("{s:s, s:s}", "base/a.sls", "include: [d.b]\n\nx:\n  test.nop: []\n",
                           "base/d/b.sls", "# x:\n\n\"x\":\n  test.nop: []\n"),
                 "\n    at salt://a.sls, line 3\n    at salt://d/b.sls, line 3");
    /* the line that makes the ID, by its text around the expressions */
    assert_error(
        json_pack(
            "{s:s}", "base/a.sls",
            "{% for n in [1, 2] %}\nother-{{ n }}: test.nop\nweb-{{ n }}-x:\n  test: []\n{% endfor %}\n"),
        "\n    at salt://a.sls, line 3");
    assert_error(json_pack("{s:s}", "base/a.sls", "{% set n = 'x' %}\n{{ n }}:\n  test: []\n"),
                 "\n    at salt://a.sls, line 2");
    /* two lines that may have made it */
    assert_error(json_pack("{s:s}", "base/a.sls",
                           "{% set n, m = 'x', 'y' %}\n{{ m }}: test.nop\n{{ n }}:\n  test: []\n"),
                 "\n    at salt://a.sls");
    assert_error(
        json_pack("{s:s, s:s}", "base/a.sls", "include: [{dev: b}]\n", "dev/b.sls", "x:\n  test: []\n"),
        "\n    at salt://b.sls?saltenv=dev, line 1");
}

/* Common mistakes get a line about what to do. */
static void
test_advice(void **state)
{
    assert_error(
        json_pack("{s:s}", "base/a.sls", "include:\n  - nginx.sls\n"),
        "fileserver\n    The name of an SLS is written without \".sls\".\n    at salt://a.sls, line 1");
    assert_error(
        json_pack("{s:s}", "base/a.sls", "x:\n  cmd.run: ls\n"),
        "is not formed as a list\n    at salt://a.sls, line 1\n    Each argument is an item of its own: "
        "\"- name: value\".");
    assert_error(json_pack("{s:s}", "base/a.sls", "- x\n"), "dictionary\n    at salt://a.sls");
    assert_error(json_pack("{s:s}", "base/a.sls", "y: test.nop\nx:\n  test.nop: []\n  test.fail: []\n"),
                 "of the same type\n    at salt://a.sls, line 2");
}

static void
test_suggestions(void **state)
{
    assert_error(json_pack("{s:s, s:s}", "base/a.sls", "include: [nginx.confg]\n", "base/nginx/config.sls",
                           "x: test.nop\n"),
                 "fileserver\n    Did you mean 'nginx.config'?\n    at salt://a.sls, line 1");
    assert_error(
        json_pack("{s:s}", "base/a.sls",
                  "nginx_service: test.nop\ny:\n  test.nop:\n    - watch_in: [{test: ngnix_service}]\n"),
        "\n    Did you mean 'nginx_service'?\n    at salt://a.sls");
    /* A declaration is no ID; a state's argument has a space behind its colon. */
    assert_error(json_pack("{s:s}", "base/a.sls", "inculde: [b]\n"),
                 "ID inculde in SLS a is not a dictionary\n    Did you mean 'include'?");
    assert_error(
        json_pack("{s:s}", "base/a.sls", "exted:\n  x:\n    test: [{name: y}]\n"),
        "is not formed as a list\n    at salt://a.sls, line 1\n    Each argument is an item of its own: "
        "\"- name: value\".\n    Did you mean 'extend'?");
    assert_error(
        json_pack("{s:s}", "base/a.sls", "x:\n  test.nop:\n    - name:y\n"),
        "Too many functions declared in state 'test' in SLS 'a'\n    at salt://a.sls, line 1\n    'name:y' is "
        "no argument: YAML wants a space behind the colon.");
}

static void
test_top_problem(void **state)
{
    json_auto_t *test = json_pack("{s:{s:s}}", "files", "base/top.sls", "base:\n  '*': [\n");
    json_auto_t *errors = json_array();
    fixture_t f;

    fixture_init(&f, test);
    json_auto_t *matches = highstate_top(f.high, errors);
    assert_int_equal(json_object_size(matches), 0);
    assert_true(str_ends(highstate_top_problem(f.high), "\nin salt://top.sls, line 3"));
    fixture_free(&f);
}

/* What a highstate of these files ends with while something of the file server fails: its one error, or
 * the number of its chunks. */
static void
assert_troubled(const char *fails, json_t *files, const char *error, size_t n_chunks)
{
    json_auto_t *test = json_pack("{s:o, s:s, s:s, s:n}", "files", files, "fails", fails, "fun", "run",
                                  "arg");
    json_auto_t *errors = json_array();
    fixture_t f;

    fixture_init(&f, test);
    json_auto_t *chunks = run_case(&f, test, errors);
    AUTO_FREE char *text = value_dump(errors);
    if (error != NULL) {
        assert_null(chunks);
        assert_string_equal(text, error);
    } else {
        assert_string_equal(text, "[]");
        assert_int_equal(json_array_size(chunks), n_chunks);
    }
    fixture_free(&f);
}

/* A list that can't be had is none that is empty: what a name alone finds is there, for the rest there are
 * errors. */
static void
test_failing_lists(void **state)
{
    static const char one[] = "one: test.nop\n", two[] = "two: test.nop\n", more[] = "base: {'m*': [two]}\n",
                      why[] = "[\"The SLS files of environment base can't be listed: the disk is gone\"]";
    const char *const names[] = { "base/one.sls", "base/two.sls", "base/more.sls", "base/top.sls" };

    assert_troubled("list",
                    json_pack("{s:s, s:s, s:s, s:s}", names[0], one, names[1], two, names[2], more, names[3],
                              "include: [more, more]\nbase: {'*': [one]}\n"),
                    NULL, 2);
    assert_troubled("list",
                    json_pack("{s:s, s:s, s:s, s:s}", names[0], one, names[1], two, names[2], more, names[3],
                              "include: ['mo*']\nbase: {'*': [one]}\n"),
                    why, 0);
    /* Salt ignores an include of nothing; here nobody knows whether it is one. */
    assert_troubled("list",
                    json_pack("{s:s, s:s}", names[0], one, names[3], "include: [more]\nbase: {'*': [one]}\n"),
                    why, 0);
    assert_troubled("",
                    json_pack("{s:s, s:s}", names[0], one, names[3], "include: [more]\nbase: {'*': [one]}\n"),
                    NULL, 1);
    assert_troubled("list", json_pack("{s:s, s:s}", names[0], one, names[3], "base: {'*': [one, 'o*']}\n"),
                    why, 0);
    assert_troubled("list",
                    json_pack("{s:s, s:s, s:s}", names[0], "include: ['tw*']\n", names[1], two, names[3],
                              "base: {'*': [one]}\n"),
                    why, 0);
    assert_troubled("list",
                    json_pack("{s:s, s:s, s:s}", names[0], "include: [{dev: two}]\n", "dev/two.sls", two,
                              names[3], "base: {'*': [one]}\n"),
                    NULL, 1);
}

static void
test_failing_envs(void **state)
{
    assert_troubled("envs",
                    json_pack("{s:s, s:s, s:s, s:s}", "base/one.sls", "one: test.nop\n", "base/top.sls",
                              "base: {'*': [one]}\n", "dev/two.sls", "two: test.nop\n", "dev/top.sls",
                              "dev: {'*': [two]}\n"),
                    "[\"The environments of the file server can't be listed: the disk is gone\"]", 0);
}

/* state.show_state_usage says nothing of what it can't list. */
static void
test_avail_of_failing(void **state)
{
    static const char *const parts[] = { "list", "envs" };

    for (size_t i = 0; i < NELEMS(parts); i++) {
        json_auto_t *test = json_pack("{s:{s:s}, s:s}", "files", "base/one.sls", "one: test.nop\n", "fails",
                                      parts[i]);
        fail_auto_t err = FAIL_INIT;
        fixture_t f;
        fixture_init(&f, test);
        assert_null(highstate_avail(f.high, &err));
        assert_true(str_ends(fail_text(&err), "can't be listed: the disk is gone"));
        fixture_free(&f);
    }
}

/* Looking for places reads files: after the first errors there are none, whatever the errors are about. */
static void
test_places_of_many(void **state)
{
    buf_auto_t one = BUF_INIT, two = BUF_INIT;

    buf_puts(&one, "include: [b]\n");
    for (int i = 0; i < LIMIT_SUGGESTIONS + 5; i++) {
        buf_printf(&one, "x%d:\n  test.nop: []\n", i);
        buf_printf(&two, "x%d:\n  test.fail_without_changes: []\n", i);
    }
    json_auto_t *files = json_pack("{s:s, s:s}", "base/a.sls", buf_str(&one), "base/b.sls", buf_str(&two));
    json_auto_t *errors = errors_of(files);
    assert_int_equal(json_array_size(errors), LIMIT_SUGGESTIONS + 5);
    const char *last = json_string_value(json_array_get(errors, LIMIT_SUGGESTIONS - 1)),
               *next = json_string_value(json_array_get(errors, LIMIT_SUGGESTIONS));
    assert_non_null(strstr(last, "\n    at salt://a.sls, line 100\n    at salt://b.sls, line 99"));
    assert_true(str_starts(next, "Detected conflicting IDs"));
    assert_null(strstr(next, "\n    at "));
}

/* ---- limits ----------------------------------------------------------------------------------- */

/* How many chunks a.sls makes, or -1 with errors. */
static json_int_t
chunks_of(const buf_t *text, json_t *errors)
{
    json_auto_t *test = json_pack("{s:{s:s}, s:s, s:s}", "files", "base/a.sls", buf_str(text), "arg", "a",
                                  "fun", "run");
    fixture_t f;

    fixture_init(&f, test);
    json_auto_t *chunks = run_case(&f, test, errors);
    fixture_free(&f);
    return chunks != NULL ? (json_int_t) json_array_size(chunks) : -1;
}

/* Milliseconds for `n` states with a kind of work that could be quadratic. */
static int64_t
time_of(int n, const char *body)
{
    buf_auto_t text = BUF_INIT;
    json_auto_t *errors = json_array();

    buf_puts(&text, "hub:\n  test.nop: []\n");
    for (int i = 0; i < n; i++)
        buf_printf(&text, "s%d:\n  test.nop:\n    - name: n%d\n    - names: [a%d, b%d]\n%s", i, i, i, i,
                   body);
    clock_t from = clock(); /* of this process: others may keep the processors busy */
    assert_int_equal(chunks_of(&text, errors), 2 * n + 1);
    return (int64_t) (clock() - from) * 1000 / CLOCKS_PER_SEC;
}

static void
test_linear(void **state)
{
    static const char *const bodies[] = { "",
                                          "    - require_in: [{test: hub}]\n",
                                          "    - prereq_in: [hub]\n",
                                          "    - use: [{test: hub}]\n",
                                          "    - watch_in: [{test: n1}]\n",
                                          "    - require: [{test: hub}]\n" };

    for (size_t i = 0; i < NELEMS(bodies); i++) {
        int64_t small = time_of(500, bodies[i]), large = time_of(5000, bodies[i]);
        if (large > 40 * (small + 10))
            fail_msg("%d ms for 500 and %d ms for 5000 states with '%s'", (int) small, (int) large,
                     bodies[i]);
    }
}

static void
test_many_targets(void **state)
{
    buf_auto_t text = BUF_INIT;
    json_auto_t *errors = json_array();

    /* 1,500 states that each require themselves in all of an SLS: more than anybody means */
    for (int i = 0; i < 1500; i++)
        buf_printf(&text, "s%d:\n  test.nop:\n    - require_in: [{sls: a}]\n", i);
    assert_int_equal(chunks_of(&text, errors), -1);
    assert_int_equal(json_array_size(errors), 1);
    assert_non_null(strstr(json_string_value(json_array_get(errors, 0)), "More than 2000000 requisites"));
}

static void
test_deep_includes(void **state)
{
    json_t *files = json_object();

    json_object_set_new(files, "base/a.sls", json_string("include: [i0]\n"));
    for (int i = 0; i < 1100; i++) {
        AUTO_FREE char *path = xasprintf("base/i%d.sls", i);
        json_object_set_new(files, path, value_fmt("include: [i%d]\nx%d: test.nop\n", i + 1, i));
    }
    assert_error(files, "is included 1000 files deep, at most 1000 are followed");
}

/* "web." is web/init.sls under another name, from which "web..more" is web/more.sls under another one. */
static void
test_endless_includes(void **state)
{
    assert_error(json_pack("{s:s, s:s, s:s}", "base/a.sls", "include: [web]\n", "base/web/init.sls",
                           "include: [.more]\n", "base/web/more.sls", "include: [.]\n"),
                 "at most 1000 are followed");
}

UNIT_MAIN(cmocka_unit_test(test_case_files), cmocka_unit_test(test_places),
          cmocka_unit_test(test_suggestions), cmocka_unit_test(test_advice),
          cmocka_unit_test(test_places_of_many), cmocka_unit_test(test_failing_lists),
          cmocka_unit_test(test_failing_envs), cmocka_unit_test(test_avail_of_failing),
          cmocka_unit_test(test_top_problem), cmocka_unit_test(test_linear),
          cmocka_unit_test(test_many_targets), cmocka_unit_test(test_deep_includes),
          cmocka_unit_test(test_endless_includes))
