/* test_render.c - SLS files through their pipelines, against what Salt made of the same; and what Salt does
 * not say. */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/render/render.h"
#include "unit/unit.h"

/* ---- functions that templates call -------------------------------------------------------------------- */

static py_t *
fake_echo(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return py_ref(py_dict_gets(args, "value"));
}

static py_t *
fake_both(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return py_ref(args);
}

static int
fake_command(call_ctx_t *ctx, json_t *args, json_t **ret, fail_t *err)
{
    return fail_kind(err, FAIL_COMMAND, -EIO, "%s", value_str(args, "text", ""));
}

static int
fake_invocation(call_ctx_t *ctx, json_t *args, json_t **ret, fail_t *err)
{
    return fail_kind(err, FAIL_INVOCATION, -EIO, "%s", value_str(args, "text", ""));
}

static int
fake_generic(call_ctx_t *ctx, json_t *args, json_t **ret, fail_t *err)
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

static const arg_t value_args[] = { ARG("value", ARG_ANY, ARG_REQUIRED, "x"), ARGS_END };
static const arg_t both_args[] = { ARG("a", ARG_ANY, ARG_REQUIRED, "x"), ARG("b", ARG_ANY, "2", "x"),
                                   ARGS_END };
static const arg_t text_args[] = { ARG("text", ARG_STR, ARG_REQUIRED, "x"), ARGS_END };
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
fixture_grains(void *cookie)
{
    static json_t *grains;

    if (grains == NULL)
        grains = json_pack("{s:s, s:s, s:s, s:i}", "os", "Debian", "os_family", "Debian", "id", "m001",
                           "osmajorrelease", 12);
    return grains;
}

static py_t *
fixture_pillar(void *cookie, json_t *ask, fail_t *err)
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
test_as_salt(void **state)
{
    run_cases(TEST_SOURCE_DIR "/tests/cases/render/sls.json", 80);
}

/* Whole texts: what Salt does not say. */
static void
test_messages(void **state)
{
    run_cases(TEST_SOURCE_DIR "/tests/cases/render/messages.json", 20);
}

/* ---- texts, caches, gpg ------------------------------------------------------------------------------- */

static void
expect_text(fixture_t *f, const render_source_t *source, const char *want)
{
    buf_auto_t out = BUF_INIT;
    fail_auto_t err = FAIL_INIT;

    int rc = render_text(f->render, source, &out, &err);
    assert_string_equal(rc == 0 ? buf_str(&out) : fail_text(&err), want);
}

#define TEXT(t) .text = (t), .len = strlen(t)

/* file.managed's template: jinja: a "#!" line is text, and there is no SLS. */
static void
test_text(void **state)
{
    fixture_t f;
    AUTO(py) context = py_dict();

    fixture_init(&f, NULL, NULL);
    py_dict_sets_new(context, "port", py_int(80));
    expect_text(&f,
                &(render_source_t){ TEXT("#!/bin/sh\nlisten {{ port }} {{ sls is defined }}\n"),
                                    .pipeline = "jinja", .fixed = true, .context = context },
                "#!/bin/sh\nlisten 80 False\n");
    expect_text(&f, &(render_source_t){ TEXT("#!yaml\n{{ 1 }}"), .pipeline = "jinja", .fixed = true },
                "#!yaml\n1");
    expect_text(&f, &(render_source_t){ TEXT("a: 1"), .pipeline = "jinja|yaml", .fixed = true },
                "the renderers 'jinja|yaml' make data, and a text is needed");
    expect_text(&f, &(render_source_t){ TEXT(""), .pipeline = "jinja", .fixed = true }, "");
    fixture_free(&f);
}

