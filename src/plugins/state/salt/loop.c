/* loop.c - state module `loop`: calls a function again and again until its return is as wanted. Conditions
 * are expressions of Python as far as templates have them, evaluated in the sandbox of templates: they
 * reach nothing but the return. Times are seconds, as floats or integers; the last call may run past the
 * timeout. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/jinja/jinja.h"
#include "common/match/match.h"
#include "common/py/py_host.h"
#include "common/py/py_json.h"
#include "salt/state.h"

/* Salt's words against a period or timeout that is no number; NULL when all is well. A boolean is a number in
 * Python. */
static const char *
bad_times(const json_t *args)
{
    if (!json_is_number(value_get(args, "period")) && !json_is_boolean(value_get(args, "period")))
        return "Period must be specified as a float in seconds";
    if (!json_is_number(value_get(args, "timeout")) && !json_is_boolean(value_get(args, "timeout")))
        return "Timeout must be specified as a float in seconds";
    return NULL;
}

/* ---- conditions --------------------------------------------------------------------------------- */

/* One of Python's functions of a value: len, str, int, float, bool. */
static py_t *
condition_call(const char *name, const py_args_t *args)
{
    if (args->n != 1 || args->nkw > 0)
        return py_raise(&py_TypeError, "%s() takes one argument here", name);
    py_t *v = args->v[0];
    if (strcmp(name, "str") == 0)
        return py_tostr(v);
    if (strcmp(name, "int") == 0)
        return py_toint(v, 10);
    if (strcmp(name, "float") == 0)
        return py_tofloat(v);
    int64_t n = strcmp(name, "len") == 0 ? py_len(v) : py_truth(v);
    return n < 0 ? NULL : strcmp(name, "len") == 0 ? py_int(n) : py_bool(n > 0);
}

#define CONDITION_FUNCTIONS(X) X(len) X(str) X(int) X(float) X(bool)
#define DEFINE(word)                                                                                         \
    static py_t *condition_##word(void *data, const py_args_t *args)                                         \
    {                                                                                                        \
        return condition_call(#word, args);                                                                  \
    }
CONDITION_FUNCTIONS(DEFINE)
#undef DEFINE

static const py_fn_class_t condition_functions[] = {
#define LIST(word) { .name = #word, .fn = condition_##word },
    CONDITION_FUNCTIONS(LIST)
#undef LIST
};

/* The condition as templates write it: after `is` and `is not`, outside of texts, None, True and False are
 * their tests none, true and false. NEW. */
static char *
condition_text(const char *condition)
{
    static const char *const words[] = { "is None",     "is True",     "is False",
                                         "is not None", "is not True", "is not False" };
    char *text = xstrdup(condition), quote = '\0';

    for (char *p = text; *p != '\0'; p++) {
        if (quote != '\0') {
            if (*p == '\\' && p[1] != '\0')
                p++;
            else if (*p == quote)
                quote = '\0';
            continue;
        }
        if (*p == '\'' || *p == '"')
            quote = *p;
        for (size_t i = 0; quote == '\0' && i < NELEMS(words); i++)
            if (str_starts(p, words[i]) && (p == text || p[-1] == ' ' || p[-1] == ')' || p[-1] == ']')) {
                char *last = p + (strrchr(words[i], ' ') + 1 - words[i]);
                *last = (char) (*last - 'A' + 'a');
            }
    }
    return text;
}

/* 1 when the condition holds for the return, 0 when not; negative with *err. `checks`: whether it can be read
 * is asked alone. */
static int
condition_holds(const char *condition, const json_t *returned, bool checks, fail_t *err)
{
    static const jinja_options_t plain = { .sandboxed = true,
                                           .immutable = true,
                                           .undefined = &py_StrictUndefined };
    AUTO_FREE char *text = condition_text(condition);
    const jinja_source_t source = { .text = text, .len = strlen(text) };
    jinja_error_t e = JINJA_ERROR_INIT;
    jinja_t *engine = jinja_new(&plain, NULL);
    AUTO(py) names = py_dict();
    int truth = -1;

    py_dict_sets_new(names, "m_ret", py_from_json(returned));
    for (size_t i = 0; i < NELEMS(condition_functions); i++)
        py_dict_sets_new(names, condition_functions[i].name, py_func(&condition_functions[i], NULL));
    AUTO(py) value = jinja_evaluate(engine, &source, names, NULL, &e);
    if (value != NULL)
        truth = py_truth(value);
    /* An error of the template's syntax belongs to the condition; any other one is of this return, and a
     * check before the first call has none. */
    bool unread = e.cls != NULL && str_starts(e.cls, "Template");
    if (truth < 0 && !checks)
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "%s", e.message != NULL ? e.message : py_raised_text());
    else if (truth < 0 && unread)
        (void) fail_kind(
            err, FAIL_COMMAND, -EINVAL,
            "condition: '%s' is no expression that templates have (%s): m_ret, operators, methods of values, "
            "len, str, int, float, bool",
            condition, e.message);
    py_clear();
    jinja_error_free(&e);
    jinja_destroy(&engine);
    return err->code != 0 ? err->code : checks ? 0 : truth;
}

