/* test_plugin.c - binding against Python's own answers, calls against Salt's own texts. */
#include "unit/unit.h"

#include "common/plugin/call.h"

/* ---- binding: tests/cases/plugin/bind.json was recorded from CPython ----------------------- */

static void
rows_of(const json_t *spec, arg_t rows[8])
{
    size_t i;
    json_t *row;

    memset(rows, 0, 8 * sizeof(*rows));
    json_array_foreach (spec, i, row) {
        const char *dflt = json_string_value(json_array_get(row, 1));
        rows[i].text = arg_text(json_string_value(json_array_get(row, 0)),
                                dflt != NULL ? dflt : ARG_REQUIRED);
    }
}

static void
test_bind_as_python(void **state)
{
    json_auto_t *cases = json_load_file(TEST_SOURCE_DIR "/tests/cases/plugin/bind.json", 0, NULL);
    size_t i;
    json_t *c;

    assert_true(json_array_size(cases) > 200);
    json_array_foreach (cases, i, c) {
        fail_auto_t err = FAIL_INIT;
        arg_t rows[8];
        rows_of(json_object_get(c, "rows"), rows);
        const func_t f = { .name = "f", .args = rows };
        json_t *args = json_object_get(c, "args"), *kwargs = json_object_get(c, "kwargs");
        const char *want = value_str(c, "error", NULL);
        json_auto_t *bound = bind_args(&f, args, kwargs, NULL, &err);
        /* Unknown keywords never reach Python: Salt complains about them first. */
        if (want != NULL && strstr(want, "unexpected keyword") != NULL) {
            assert_null(bound);
            assert_int_equal(err.kind, FAIL_INVOCATION);
            assert_non_null(strstr(fail_text(&err), "The following keyword arguments are not valid: "));
        } else if (want != NULL) {
            assert_null(bound);
            assert_int_equal(err.kind, FAIL_ARGUMENTS);
            assert_string_equal(fail_text(&err), want);
        } else {
            assert_true(value_equal(bound, json_object_get(c, "bound")));
        }
        for (size_t k = 0; k < NELEMS(rows); k++)
            free((char *) rows[k].text);
    }
}

static void
test_arg_row(void **state)
{
    static const arg_t rows[] = { ARG("n", ARG_INT, "5", "x"), ARG("kw", ARG_DICT, ARG_STARSTAR, "x", "a b"),
                                  ARGS_END };
    AUTO_FREE char *text = arg_text("kw", ARG_STARSTAR);
    const arg_t made = { text };

    assert_int_equal(arg_type(&rows[0]), ARG_INT);
    assert_string_equal(arg_name(&rows[0]), "n");
    assert_string_equal(arg_dflt(&rows[0]), "5");
    assert_string_equal(arg_takes(&rows[0]), "");
    assert_int_equal(arg_type(&rows[1]), ARG_DICT);
    assert_true(arg_is(&rows[1], ARG_STARSTAR) && !arg_is(&rows[1], ARG_STAR));
    assert_string_equal(arg_takes(&rows[1]), "a b");
    assert_null(rows[2].text);
    assert_int_equal(arg_type(&made), ARG_ANY);
    assert_string_equal(arg_name(&made), "kw");
    assert_true(arg_is(&made, ARG_STARSTAR));
    assert_string_equal(arg_takes(&made), "");
}

static const arg_t typed_rows[] = {
    ARG("s", ARG_STR, "\"d\"", "x"),  ARG("n", ARG_INT, "5", "x"),      ARG("f", ARG_FLOAT, "null", "x"),
    ARG("b", ARG_BOOL, "true", "x"),  ARG("l", ARG_LIST, "[1]", "x"),   ARG("m", ARG_DICT, "{}", "x"),
    ARG("nb", ARG_BOOL, "null", "x"), ARG("any", ARG_ANY, "null", "x"), ARGS_END,
};
static const func_t typed = { .name = "typed", .args = typed_rows };

