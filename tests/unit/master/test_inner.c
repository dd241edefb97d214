/* test_inner.c - the functions that a job calls by its arguments are found however the arguments are given. */
#include "common/plugin/call.h"
#include "master/operators/inner.h"
#include "salt/limits.h"
#include "salt/plugin.h"
#include "salt/value.h"
#include "unit/unit.h"

static int
no_call(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return -ENOSYS;
}

static const arg_t cross_args[] = {
    ARG("func", ARG_STR, ARG_REQUIRED, "x"),
    ARG("args", ARG_LIST, "null", "x"),
    ARGS_END,
};
static const arg_t keep_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "x"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "x"),
    ARGS_END,
};
static const func_t funcs[] = {
    { "ping", no_call, NULL, 0, "x" },
    { "cross", no_call, cross_args, FN_CALLS, "x" },
    { "keep", no_call, keep_args, FN_CALLS, "x" },
};
static const plugin_t plugin = { .kind = PLUGIN_EXEC, .file = "t", .doc = "x", FUNCS(funcs) };
static const plugin_t *const rows[] = { &plugin };

static void
test_names(void **state)
{
    static const struct {
        const char *fun, *arg, *names;
    } cases[] = {
        { "t.ping", "[\"cmd.run\"]", "[]" },
        { "no.such", "[\"cmd.run\"]", "[]" },
        { "nodot", "[\"cmd.run\"]", "[]" },
        { "t.cross", "null", "[]" },
        { "t.cross", "[]", "[]" },
        { "t.cross", "[7, \"cmd.run\"]", "[\"cmd.run\"]" },
        { "t.cross", "[\"cmd.run\", [\"id\", \"1.5\", \"a b.c\", \".x\", \"x.\", \"/a.b\"]]",
          "[\"cmd.run\"]" },
        { "t.cross", "[\"func=cmd.run\"]", "[\"cmd.run\"]" },
        { "t.cross", "[\"func='cmd.run'\"]", "[\"cmd.run\"]" },
        { "t.cross", "[\"func=\\\"cmd\\\\x2erun\\\"\"]", "[\"cmd.run\"]" },
        { "t.cross", "[\"func=!!binary Y21kLnJ1bg==\"]", "[\"cmd.run\"]" },
        { "t.cross", "[\"func=cmd.run\\n\"]", "[\"cmd.run\"]" },
        { "t.cross", "[\"args=[x, {y: [cmd.run]}]\"]", "[\"cmd.run\"]" },
        { "t.cross", "[\"args=[x, {cmd.run: 1}]\"]", "[\"cmd.run\"]" },
        { "t.cross", "[\"args=['func=cmd.run']\"]", "[\"cmd.run\"]" },
        { "t.cross", "[\"cmd.run=x\"]", "[\"cmd.run\"]" },
        { "t.cross", "[{\"__kwarg__\": true, \"func\": \"cmd.run\"}]", "[\"cmd.run\"]" },
        { "t.cross", "[{\"__kwarg__\": 1, \"func\": [\"cmd.run\"]}]", "[\"cmd.run\"]" },
        { "t.cross", "[{\"__kwarg__\": true}, {\"x\": {\"__kwarg__\": true, \"y\": \"cmd.run\"}}]",
          "[\"cmd.run\"]" },
        { "t.cross", "[\"t.cross\", [\"cmd.run\", [\"id\"]]]", "[\"t.cross\",\"cmd.run\"]" },
        { "t.keep", "[\"a\", \"function=cmd.run, t.ping\"]",
          "[\"t.ping\",\"cmd.run\",\"t.ping\",\"cmd.run\"]" },
        /* Lists with commas, each item of which the next function takes as a word. */
        { "t.cross", "[\"x,func=\\\"cmd\\\\x2erun\\\"\"]", "[\"cmd.run\"]" },
        { "t.cross", "[\"func=\\\"cmd\\\\x2erun\\\",x\"]", "[\"cmd.run\"]" },
        { "t.cross", "[\"args=x , func=\\\"cmd\\\\x2erun\\\"\"]", "[\"cmd.run\",\"cmd.run\"]" },
        { "t.cross", "[\"x,y='a,func=!!binary Y21kLnJ1bg=='\"]", "[\"cmd.run\"]" },
        { "t.keep", "[{\"x\": {\"cmd.run\": []}}]", "[\"cmd.run\"]" },
        { "t.keep", "[\"m\u00f6dul.run\"]", "[\"m\u00f6dul.run\"]" },
    };
    AUTO(registry) modules = registry_new(PLUGIN_EXEC, rows, NELEMS(rows));

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *arg = json_loads(cases[i].arg, JSON_DECODE_ANY, NULL);
        json_auto_t *names = json_array(), *wanted = json_loads(cases[i].names, 0, NULL);
        fail_auto_t err = FAIL_INIT;
        assert_int_equal(inner_functions(modules, cases[i].fun, arg, NULL, names, &err), 0);
        AUTO_FREE char *text = value_dump(names);
        if (!json_equal(names, wanted))
            fail_msg("%s %s: %s", cases[i].fun, cases[i].arg, text);
    }
}

/* The functions that the minion's own path of a call hands to `took`: call.c on the same arguments. */
typedef struct ran {
    json_t *names;
} ran_t;

