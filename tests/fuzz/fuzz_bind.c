/* fuzz_bind.c - binds arguments: the first byte chooses a function's signature, the rest is its argument list
 * as JSON. Every declared argument is bound with its type, or the failure has a text.
 */
#include "common/base/buf.h"
#include "common/plugin/call.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The function under test: returns the bound arguments. */
static int
echo_args(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_incref(args);
    return 0;
}

static const arg_t typed[] = {
    ARG("s", ARG_STR, ARG_REQUIRED, "x"), ARG("i", ARG_INT, "5", "x"),
    ARG("f", ARG_FLOAT, "null", "x"),     ARG("b", ARG_BOOL, "true", "x"),
    ARG("l", ARG_LIST, "[]", "x"),        ARG("d", ARG_DICT, "{}", "x"),
    ARG("a", ARG_ANY, "null", "x"),       ARGS_END,
};
static const arg_t stars[] = {
    ARG("a", ARG_ANY, ARG_REQUIRED, "x"),
    ARG("r", ARG_ANY, ARG_STAR, "x"),
    ARG("only", ARG_INT, "1", "x"),
    ARG("k", ARG_ANY, ARG_STARSTAR, "x"),
    ARGS_END,
};
static const arg_t two[] = { ARG("a", ARG_STR, ARG_REQUIRED, "x"), ARG("b", ARG_STR, ARG_REQUIRED, "x"),
                             ARGS_END };

static const func_t funcs[] = {
    { "none", echo_args, NULL, 0, "x" },
    { "typed", echo_args, typed, 0, "x" },
    { "stars", echo_args, stars, FN_RAW_KWARGS, "x" },
    { "two", echo_args, two, 0, "x" },
};
PLUGIN(exec, fuzz, .doc = "x", FUNCS(funcs));

/* True when a bound value has its row's type, or is the default null. */
static bool
has_type(const json_t *v, const arg_t *row)
{
    static const int types[] = {
        [ARG_STR] = JSON_STRING, [ARG_INT] = JSON_INTEGER, [ARG_FLOAT] = JSON_REAL,
        [ARG_BOOL] = JSON_TRUE,  [ARG_LIST] = JSON_ARRAY,  [ARG_DICT] = JSON_OBJECT,
    };

    if (arg_type(row) == ARG_ANY || (json_is_null(v) && arg_is(row, "null")))
        return true;
    return (json_is_boolean(v) ? JSON_TRUE : (int) json_typeof(v)) == types[arg_type(row)];
}

static void
check_bound(const func_t *f, const json_t *bound)
{
    for (const arg_t *row = f->args; row != NULL && row->text != NULL; row++) {
        const json_t *v = json_object_get(bound, arg_name(row));
        salt_assert(v != NULL && has_type(v, row));
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const plugin_t *const plugins[] = { &exec_fuzz };
    call_result_t res;

    if (size < 2 || size > 65536)
        return 0;
    json_auto_t *list = value_parse((const char *) data + 1, size - 1, size, "input", NULL);
    if (!json_is_array(list))
        return 0;
    const func_t *f = &funcs[data[0] % NELEMS(funcs)];
    AUTO_FREE char *fun = xasprintf("fuzz.%s", f->name);
    registry_t *registry = registry_new(PLUGIN_EXEC, plugins, NELEMS(plugins));
    call_ctx_t *ctx = call_ctx_new(&(call_env_t){ .registry = registry });
    json_auto_t *pub = json_pack("{s:s}", "jid", "1");

    call_run(ctx, fun, list, pub, &res);
    if (res.failed == FAIL_GENERIC && json_is_object(res.value))
        check_bound(f, res.value);
    else
        salt_assert(json_is_string(res.value));
    call_result_free(&res);
    call_ctx_destroy(&ctx);
    registry_destroy(&registry);
    return 0;
}