static void
expect_typed(const char *key, const char *given, const char *want)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *kwargs = json_object();

    json_object_set_new(kwargs, key, json_loads(given, JSON_DECODE_ANY, NULL));
    json_auto_t *bound = bind_args(&typed, NULL, kwargs, NULL, &err);
    if (bound == NULL) {
        assert_int_equal(err.kind, FAIL_ARGUMENTS);
        assert_string_equal(fail_text(&err), want);
        return;
    }
    AUTO_FREE char *got = value_dump(json_object_get(bound, key));
    assert_string_equal(got, want);
}

static void
test_bind_types(void **state)
{
    static const char *const rows[][3] = {
        { "s", "5", "\"5\"" },
        { "s", "true", "\"True\"" },
        { "s", "1.0", "\"1.0\"" },
        { "s", "null", "\"d\"" },
        { "s", "[1]", "typed() argument 's' must be a string, not [1]" },
        { "n", "\" 7 \"", "7" },
        { "n", "7.0", "7" },
        { "n", "false", "0" },
        { "n", "null", "5" },
        { "n", "7.5", "typed() argument 'n' must be an integer, not 7.5" },
        { "n", "\"x\"", "typed() argument 'n' must be an integer, not 'x'" },
        { "n", "\"99999999999999999999\"",
          "typed() argument 'n' must be an integer, not '99999999999999999999'" },
        { "f", "\"1.5\"", "1.5" },
        { "f", "2", "2.0" },
        { "f", "null", "null" },
        { "f", "\"\"", "typed() argument 'f' must be a number, not ''" },
        { "b", "\"False\"", "false" },
        { "b", "\"yes\"", "true" },
        { "b", "0", "false" },
        { "b", "null", "false" },
        { "b", "\"maybe\"", "typed() argument 'b' must be True or False, not 'maybe'" },
        { "l", "\"a, b\"", "[\"a\",\"b\"]" },
        { "l", "3", "[3]" },
        { "l", "null", "[1]" },
        { "l", "{\"a\": 1}", "typed() argument 'l' must be a list, not {'a': 1}" },
        { "m", "[{\"a\": 1}, {\"b\": 2}]", "{\"a\":1,\"b\":2}" },
        { "m", "\"x\"", "typed() argument 'm' must be a dictionary, not 'x'" },
        { "m", "[{\"a\": 1, \"b\": 2}]",
          "typed() argument 'm' must be a dictionary, not [{'a': 1, 'b': 2}]" },
        { "nb", "null", "null" },
        { "any", "{\"a\": [1]}", "{\"a\":[1]}" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++)
        expect_typed(rows[i][0], rows[i][1], rows[i][2]);
}

/* ---- calls --------------------------------------------------------------------------------- */

static int
fn_ping(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_true();
    return 0;
}

static int
fn_echo(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_incref(json_object_get(args, "text"));
    return 0;
}

static int
fn_fail(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return fail_kind(err, (fail_kind_t) value_int(args, "kind", 0), -EIO, "%s", value_str(args, "text", ""));
}

static int
fn_code(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    ctx_set_retcode(ctx, (int) value_int(args, "code", 0));
    *ret_value = json_true();
    return 0;
}

/* Calls itself for ever. */
static int
fn_loop(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return ctx_call(ctx, "test.loop", NULL, args, ret_value, err);
}

static int
fn_other(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return ctx_call(ctx, value_str(args, "fun", ""), NULL, json_object_get(args, "kwargs"), ret_value, err);
}

static int
fn_kwargs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_incref(json_object_get(args, "kwargs"));
    return 0;
}

/* What its row holds, and what it still holds after a call of another row. */
static int
fn_row(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *inner = NULL;
    const char *fun = value_str(args, "fun", ""), *before = ctx_row(ctx)->data.text;

    if (fun[0] != '\0' && ctx_call(ctx, fun, NULL, NULL, &inner, err) < 0)
        inner = json_string(fail_text(err));
    *ret_value = json_pack("[s, s, O?]", before, ctx_row(ctx)->data.text, inner);
    return 0;
}

static py_t *
fn_native_row(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return py_int((json_int_t) ctx_row(ctx)->data.number);
}

static py_t *
fn_native_all(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return py_ref(args);
}