/* A template is compiled once per path and version; an import is read again when its file changes. */
static void
test_cache(void **state)
{
    fixture_t f;
    json_auto_t *first = json_pack("{s:s}", "m.jinja", "{% set x = 1 %}");
    json_auto_t *second = json_pack("{s:s}", "m.jinja", "{% set x = 22 %}");
    render_source_t source = { TEXT("one"), .path = "/a", .version = 1, .pipeline = "jinja", .fixed = true };
    static const char import[] = "{% from 'm.jinja' import x %}{{ x }}";

    fixture_init(&f, NULL, first);
    expect_text(&f, &source, "one");
    source.text = "two";
    expect_text(&f, &source, "one");
    source.version = 2;
    expect_text(&f, &source, "two");
    expect_text(&f, &(render_source_t){ TEXT(import), .pipeline = "jinja", .fixed = true }, "1");
    write_files(&f, second);
    expect_text(&f, &(render_source_t){ TEXT(import), .pipeline = "jinja", .fixed = true }, "22");
    fixture_free(&f);
}

static int
shell(const char *fmt, const char *dir)
{
    AUTO_FREE char *line = str_replace(fmt, "DIR", dir);

    return system(line);
}

static void
make_message(fixture_t *f, json_t *files, const char *name, const char *fmt)
{
    AUTO_FREE char *path = fs_join(f->dir, "cipher");
    buf_auto_t cipher = BUF_INIT;

    assert_int_equal(fs_read(path, 1 << 20, &cipher, NULL), 0);
    AUTO_FREE char *indented = str_replace(buf_str(&cipher), "\n", "\n    ");
    AUTO_FREE char *text = str_replace(fmt, "CIPHER", indented);
    json_object_set_new(files, name, json_string(text));
}

static void
expect_sls(fixture_t *f, const char *sls, const char *want)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(py) got = render_sls(f, sls, &err);
    AUTO(py) repr = got != NULL ? py_repr(got) : NULL;

    assert_string_equal(repr != NULL ? py_cstr(repr) : fail_text(&err), want);
}

static const char generate_key[] =
    "mkdir -m 700 DIR/keys && "
    "gpg --homedir DIR/keys --batch --quiet --passphrase '' --quick-gen-key salt "
    "default default never 2>DIR/said && "
    "printf 'secret' | gpg --homedir DIR/keys --batch --quiet --armor "
    "--trust-model always -r salt -e -o DIR/cipher";

static void
test_gpg(void **state)
{
    fixture_t f;
    AUTO_FREE char *gpg = fs_which("gpg");
    json_auto_t *files = json_object();

    if (gpg == NULL)
        skip();
    fixture_init(&f, NULL, NULL);
    AUTO_FREE char *keys = fs_join(f.dir, "keys");
    json_object_set_new(f.opts, "gpg_keydir", json_string(keys));
    assert_int_equal(shell(generate_key, f.dir), 0);
    /* Lock files: of a gpg that is gone, of one that lives, of another host, and what only looks so. */
    assert_int_equal(
        shell("sh -c 'echo $$ >DIR/gone'; cd DIR/keys; h=$(uname -n); for n in $h.$(cat DIR/gone) "
              "$h.$(cat DIR/gone)x $h.$PPID other.$(cat DIR/gone) $h.y; do : >.#lk0x1.$n; done",
              f.dir),
        0);
    make_message(&f, files, "data.sls", "#!yaml|gpg\na: x\nb:\n- c: |\n    CIPHER\n");
    make_message(&f, files, "text.sls", "#!gpg|yaml\na: |\n    CIPHER\n");
    make_message(&f, files, "broken.sls",
                 "#!yaml|gpg\na: '-----BEGIN PGP MESSAGE-----x-----END PGP MESSAGE-----'\n");
    write_files(&f, files);
    expect_sls(&f, "data", "OrderedDict([('a', 'x'), ('b', [OrderedDict([('c', 'secret')])])])");
    expect_sls(&f, "text", "OrderedDict([('a', 'secret\\n')])");
    fail_auto_t err = FAIL_INIT;
    assert_null(render_sls(&f, "broken", &err));
    assert_true(str_starts(fail_text(&err), "Could not decrypt cipher b'-----BEGIN PGP MESSAGE-----x"));
    json_object_set_new(f.opts, "gpg_decrypt_must_succeed", json_false());
    expect_sls(&f, "broken", "OrderedDict([('a', '-----BEGIN PGP MESSAGE-----x-----END PGP MESSAGE-----')])");
    assert_int_equal(
        shell("cd DIR/keys; h=$(uname -n); g=$(cat DIR/gone); [ ! -e .#lk0x1.$h.$g ] && "
              "[ ! -e .#lk0x1.$h.${g}x ] && [ -e .#lk0x1.$h.$PPID ] && [ -e .#lk0x1.other.$g ] && "
              "[ -e .#lk0x1.$h.y ]",
              f.dir),
        0);
    (void) shell("gpgconf --homedir DIR/keys --kill all", f.dir);
    fixture_free(&f);
}

