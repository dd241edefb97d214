/* debconfmod.c - state module `debconf`: answers to the questions of Debian's packages, as
 * debconf-get-selections(1) shows and debconf-set-selections(1) takes them: [question, type, value].
 * Passwords are not shown. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* The answer as debconf has it: a boolean is true or false, other values are texts as Python shows them.
 * NEW. */
static char *
wanted_answer(const json_t *one)
{
    const json_t *value = value_get(one, "value");

    if (str_eq(value_str(one, "type", NULL), "boolean"))
        return xstrdup(value_truthy(value) ? "true" : "false");
    return value_pystr(value);
}

/* Gives one answer, or tells it. */
static int
give_answer(call_ctx_t *ctx, const json_t *args, const char *question, const json_t *one, const char *value,
            json_t *ret, fail_t *err)
{
    const char *shown = str_eq(value_str(one, "type", NULL), "password") ? "(password hidden)" : value;

    if (ctx_test(ctx)) {
        json_object_set_new(ret, "result", json_null());
        state_change(ret, question, value_fmt("New value: %s", shown));
        return 0;
    }
    json_auto_t *done = sub_call(ctx, err, "debconf.set", "{s:O, s:s, s:O, s:s}", "package",
                                 value_get(args, "name"), "question", question, "type",
                                 value_get(one, "type"), "value", value);
    if (done == NULL)
        return err->code;
    state_change(ret, question, json_string(shown));
    return 0;
}

/* Answers are compared with their type. Unchanged ones are named in the comment only when others have
 * changed. */
static int
debconf_answers(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *one;
    json_auto_t *now = sub_call(ctx, err, "debconf.show", "{s:O}", "name", value_get(args, "name"));
    buf_auto_t same = BUF_INIT;
    const char *question;

    if (now == NULL)
        return err->code;
    json_object_foreach (value_get(args, "data"), question, one) {
        AUTO_FREE char *value = wanted_answer(one);
        if (value_get(one, "type") == NULL || value_get(one, "value") == NULL)
            return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                             "data: %s needs a type and a value, {type: boolean, value: true}", question);
        json_auto_t *row = json_pack("[s, O, s]", question, value_get(one, "type"), value);
        if (value_has(now, row))
            buf_printf(&same, "%s%s ", same.len == 0 ? "Unchanged answers: " : "", question);
        else if (give_answer(ctx, args, question, one, value, ret, err) < 0)
            return err->code;
    }
    state_ret_comment(
        ret, json_string(state_changed(ret) ? buf_str(&same) : "All specified answers are already set"));
    return 0;
}

/* Selections of a file are not compared with what there is: the run sets them all, and reports no changes. */
static int
debconf_file(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const dicts[][2] = { { "context", "Context" }, { "defaults", "Defaults" } };
    json_t *ret = *ret_value = state_ret_args(args), *source = value_get(args, "source"),
           *env = value_get(args, "saltenv");
    json_auto_t *saltenv = json_is_string(env) ? json_incref(env) : json_string(ctx_saltenv(ctx));

    for (size_t i = 0; i < NELEMS(dicts); i++) {
        json_t *given = value_get(args, dicts[i][0]);
        if (!json_is_null(given) && !json_is_object(given))
            return state_ret_set(ret, STATE_FALSE, "%s must be formed as a dict", dicts[i][1]);
    }
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Debconf selections would have been set.");
    int done = value_truthy(value_get(args, "template"))
                   ? sub_call_bool(ctx, err, "debconf.set_template", "{s:O, s:O, s:O, s:O, s:O}", "path",
                                   source, "template", value_get(args, "template"), "context",
                                   value_get(args, "context"), "defaults", value_get(args, "defaults"),
                                   "saltenv", saltenv)
                   : sub_call_bool(ctx, err, "debconf.set_file", "{s:O, s:O}", "path", source, "saltenv",
                                   saltenv);
    if (done < 0)
        return done;
    return done > 0 ? state_ret_set(ret, STATE_TRUE, "Debconf selections were set.")
                    : state_ret_set(ret, STATE_FALSE, "Unable to set debconf selections from file.");
}

static const char *
state_debconf_unavailable(call_ctx_t *ctx)
{
    if (!str_eq(value_str(ctx_grains(ctx), "os_family", ""), "Debian"))
        return "debconf state only runs on Debian systems";
    return ctx_has(ctx, "debconf.show") ? NULL : "debconf module could not be loaded";
}

static const arg_t set_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The package"),
    ARG("data", ARG_DICT, ARG_REQUIRED, "{question: {type: ..., value: ...}}"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE), ARGS_END
};
static const arg_t file_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Any name"),
    ARG("source", ARG_STR, ARG_REQUIRED, "The file: salt://path/to/selections"),
    ARG("template", ARG_STR, "null", "The engine: jinja"),
    ARG("context", ARG_ANY, "null", "Variables"),
    ARG("defaults", ARG_ANY, "null", "Variables that `context` has not"),
    ARG("saltenv", ARG_STR, "null", "The environment of the file"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE),
    ARGS_END
};

static const func_t funcs[] = {
    { "set", debconf_answers, set_args, 0, "Ensure that questions of a package have these answers." },
    { "set_file", debconf_file, file_args, 0, "Answer questions from a file, or a template." },
};

PLUGIN(state, debconfmod, .provides = "debconf", .doc = "Answers to questions of packages", FUNCS(funcs),
       .unavailable = state_debconf_unavailable);