static const arg_t all_args[] = { ARG("a", ARG_ANY, ARG_REQUIRED, "first"),
                                  ARG("rest", ARG_ANY, ARG_STAR, "more"),
                                  ARG("only", ARG_ANY, "[5]", "by keyword"),
                                  ARG("kwargs", ARG_ANY, ARG_STARSTAR, "others"), ARGS_END };
static const arg_t row_args[] = { ARG("fun", ARG_STR, "\"\"", "what to call"), ARGS_END };
static const arg_t echo_args[] = { ARG("text", ARG_ANY, ARG_REQUIRED, "what to say"), ARGS_END };
static const arg_t fail_args[] = { ARG("kind", ARG_INT, ARG_REQUIRED, "how"),
                                   ARG("text", ARG_STR, "\"no\"", "why"), ARGS_END };
static const arg_t code_args[] = { ARG("code", ARG_INT, "42", "exit code"), ARGS_END };
static const arg_t other_args[] = { ARG("fun", ARG_STR, ARG_REQUIRED, "which"),
                                    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "for it"), ARGS_END };
static const arg_t kwargs_args[] = { ARG("kwargs", ARG_ANY, ARG_STARSTAR, "all"), ARGS_END };

static const func_t funcs[] = {
    { "ping", fn_ping, NULL, FN_READONLY,
      "Used to make sure the minion is up and responding. Not an ICMP ping.\n\nReturns ``True``.\n\nCLI "
      "Example:\n\n    salt '*' test.ping" },
    { "echo", fn_echo, echo_args, FN_READONLY,
      "Return a string - used for testing the connection\n\nCLI Example:\n\n    salt '*' test.echo 'foo bar "
      "baz quo "
      "qux'" },
    { "fail", fn_fail, fail_args, FN_READONLY, "Fail.\n\nCLI Example:\n\n    salt '*' test.fail 1" },
    { "code", fn_code, code_args, FN_READONLY, "Code.\n\nCLI Example:\n\n    salt '*' test.code 1" },
    { "loop", fn_loop, NULL, FN_READONLY, "Loop.\n\nCLI Example:\n\n    salt '*' test.loop" },
    { "other", fn_other, other_args, FN_READONLY,
      "Other.\n\nCLI Example:\n\n    salt '*' test.other test.ping" },
    { "raw", fn_kwargs, kwargs_args, FN_RAW_KWARGS, "Raw.\n\nCLI Example:\n\n    salt '*' test.raw a=1" },
    { "clean", fn_kwargs, kwargs_args, 0, "Clean.\n\nCLI Example:\n\n    salt '*' test.clean a=1" },
    { "one", fn_row, row_args, 0, "One.\n\nCLI Example:\n\n    salt '*' test.one", .data.text = "1" },
    { "two", fn_row, row_args, 0, "Two.\n\nCLI Example:\n\n    salt '*' test.two", .data.text = "2" },
    { "three", NATIVE(fn_native_row), NULL, FN_NATIVE, "Three.\n\nCLI Example:\n\n    salt '*' test.three",
      .data.number = 3 },
    { "all", NATIVE(fn_native_all), all_args, FN_NATIVE, "All.\n\nCLI Example:\n\n    salt '*' test.all" },
};
static const func_t extra_funcs[] = {
    { "more", fn_ping, NULL, FN_READONLY, "More.\n\nCLI Example:\n\n    salt '*' test.more" },
};
static const func_t absent_funcs[] = {
    { "install", fn_ping, NULL, 0, "Install.\n\nCLI Example:\n\n    salt '*' pkg.install x" },
};

static const char *
absent(call_ctx_t *ctx)
{
    return "no package manager here";
}

PLUGIN(exec, test, .doc = "Test", FUNCS(funcs));
PLUGIN(exec, test_more, .provides = "test", .doc = "More of test", FUNCS(extra_funcs));
PLUGIN(exec, pkg_none, .provides = "pkg", .doc = "Absent", .unavailable = absent, FUNCS(absent_funcs));
static const plugin_t *const plugins[] = { &exec_pkg_none, &exec_test, &exec_test_more };