/* The condition is read once before the first call, so that one that can't be evaluated fails a test as
 * well. */
static int
loop_until(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *list = value_get(args, "m_args"),
           *words = value_get(args, "m_kwargs");
    const char *name = value_str(args, "name", ""), *times = bad_times(args);
    const char *condition = value_str(args, "condition", NULL);
    json_auto_t *none = json_null();
    int held = 0;

    if (!ctx_has(ctx, name))
        return state_ret_set(ret, STATE_FALSE, "Cannot find module %s", name);
    if (condition == NULL)
        return state_ret_set(ret, STATE_FALSE, "An exit condition must be specified");
    if (times != NULL)
        return state_ret_set(ret, STATE_FALSE, "%s", times);
    if (condition_holds(condition, none, true, err) < 0)
        return err->code;
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "The execution module %s will be run", name);
    int64_t end = clock_mono_us() + clock_us_of(value_num(args, "timeout", 0));
    while (clock_mono_us() < end) {
        json_auto_t *returned = NULL;
        if (ctx_call(ctx, name, list, words, &returned, err) < 0 ||
            (held = condition_holds(condition, returned, false, err)) < 0)
            return err->code;
        if (held > 0)
            return state_ret_set(ret, STATE_TRUE, "Condition %s was met", condition);
        clock_pause(value_num(args, "period", 1));
    }
    return state_ret_set(ret, STATE_FALSE, "Timed out while waiting for condition %s", condition);
}

/* ---- operators ---------------------------------------------------------------------------------- */

/* Those of Python's module operator that compare; PY_GE + 1: contains. */
static const struct loop_operator {
    const char *name;
    int op;
} operators[] = { { "eq", PY_EQ }, { "ne", PY_NE }, { "lt", PY_LT },          { "le", PY_LE },
                  { "gt", PY_GT }, { "ge", PY_GE }, { "contains", PY_GE + 1 } };

static const struct loop_operator *
operator_of(const char *name)
{
    for (size_t i = 0; i < NELEMS(operators); i++)
        if (strcmp(operators[i].name, name) == 0)
            return &operators[i];
    return NULL;
}

/* 1 when the return compares as wanted, by an operator, salt.utils.data.subdict_match, or a function;
 * negative with *err. */
static int
compares(call_ctx_t *ctx, const char *name, json_t *returned, json_t *expected, fail_t *err)
{
    const struct loop_operator *op = operator_of(name);
    json_auto_t *pair = json_pack("[O, O]", returned, expected), *said = NULL;

    if (ctx_has(ctx, name))
        return ctx_call(ctx, name, pair, NULL, &said, err) < 0 ? err->code : value_truthy(said);
    if (op == NULL) {
        AUTO_FREE char *expr = value_pystr(expected);
        return match_subdict(returned, expr, ":", false, false);
    }
    AUTO(py) a = py_from_json(returned);
    AUTO(py) b = py_from_json(expected);
    int holds = op->op > PY_GE ? py_in(b, a) : py_compare(a, b, (py_cmp_t) op->op);
    if (holds < 0)
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "%s", py_raised_text());
    py_clear();
    return holds < 0 ? err->code : holds;
}

