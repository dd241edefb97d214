/* test_inner.c - the functions that a job calls by its arguments are found however the arguments are given. */
#include "master/operators/inner.h"
#include "salt/plugin.h"
#include "salt/value.h"
#include "unit/unit.h"

static int
no_call(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return -ENOSYS;
}

static const arg_t cross_args[] = {
    { "func", ARG_STR, ARG_REQUIRED, "x" },
    { "args", ARG_LIST, "null", "x" },
    ARGS_END,
};
static const arg_t keep_args[] = {
    { "name", ARG_STR, ARG_REQUIRED, "x" },
    { "kwargs", ARG_ANY, ARG_STARSTAR, "x" },
    ARGS_END,
};
static const func_t funcs[] = {
    { "ping", no_call, NULL, 0, "x" },
    { "cross", no_call, cross_args, 0, "x", .calls = "func" },
    { "keep", no_call, keep_args, 0, "x", .calls = "function name" },
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
        { "t.cross", "[]", "[]" },
        { "t.cross", "[7, \"cmd.run\"]", "[]" },
        { "t.cross", "[\"cmd.run\", [\"id\"]]", "[\"cmd.run\"]" },
        { "t.cross", "[\"func=cmd.run\"]", "[\"cmd.run\"]" },
        { "t.cross", "[\"func='cmd.run'\"]", "[\"cmd.run\"]" },
        { "t.cross", "[\"args=x\", \"cmd.run\"]", "[\"cmd.run\"]" },
        { "t.cross", "[{\"__kwarg__\": true, \"func\": \"cmd.run\"}]", "[\"cmd.run\"]" },
        { "t.cross", "[{\"__kwarg__\": true, \"func\": [\"cmd.run\"]}]", "[\"cmd.run\"]" },
        { "t.cross", "[\"t.cross\", [\"cmd.run\", [\"id\"]]]",
          "[\"t.cross\",\"t.cross\",\"cmd.run\",\"id\"]" },
        { "t.keep", "[\"a\", {\"__kwarg__\": true, \"function\": \"cmd.run\"}]", "[\"cmd.run\"]" },
        { "t.keep", "[\"a\", \"function=cmd.run\"]", "[\"cmd.run\"]" },
        { "t.keep", "[\"cmd.run\", \"function=\"]", "[\"cmd.run\"]" },
        { "t.keep", "[\"cmd.run\", {\"__kwarg__\": true, \"function\": [\"t.ping\"]}]", "[\"cmd.run\"]" },
        { "t.keep", "[\"cmd.run\"]", "[\"cmd.run\"]" },
    };
    AUTO(registry) modules = registry_new(PLUGIN_EXEC, rows, NELEMS(rows));

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *arg = json_loads(cases[i].arg, 0, NULL);
        json_auto_t *names = inner_functions(modules, cases[i].fun, arg);
        AUTO_FREE char *text = value_dump(names);
        json_auto_t *wanted = json_loads(cases[i].names, 0, NULL);
        if (!json_equal(names, wanted))
            fail_msg("%s %s: %s", cases[i].fun, cases[i].arg, text);
    }
}

UNIT_MAIN(cmocka_unit_test(test_names))