typedef struct fixture {
    registry_t *registry;
    call_ctx_t *ctx;
} fixture_t;

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));

    f->registry = registry_new(PLUGIN_EXEC, plugins, NELEMS(plugins));
    f->ctx = call_ctx_new(&(call_env_t){ .registry = f->registry, .id = "m001", .jid = "2026" });
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    call_ctx_destroy(&f->ctx);
    registry_destroy(&f->registry);
    free(f);
    return 0;
}

static void
expect_call(fixture_t *f, const char *fun, const char *arg, const char *want, int retcode)
{
    json_auto_t *list = json_loads(arg, 0, NULL);
    call_result_t res;

    call_run(f->ctx, fun, list, NULL, &res);
    AUTO_FREE char *text = value_pystr(res.value);
    assert_string_equal(text, want);
    assert_int_equal(res.retcode, retcode);
    assert_int_equal(res.success, retcode == 0);
    call_result_free(&res);
}

static void
test_call_texts(void **state)
{
    static const struct {
        const char *fun, *arg, *want;
        int retcode;
    } rows[] = {
        { "test.ping", "[]", "True", 0 },
        { "test.more", "[]", "True", 0 },
        { "test.echo", "[5]", "5", 0 },
        { "test.echo", "[\"text=a b\"]", "a b", 0 },
        { "test.echo", "[\"a==b\"]", "a==b", 0 },
        { "test.echo", "[{\"__kwarg__\": true, \"text\": [1]}]", "[1]", 0 },
        { "test.echo", "[{\"result\": false}]", "{'result': False}", 1 },
        { "test.echo", "[{\"success\": true}]", "{'success': True}", 0 },
        { "test.code", "[7]", "True", 7 },
        { "test.fail", "[1, \"boom\"]", "ERROR: boom", 1 },
        { "test.fail", "[2, \"boom\"]", "Command required for 'test.fail' not found: boom", 1 },
        { "test.fail", "[3, \"boom\"]", "ERROR executing 'test.fail': boom", 1 },
        { "test.fail", "[0, \"boom\"]", "The minion function caused an exception: boom", 1 },
        { "test.nosuch", "[]", "'test.nosuch' is not available.", 1 },
        { "nosuch.func", "[]", "'nosuch.func' is not available.", 1 },
        { "nodot", "[]", "'nodot' is not available.", 1 },
        { "pkg.install", "[]", "'pkg' __virtual__ returned False: no package manager here", 1 },
        { "test.other", "[\"test.nosuch\"]",
          "The minion function caused an exception: 'test.nosuch' is not available.", 1 },
        { "test.loop", "[]", "ERROR: loop: functions call each other more than 64 deep", 1 },
        { "test.echo", "[{\"__kwarg__\": true, \"text\": \"a\", \"nosuch\": \"b\"}]",
          "ERROR executing 'test.echo': The following keyword arguments are not valid: nosuch=b", 1 },
        { "test.echo", "[]",
          "Passed invalid arguments to test.echo: echo() missing 1 required positional argument: 'text'\n\n"
          "    Return a string - used for testing the connection\n\n    CLI Example:\n\n    .. code-block:: "
          "bash\n\n"
          "        salt '*' test.echo 'foo bar baz quo qux'\n    ",
          1 },
        { "test.other", "[\"test.echo\", \"x=1\", \"text=2\"]",
          "Passed invalid arguments to test.other: echo() got an unexpected keyword argument 'x'\n\n    "
          "Other.\n\n"
          "    CLI Example:\n\n    .. code-block:: bash\n\n        salt '*' test.other test.ping\n    ",
          1 },
    };

    for (size_t i = 0; i < NELEMS(rows); i++)
        expect_call(*state, rows[i].fun, rows[i].arg, rows[i].want, rows[i].retcode);
}

static void
test_call_row(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    AUTO(py) native = ctx_call_native(f->ctx, "test.three", &(py_args_t){ 0 }, &err);

    expect_call(f, "test.one", "[]", "['1', '1', None]", 0);
    expect_call(f, "test.two", "[\"test.one\"]", "['2', '2', ['1', '1', None]]", 0);
    expect_call(f, "test.one", "[\"test.three\"]", "['1', '1', 3]", 0);
    expect_call(f, "test.one", "[\"test.loop\"]",
                "['1', '1', 'loop: functions call each other more than 64 deep']", 0);
    assert_true(py_is(native, PY_INT));
    assert_null(ctx_row(f->ctx));
}