static int
took(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const keys[] = { "func", "name" };
    ran_t *ran = ctx_private(ctx);
    json_t *kwargs = value_get(args, "kwargs");

    for (size_t i = 0; i < NELEMS(keys); i++)
        if (json_is_string(value_get(args, keys[i])))
            json_array_append(ran->names, value_get(args, keys[i]));
    if (json_is_string(value_get(kwargs, "function")))
        json_array_append(ran->names, value_get(kwargs, "function"));
    *ret_value = json_true();
    return 0;
}

static const func_t minion_funcs[] = {
    { "cross", took, cross_args, FN_CALLS, "x" },
    { "keep", took, keep_args, FN_CALLS, "x" },
};
static const plugin_t minion_plugin = { .kind = PLUGIN_EXEC, .file = "t", .doc = "x", FUNCS(minion_funcs) };
static const plugin_t *const minion_rows[] = { &minion_plugin };

/* A number below `most` from a sequence that is the same in each run. */
static size_t
drawn(uint64_t *state, size_t most)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (size_t) (*state >> 33) % most;
}

/* Words and objects in any order: what the minion takes for a function is among what is found. */
static void
test_as_the_minion(void **state)
{
    static const char *const pieces[] = {
        "\"cmd.run\"",
        "\"func=cmd.run\"",
        "\"func=t.ping\"",
        "\"name='file.write'\"",
        "\"name=x\"",
        "\"function=cmd.shell\"",
        "{\"__kwarg__\": true, \"func\": \"cmd.exec_code\"}",
        "{\"__kwarg__\": true, \"func\": \"t.ping\"}",
        "{\"__kwarg__\": true, \"name\": \"cmd.script\", \"function\": \"t.ping\"}",
        "{\"__kwarg__\": false, \"func\": \"cmd.retcode\"}",
        "[\"func=cmd.run_all\"]",
        "\"func=\\\"file\\\\x2eread\\\"\"",
    };
    ran_t ran = { 0 };
    AUTO(registry) modules = registry_new(PLUGIN_EXEC, minion_rows, NELEMS(minion_rows));
    uint64_t seed = 1;
    size_t called = 0;

    for (int round = 0; round < 4000; round++) {
        json_auto_t *arg = json_array(), *names = json_array();
        for (size_t n = drawn(&seed, 5); n > 0; n--)
            json_array_append_new(arg,
                                  json_loads(pieces[drawn(&seed, NELEMS(pieces))], JSON_DECODE_ANY, NULL));
        const char *fun = drawn(&seed, 2) == 0 ? "t.cross" : "t.keep";
        const call_env_t env = { .registry = modules, .private_data = &ran };
        call_ctx_t *ctx = call_ctx_new(&env);
        call_result_t res;
        ran.names = json_array();
        call_run(ctx, fun, arg, NULL, &res);
        call_result_free(&res);
        call_ctx_destroy(&ctx);
        fail_auto_t err = FAIL_INIT;
        assert_int_equal(inner_functions(modules, fun, arg, NULL, names, &err), 0);
        json_t *one;
        size_t i;
        json_array_foreach (ran.names, i, one) {
            bool is_name = strchr(json_string_value(one), '.') != NULL;
            called += is_name;
            AUTO_FREE char *text = value_dump(arg);
            if (is_name && !value_has(names, one))
                fail_msg("%s %s calls %s, which is not found", fun, text, json_string_value(one));
        }
        json_decref(ran.names);
    }
    assert_true(called > 500);
}

/* Many values, and few that stand for many, are refused before they are made. */
static void
test_bounds(void **state)
{
    AUTO(registry) modules = registry_new(PLUGIN_EXEC, rows, NELEMS(rows));
    json_auto_t *names = json_array(), *many = json_array();
    json_auto_t *bomb = json_pack(
        "[s]", "x={a: &a [y,y,y,y,y,y,y,y,y,y], b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a], c: &c "
               "[*b,*b,*b,*b,*b,*b,*b,*b,*b,*b], d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c], e: [*d,*d,*d]}");
    AUTO_FREE char *word = xcalloc(1, LIMIT_INNER_TEXT + 2);
    memset(word, 'x', LIMIT_INNER_TEXT + 1);
    word[1] = '=';
    json_auto_t *longer = json_pack("[s]", word);
    match_work_t work;
    fail_auto_t err = FAIL_INIT;

    assert_int_equal(inner_functions(modules, "t.cross", bomb, NULL, names, &err), -E2BIG);
    fail_clear(&err);
    assert_int_equal(inner_functions(modules, "t.cross", longer, NULL, names, &err), -E2BIG);
    fail_clear(&err);
    for (int i = 0; i < 2000; i++)
        json_array_append_new(many, json_string("some text"));
    match_work_begin(&work, 10000, 10000);
    assert_int_equal(inner_functions(modules, "t.cross", many, &work, names, &err), -E2BIG);
    assert_non_null(strstr(fail_text(&err), "too large to look for the functions"));
    /* Nothing is looked at where nothing is called. */
    match_work_begin(&work, 10000, 10000);
    assert_int_equal(inner_functions(modules, "t.ping", bomb, &work, names, &err), 0);
    assert_int_equal(work.steps, 10000);
}

UNIT_MAIN(cmocka_unit_test(test_names), cmocka_unit_test(test_as_the_minion), cmocka_unit_test(test_bounds))
