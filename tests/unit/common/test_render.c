/* test_render.c - SLS files through their pipelines, against what Salt made of the same; and what Salt does
 * not say. */
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/render/render.h"
#include "unit/unit.h"

/* ---- functions that templates call -------------------------------------------------------------------- */

static py_t *
fake_echo(call_ctx_t *ctx UNUSED, py_t *args, fail_t *err UNUSED)
{
    return py_ref(py_dict_gets(args, "value"));
}

static py_t *
fake_both(call_ctx_t *ctx UNUSED, py_t *args, fail_t *err UNUSED)
{
    return py_ref(args);
}

static int
fake_command(call_ctx_t *ctx UNUSED, json_t *args, json_t **ret UNUSED, fail_t *err)
{
    return fail_kind(err, FAIL_COMMAND, -EIO, "%s", value_str(args, "text", ""));
}

static int
fake_invocation(call_ctx_t *ctx UNUSED, json_t *args, json_t **ret UNUSED, fail_t *err)
{
    return fail_kind(err, FAIL_INVOCATION, -EIO, "%s", value_str(args, "text", ""));
}

static int
fake_generic(call_ctx_t *ctx UNUSED, json_t *args, json_t **ret UNUSED, fail_t *err)
{
    return fail_set(err, -EIO, "%s", value_str(args, "text", ""));
}

/* A template of its own inside a template. */
static py_t *
fake_render(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    const char *text = py_cstr(py_dict_gets(args, "value"));
    const render_source_t source = {
        .text = text, .len = strlen(text), .path = ":string:", .sls = "", .saltenv = "dev"
    };

    return render_data(render_of(ctx), &source, err);
}

static const arg_t value_args[] = { { "value", ARG_ANY, ARG_REQUIRED, "x" }, ARGS_END };
static const arg_t both_args[] = { { "a", ARG_ANY, ARG_REQUIRED, "x" },
                                   { "b", ARG_ANY, "2", "x" },
                                   ARGS_END };
static const arg_t text_args[] = { { "text", ARG_STR, ARG_REQUIRED, "x" }, ARGS_END };
static const func_t fake_funcs[] = {
    { "echo", NATIVE(fake_echo), value_args, FN_NATIVE, "x" },
    { "both", NATIVE(fake_both), both_args, FN_NATIVE, "x" },
    { "command", fake_command, text_args, 0, "x" },
    { "invocation", fake_invocation, text_args, 0, "x" },
    { "generic", fake_generic, text_args, 0, "x" },
    { "render", NATIVE(fake_render), value_args, FN_NATIVE, "x" },
};
static const plugin_t fake = { .kind = PLUGIN_EXEC, .file = "fake", .doc = "x", FUNCS(fake_funcs) };
static const plugin_t *const plugins[] = { &fake };

/* ---- a place to render in ----------------------------------------------------------------------------- */

typedef struct fixture {
    char dir[64];
    json_t *opts;
    registry_t *registry;
    call_ctx_t *ctx;
    fileclient_t *files;
    render_t *render; /* BORROWED */
} fixture_t;

static json_t *
fixture_grains(void *cookie UNUSED)
{
    static json_t *grains;

    if (grains == NULL)
        grains = json_pack("{s:s, s:s, s:s, s:i}", "os", "Debian", "os_family", "Debian", "id", "m001",
                           "osmajorrelease", 12);
    return grains;
}

static py_t *
fixture_pillar(void *cookie UNUSED, json_t *ask UNUSED, fail_t *err UNUSED)
{
    json_auto_t *pillar = json_pack("{s:{s:i}, s:[i,i]}", "a", "b", 1, "list", 1, 2);

    return py_from_json(pillar);
}

static void
write_files(const fixture_t *f, json_t *files)
{
    const char *path;
    json_t *text;

    json_object_foreach (files, path, text) {
        AUTO_FREE char *full = fs_join(f->dir, path);
        AUTO_FREE char *folder = xstrndup(full, (size_t) (strrchr(full, '/') - full));
        assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
        assert_int_equal(fs_write_quick(full, json_string_value(text), json_string_length(text), 0644, NULL),
                         0);
    }
}