/* Call test.all with the first `n` and `nkw` of some values that JSON can't say; the text of its return or error. */
static void
expect_native(fixture_t *f, size_t n, size_t nkw, const char *want)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(py) odd = py_dict();
    AUTO(py) text = py_strz("\0010");
    AUTO(py) one = py_int(1);
    AUTO(py) x = py_strz("x");
    AUTO(py) a = py_strz("a");
    AUTO(py) only = py_strz("only");
    py_t *const v[] = { odd, text, one }, *const names[] = { x, only, a }, *const kwv[] = { odd, text, one };

    py_dict_set(odd, one, text);
    AUTO(py) value = ctx_call_native(f->ctx, "test.all", &(py_args_t){ n, v, nkw, names, kwv }, &err);
    AUTO(py) shown = value != NULL ? py_repr(value) : py_strz(fail_text(&err));
    assert_string_equal(py_cstr(shown), want);
}

static void
test_bind_native(void **state)
{
    static const char odd[] = "{1: '\\x010'}";
    AUTO_FREE char *full = xasprintf(
        "{'a': %s, 'rest': ['\\x010', 1], 'only': '\\x010', 'kwargs': {'x': %s}}", odd, odd);
    AUTO_FREE char *least = xasprintf("{'a': %s, 'rest': [], 'only': [5], 'kwargs': {}}", odd);

    expect_native(*state, 3, 2, full);
    expect_native(*state, 1, 0, least);
    expect_native(*state, 1, 3, "all() got multiple values for argument 'a'");
    expect_native(*state, 0, 2, "all() missing 1 required positional argument: 'a'");
}

static void
test_call_prefix(void **state)
{
    fixture_t *f = *state;
    call_result_t res;

    call_run(f->ctx, "test.pin", NULL, NULL, &res);
    assert_string_equal(value_str(res.value, "test.pin", ""),
                        "'test.pin' is not available. Did you mean 'test.ping'?");
    assert_non_null(strstr(value_str(res.value, "test.ping", ""), "    Returns ``True``.\n"));
    assert_int_equal(json_object_size(res.value), 2);
    assert_int_equal(res.failed, FAIL_UNAVAILABLE);
    call_result_free(&res);
}

static void
test_call_pub(void **state)
{
    fixture_t *f = *state;
    json_auto_t *pub = json_pack("{s:s, s:s}", "jid", "1", "__pub_fun", "test.raw");
    json_auto_t *raw = NULL, *clean = NULL;
    fail_auto_t err = FAIL_INIT;

    assert_int_equal(call_function(f->ctx, "test.raw", NULL, pub, &raw, &err), 0);
    assert_string_equal(value_str(raw, "__pub_jid", ""), "1");
    assert_string_equal(value_str(raw, "__pub_fun", ""), "test.raw");
    assert_int_equal(call_function(f->ctx, "test.clean", NULL, pub, &clean, &err), 0);
    assert_int_equal(json_object_size(clean), 0);
}

static void
test_registry(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *near = registry_suggest(f->registry, NULL, "test.pign");
    AUTO_FREE char *module = registry_suggest(f->registry, NULL, "tets");
    AUTO_FREE char *nothing = registry_suggest(f->registry, NULL, "something.else");

    assert_int_equal(registry_check(f->registry, &err), 0);
    assert_ptr_equal(registry_find(f->registry, f->ctx, "test.more", &err), &extra_funcs[0]);
    assert_string_equal(near, "test.ping");
    assert_string_equal(module, "test");
    assert_null(nothing);
    assert_true(ctx_has(f->ctx, "test.ping"));
    assert_false(ctx_has(f->ctx, "pkg.install"));
}

/* The fixture's modules under options as a user writes them. */
static void
expect_with(fixture_t *f, const char *opts, const char *fun, const char *arg, const char *want, int retcode)
{
    json_auto_t *conf = json_loads(opts, 0, NULL);

    call_ctx_destroy(&f->ctx);
    f->ctx = call_ctx_new(
        &(call_env_t){ .registry = f->registry, .opts = conf, .id = "m001", .jid = "2026" });
    expect_call(f, fun, arg, want, retcode);
}