/* A call that fails ends the state: only its return is waited for. */
static int
loop_until_no_eval(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *expected = value_get(args, "expected");
    json_t *list = value_get(args, "args"), *words = value_get(args, "kwargs");
    const char *name = value_str(args, "name", ""), *op = value_str(args, "compare_operator", "");
    const char *times = bad_times(args);
    AUTO_FREE char *wanted = value_pystr(expected);
    size_t n = 0;

    if (!ctx_has(ctx, name))
        return state_ret_set(ret, STATE_FALSE, "Module.function \"%s\" is unavailable.", name);
    if (times != NULL)
        return state_ret_set(ret, STATE_FALSE, "%s", times);
    if (!ctx_has(ctx, op) && operator_of(op) == NULL && strcmp(op, "data.subdict_match") != 0)
        return state_ret_set(ret, STATE_FALSE, "Invalid operator \"%s\" supplied.", op);
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Would have waited for \"%s\" to produce \"%s\".", name,
                             wanted);
    clock_pause(value_num(args, "init_wait", 0));
    int64_t end = clock_mono_us() + clock_us_of(value_num(args, "timeout", 0));
    while (clock_mono_us() < end) {
        json_auto_t *returned = NULL;
        fail_auto_t why = FAIL_INIT;
        n++;
        if (ctx_call(ctx, name, list, words, &returned, &why) < 0)
            return state_ret_set(ret, STATE_FALSE, "Exception occurred while executing %s: %s", name,
                                 why.text);
        int holds = compares(ctx, op, returned, expected, err);
        if (holds < 0)
            return holds;
        if (holds > 0)
            return state_ret_set(ret, STATE_TRUE, "Call provided the expected results in %zu attempts", n);
        clock_pause(value_num(args, "period", 1));
    }
    return state_ret_set(ret, STATE_FALSE, "Call did not produce the expected result after %zu attempts", n);
}

/* ---- table -------------------------------------------------------------------------------------- */

#define NAME_ROW    ARG("name", ARG_STR, ARG_REQUIRED, "The function")
#define PERIOD_ROW  ARG("period", ARG_ANY, "1", "Seconds between calls")
#define TIMEOUT_ROW ARG("timeout", ARG_ANY, "60", "Seconds after which it gives up")

static const arg_t until_args[] = { NAME_ROW,
                                    ARG("m_args", ARG_LIST, "null", "Its arguments"),
                                    ARG("m_kwargs", ARG_DICT, "null", "Its keyword arguments"),
                                    ARG("condition", ARG_STR, "null",
                                        "An expression about m_ret, the return"),
                                    PERIOD_ROW,
                                    TIMEOUT_ROW,
                                    ARGS_END };
static const arg_t no_eval_args[] = {
    NAME_ROW,
    ARG("expected", ARG_ANY, ARG_REQUIRED, "What it is compared with"),
    ARG("compare_operator", ARG_STR, "\"eq\"",
        "eq, ne, lt, le, gt, ge, contains, data.subdict_match, or a function"),
    TIMEOUT_ROW,
    PERIOD_ROW,
    ARG("init_wait", ARG_ANY, "0", "Seconds before the first call"),
    ARG("args", ARG_LIST, "null", "Its arguments"),
    ARG("kwargs", ARG_DICT, "null", "Its keyword arguments"),
    ARGS_END
};

static const func_t funcs[] = {
    { "until", loop_until, until_args, 0, "Call a function until a condition holds for its return." },
    { "until_no_eval", loop_until_no_eval, no_eval_args, 0,
      "Call a function until its return compares as wanted." },
};

PLUGIN(state, loop, .doc = "Waiting for what a function returns", FUNCS(funcs));