static void
fixture_init(fixture_t *f, json_t *opts, json_t *files)
{
    str_copy(f->dir, sizeof(f->dir), "/tmp/test-render-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->opts = json_pack("{s:s, s:{s:[s]}}", "renderer", "jinja|yaml", "file_roots", "base", f->dir);
    json_object_update(f->opts, opts);
    write_files(f, files);
    f->registry = registry_new(PLUGIN_EXEC, plugins, NELEMS(plugins));
    f->files = fileclient_local(f->opts, NULL);
    f->ctx = call_ctx_new(&(call_env_t){ .registry = f->registry,
                                         .files = f->files,
                                         .opts = f->opts,
                                         .id = "m001",
                                         .grains = fixture_grains,
                                         .pillar = fixture_pillar });
    f->render = render_of(f->ctx);
}

static void
fixture_free(fixture_t *f)
{
    call_ctx_destroy(&f->ctx);
    fileclient_destroy(&f->files);
    registry_destroy(&f->registry);
    json_decref(f->opts);
    assert_int_equal(fs_remove_tree(f->dir, NULL), 0);
}

static py_t *
render_sls(fixture_t *f, const char *sls, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    AUTO_FREE char *slashes = str_replace(sls, ".", "/");
    AUTO_FREE char *init = xasprintf("%s/init.sls", slashes);
    AUTO_FREE char *plain = xasprintf("%s.sls", slashes);
    AUTO_FREE char *init_path = fs_join(f->dir, init);
    AUTO_FREE char *plain_path = fs_join(f->dir, plain);
    bool is_init = fs_exists(init_path);
    const char *path = is_init ? init_path : plain_path;

    assert_int_equal(fs_read(path, 1 << 20, &text, NULL), 0);
    const render_source_t source = { .text = buf_str(&text),
                                     .len = text.len,
                                     .path = path,
                                     .version = 1,
                                     .sls = sls,
                                     .tmplpath = is_init ? init : plain,
                                     .saltenv = "base" };
    return render_data(f->render, &source, err);
}

/* The text with the fixture's folder as "@". NEW. */
static char *
without_dir(const fixture_t *f, const char *text)
{
    AUTO_FREE char *dir = xasprintf("%s/", f->dir);

    return str_replace(text, dir, "@");
}

/* ---- against Salt ------------------------------------------------------------------------------------- */

/* An error begins with Salt's text; what follows is ours. NULL, or what we said. NEW. */
static char *
difference(fixture_t *f, const json_t *c, py_t *got, const fail_t *err)
{
    const char *is = value_str(c, "is", NULL), *text = value_str(c, "text", NULL);
    AUTO(py) repr = got != NULL ? py_repr(got) : NULL;
    AUTO_FREE char *ours = without_dir(f, repr != NULL ? py_cstr(repr) : fail_text(err));
    bool same = text != NULL ? strcmp(ours, text) == 0
                : is != NULL ? got != NULL && strcmp(ours, is) == 0
                             : got == NULL && str_starts(ours, value_str(c, "error", "?"));

    return same ? NULL : STEAL(ours);
}

static bool
case_holds(const json_t *c)
{
    fixture_t f;
    fail_auto_t err = FAIL_INIT;

    fixture_init(&f, json_object_get(c, "opts"), json_object_get(c, "files"));
    AUTO(py) got = render_sls(&f, value_str(c, "sls", ""), &err);
    AUTO_FREE char *ours = difference(&f, c, got, &err);
    if (ours != NULL)
        printf("%s\n--- want\n%s\n--- got\n%s\n", value_str(c, "name", ""),
                    value_str(c, "is", value_str(c, "error", value_str(c, "text", ""))), ours);
    py_unref(STEAL(got));
    fixture_free(&f);
    return ours == NULL;
}

static void
run_cases(const char *path, size_t at_least)
{
    json_auto_t *cases = json_load_file(path, JSON_ALLOW_NUL, NULL);
    size_t i, wrong = 0;
    json_t *c;

    assert_true(json_array_size(cases) >= at_least);
    json_array_foreach (cases, i, c)
        wrong += !case_holds(c);
    assert_int_equal(wrong, 0);
}

static void
test_as_salt(void **state UNUSED)
{
    run_cases(TEST_SOURCE_DIR "/tests/cases/render/sls.json", 80);
}

/* Whole texts: what Salt does not say. */
static void
test_messages(void **state UNUSED)
{
    run_cases(TEST_SOURCE_DIR "/tests/cases/render/messages.json", 20);
}

UNIT_MAIN(cmocka_unit_test(test_as_salt), cmocka_unit_test(test_messages))