/* What decrypt_pillar makes of values: each of them whole; bytes that are text become one, as in Salt. */
static void
test_decrypt(void **state)
{
#define WITH_NUL(text) text, sizeof(text) - 1
    static const struct {
        bool bytes;
        const char *text;
        size_t len;
        const char *want;
    } rows[] = {
        { false, WITH_NUL("ab\0cdefgh"), "'ab\\x00cdefgh'" },
        { false, WITH_NUL("a\\nb\0c\\n"), "'a\\nb\\x00c\\n'" },
        { false, WITH_NUL("\xed\xb2\x80"), "'\\udc80'" },
        { true, WITH_NUL("AB\0CDEF"), "'AB\\x00CDEF'" },
        { true, WITH_NUL("AB\0\xff\xfe"), "b'AB\\x00\\xff\\xfe'" },
        { false, WITH_NUL("-----BEGIN PGP MESSAGE-----x\0y-----END PGP MESSAGE-----z"),
          "'-----BEGIN PGP MESSAGE-----x\\x00y-----END PGP MESSAGE-----z'" },
    };
    fixture_t f;
    AUTO_FREE char *gpg = fs_which("gpg");

    if (gpg == NULL)
        skip();
    fixture_init(&f, NULL, NULL);
    json_object_set_new(f.opts, "gpg_decrypt_must_succeed", json_false());
    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        AUTO(py) v = rows[i].bytes ? py_bytes(rows[i].text, rows[i].len) : py_str(rows[i].text, rows[i].len);
        AUTO(py) got = render_decrypt(f.render, "gpg", v, &err);
        AUTO(py) repr = got != NULL ? py_repr(got) : NULL;
        assert_string_equal(repr != NULL ? py_cstr(repr) : fail_text(&err), rows[i].want);
    }
    fixture_free(&f);
}

/* ---- python ------------------------------------------------------------------------------------------- */

static void
test_py(void **state)
{
    AUTO_FREE char *python = fs_which("python3");

    if (python == NULL)
        skip();
    run_cases(TEST_SOURCE_DIR "/tests/cases/render/py.json", 20);
}

/* A file that never ends is told so; one that does not listen is killed, unless it had not even begun. */
static void
test_py_time(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "def run():\n    while True: pass\n", "OutOfTime: the time for it is over" },
        { "import signal\ndef run():\n    signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
          "    while True: pass\n",
          "python3 did not end in time, and was killed\nin /x.sls" },
        { "def run():\n    return 'again'\n", NULL },
    };
    AUTO_FREE char *python = fs_which("python3");
    fixture_t f;

    if (python == NULL)
        skip();
    fixture_init(&f, NULL, NULL);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        const render_source_t source = { TEXT(rows[i].text), .path = "/x.sls", .pipeline = "py" };
        const py_limits_t limits = { .deadline_ms = rows[i].want != NULL ? clock_mono_ms() + 300 : 0 };
        fail_auto_t err = FAIL_INIT;
        py_scope_t scope;
        py_scope_enter(&scope, &limits);
        AUTO(py) got = render_data(f.render, &source, &err);
        bool held = rows[i].want != NULL ? got == NULL && (str_starts(fail_text(&err), rows[i].want) ||
                                                           str_starts(fail_text(&err), rows[0].want))
                                         : py_str_is(got, "again");
        py_unref(STEAL(got));
        py_scope_leave(&scope);
        if (!held)
            fail_msg("case %zu: %s", i, fail_text(&err));
    }
    fixture_free(&f);
}