static void
test_allowed_modules(void **state)
{
    static const char ping[] = "test.ping", echo[] = "[5]";

    expect_with(*state, "{\"disable_modules\": [\"test\"]}", ping, "[]", "'test.ping' is not available.", 1);
    expect_with(*state, "{\"disable_modules\": [\"aptpkg\"]}", "pkg.install", "[]",
                "'pkg.install' is not available.", 1);
    expect_with(*state, "{\"disable_modules\": [\"tes\", \"x\"]}", ping, "[]", "True", 0);
    expect_with(*state, "{\"whitelist_modules\": [\"cmdmod\"]}", "test.echo", echo,
                "'test.echo' is not available.", 1);
    expect_with(*state, "{\"whitelist_modules\": [\"test\"]}", "test.echo", echo, "5", 0);
    expect_with(*state, "{\"whitelist_modules\": [\"test\"], \"disable_modules\": [\"test\"]}", ping, "[]",
                "'test.ping' is not available.", 1);
    expect_with(*state, "{\"whitelist_modules\": []}", ping, "[]", "True", 0);
}

static void
expect_refused(func_t f, const char *want)
{
    fail_auto_t err = FAIL_INIT;
    const plugin_t p = { .kind = PLUGIN_EXEC, .file = "x", .doc = "X", .funcs = &f, .n_funcs = 1 };
    const plugin_t *const one[] = { &p };
    registry_t *r = registry_new(PLUGIN_EXEC, one, 1);

    assert_int_equal(registry_check(r, &err), -EINVAL);
    assert_string_equal(fail_text(&err), want);
    registry_destroy(&r);
}

static void
test_registry_check(void **state)
{
    static const arg_t not_json[] = { ARG("a", ARG_ANY, "nul", "x"), ARGS_END };
    static const arg_t late[] = { ARG("a", ARG_ANY, "1", "x"), ARG("b", ARG_ANY, ARG_REQUIRED, "x"),
                                  ARGS_END };
    static const arg_t behind[] = { ARG("kw", ARG_ANY, ARG_STARSTAR, "x"), ARG("b", ARG_ANY, "1", "x"),
                                    ARGS_END };

    expect_refused((func_t){ "f", fn_ping, NULL, 0, NULL }, "x.c: f has no doc");
    expect_refused((func_t){ "f", fn_ping, NULL, 0, "Doc." }, "x.c: the doc of f has no CLI Example");
    expect_refused((func_t){ "f", fn_ping, not_json, 0, "CLI Example" },
                   "x.c: f: the default of 'a' is not JSON: nul");
    expect_refused((func_t){ "f", fn_ping, late, 0, "CLI Example" },
                   "x.c: f: required argument 'b' after one with a default");
    expect_refused((func_t){ "f", fn_ping, behind, 0, "CLI Example" },
                   "x.c: f: argument 'b' after the one that takes all keywords");
}

static void
test_doc(void **state)
{
    AUTO_FREE char *doc = func_doc(&funcs[0]);
    json_auto_t *spec = func_argspec(&funcs[2]);
    AUTO_FREE char *text = value_repr(spec);

    assert_string_equal(doc, "\n    Used to make sure the minion is up and responding. Not an ICMP ping.\n\n"
                             "    Returns ``True``.\n\n    CLI Example:\n\n        salt '*' test.ping\n    ");
    assert_string_equal(text,
                        "{'args': ['kind', 'text'], 'defaults': ['no'], 'varargs': None, 'kwargs': None}");
}

#define FIXTURE_TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

UNIT_MAIN(cmocka_unit_test(test_bind_as_python), cmocka_unit_test(test_arg_row),
          cmocka_unit_test(test_bind_types), FIXTURE_TEST(test_call_texts), FIXTURE_TEST(test_call_row),
          FIXTURE_TEST(test_bind_native), FIXTURE_TEST(test_call_prefix), FIXTURE_TEST(test_call_pub),
          FIXTURE_TEST(test_registry), FIXTURE_TEST(test_allowed_modules),
          cmocka_unit_test(test_registry_check), cmocka_unit_test(test_doc))