/* file.managed's template: py. A child that is forked meanwhile starts an interpreter of its own. */
static void
test_py_text(void **state)
{
    AUTO_FREE char *python = fs_which("python3");
    AUTO(py) context = py_dict();
    const render_source_t source = {
        TEXT("#!py\ndef run():\n    return f'{port} {context[\"port\"]} {sls}'\n"), .pipeline = "py",
        .fixed = true, .context = context
    };
    fixture_t f;

    if (python == NULL)
        skip();
    fixture_init(&f, NULL, NULL);
    py_dict_sets_new(context, "port", py_int(80));
    expect_text(&f, &source, "80 80 ");
    pid_t pid = fork();
    if (pid == 0) {
        buf_t out = BUF_INIT;
        _exit(render_text(f.render, &source, &out, NULL) == 0 && strcmp(buf_str(&out), "80 80 ") == 0 ? 0
                                                                                                      : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    expect_text(&f, &source, "80 80 ");
    fixture_free(&f);
}

static void
test_py_missing(void **state)
{
    AUTO_FREE char *path = xstrdup(getenv("PATH"));
    fixture_t f;

    fixture_init(&f, NULL, NULL);
    setenv("PATH", f.dir, 1);
    expect_text(
        &f, &(render_source_t){ TEXT("#!py\n"), .pipeline = "py" },
        "files in Python need the program python3, which is not on this host: install the package python3");
    setenv("PATH", path, 1);
    fixture_free(&f);
}

/* ---- what peers say ----------------------------------------------------------------------------------- */

static json_t *
peer_grains(void *cookie)
{
    static json_t *grains;

    if (grains == NULL)
        grains = json_pack("{s:s, s:s, s:s, s:[s,s], s:s}", "id", "m001", "os", "Debian GNU/Linux", "evil",
                           "x\nadded: key", "list", "a", "b: c", "tag", "{{ 1 + 1 }}");
    return grains;
}

static void
note_refused(void *cookie, json_t *what)
{
    int *n = cookie;

    assert_non_null(value_get(what, "value"));
    (*n)++;
}

static void
test_peer(void **state)
{
    static const struct {
        const char *text, *saltenv, *expected; /* a part of the error; NULL: there is none */
    } rows[] = {
        { "a: {{ grains.os }}", "base", NULL },
        { "a: {{ grains.id }}: b", "base", "mapping values are not allowed" },
        { "a: {{ grains.evil }}", "base", "'x\\nadded: key' becomes a new key" },
        { "a: {{ grains.evil | json }}", "base", NULL },
        { "a: {{ grains.list }}", "base", NULL },
        { "a: {{ grains.list | join(', ') }}", "base", "becomes" },
        { "a: {{ opts.grains.evil }}", "base", "becomes a new key" },
        { "env: {{ saltenv }}", "base\nadded: key", "becomes a new key" },
        { "env: {{ opts.saltenv }}", "base", "becomes a new key" },
        { "#!jinja|jinja|yaml\na: '{{ grains.tag }}'", "base", "becomes the start of a tag of a template" },
        { "#!jinja|jinja|yaml\na: {{ grains.os }} {{ '{{ 1 + 1 }}' }}", "base", NULL },
        { "#!jinja|jinja|yaml\na: {{ grains.evil }}", "base", "becomes a new key" },
        { "#!jinja|json\n{\"a\": \"{{ grains.os }}\"}", "base", NULL },
        { "#!jinja|json\n{\"a\": \"{{ grains.evil }}\"}", "base", "becomes" },
        { "{% load_yaml as x %}\na: {{ grains.evil }}\n{% endload %}b: 1", "base", "becomes a new key" },
        { "{% set x = grains.list[1] | load_yaml %}a: {{ x | json }}", "base", NULL },
    };
    int refused = 0, expected = 0;
    fixture_t f;

    fixture_init(&f, NULL, NULL);
    call_ctx_destroy(&f.ctx);
    json_object_set_new(f.opts, "saltenv", json_string("base\nadded: key"));
    f.ctx = call_ctx_new(&(call_env_t){ .registry = f.registry,
                                        .files = f.files,
                                        .opts = f.opts,
                                        .id = "m001",
                                        .grains = peer_grains,
                                        .peer = true,
                                        .refused = note_refused,
                                        .cookie = &refused });
    f.render = render_of(f.ctx);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        const render_source_t source = { TEXT(rows[i].text), .saltenv = rows[i].saltenv };
        fail_auto_t err = FAIL_INIT;
        AUTO(py) data = render_data(f.render, &source, &err);
        const char *said = data == NULL ? fail_text(&err) : "";
        if (rows[i].expected == NULL ? data == NULL : strstr(said, rows[i].expected) == NULL)
            fail_msg("%s: %s", rows[i].text, said);
        expected += rows[i].expected != NULL && strstr(rows[i].expected, "becomes") != NULL &&
                    strstr(rows[i].text, "load_yaml") == NULL;
    }
    assert_int_equal(refused, expected);
    json_object_set_new(f.opts, "peer_data", json_string("warn"));
    const render_source_t source = { TEXT(rows[2].text), .saltenv = "base" };
    AUTO(py) data = render_data(f.render, &source, NULL);
    assert_non_null(data);
    assert_int_equal(py_dict_len(data), 2);
    fixture_free(&f);
}

static json_t *
said_grains(void *cookie)
{
    return cookie;
}

/* A text is a template by the signs that the configuration gives, for SLS files or for others. */
static void
test_peer_signs(void **state)
{
    static const struct {
        const char *option, *env; /* JSON */
        const char *value;        /* JSON */
        bool refused;
    } rows[] = {
        { "jinja_env", "{}", "[\"{{ 1 }}\"]", true },
        { "jinja_env", "{}", "[\"a\\u0000{% set x = 1 %}\"]", true },
        { "jinja_env", "{}", "[\"a\\u0000-----BEGIN PGP MESSAGE-----\"]", true },
        { "jinja_env", "{}", "[\"<< 1 >> # b\\n# do x\"]", false },
        { "jinja_env", "{\"variable_start_string\": \"<<\"}", "[\"<< 1 >>\"]", true },
        { "jinja_sls_env", "{\"block_start_string\": \"<%\"}", "[\"<% set x = 1 %>\"]", true },
        { "jinja_env", "{\"line_statement_prefix\": \"#\"}", "[\"# set x = 1\"]", true },
        { "jinja_env", "{\"line_statement_prefix\": \"#\"}", "[\"a\\r \\t# set x = 1\"]", true },
        { "jinja_env", "{\"line_statement_prefix\": \"#\"}", "[\"a # b\\nc#\"]", false },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        const render_source_t source = { TEXT("a: {template: jinja, contents: {{ grains.v[0] | json }}}"),
                                         .saltenv = "base" };
        fail_auto_t err = FAIL_INIT;
        fixture_t f;
        fixture_init(&f, NULL, NULL);
        call_ctx_destroy(&f.ctx);
        json_object_set_new(f.opts, rows[i].option, json_loads(rows[i].env, 0, NULL));
        json_auto_t *grains = json_pack("{s:o}", "v", json_loads(rows[i].value, JSON_ALLOW_NUL, NULL));
        f.ctx = call_ctx_new(&(call_env_t){ .registry = f.registry,
                                            .files = f.files,
                                            .opts = f.opts,
                                            .grains = said_grains,
                                            .peer = true,
                                            .cookie = grains });
        f.render = render_of(f.ctx);
        AUTO(py) data = render_data(f.render, &source, &err);
        if ((data == NULL) != rows[i].refused)
            fail_msg("%s with %s: %s", rows[i].value, rows[i].env, fail_text(&err));
        fixture_free(&f);
    }
}

UNIT_MAIN(cmocka_unit_test(test_peer), cmocka_unit_test(test_peer_signs), cmocka_unit_test(test_as_salt),
          cmocka_unit_test(test_messages), cmocka_unit_test(test_text), cmocka_unit_test(test_cache),
          cmocka_unit_test(test_gpg), cmocka_unit_test(test_decrypt), cmocka_unit_test(test_py),
          cmocka_unit_test(test_py_time), cmocka_unit_test(test_py_text), cmocka_unit_test(test_py_missing))
