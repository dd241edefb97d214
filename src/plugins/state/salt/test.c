/* test.c - state module `test`: states that succeed, fail and change as they are told, and checks of the
 * pillar. They touch nothing; requisites, outputs and reactions are tried with them. Comments and the
 * pretended change are Salt's, which scripts compare. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "salt/state.h"

/* ---- fixed outcomes ------------------------------------------------------------------------ */

/* A **kwargs value, or the default. */
static const char *
comment_or(const json_t *args, const char *dflt)
{
    return value_str(value_get(args, "kwargs"), "comment", dflt);
}

/* The change of all functions that claim one. */
static void
pretend_change(json_t *ret)
{
    state_change_from(ret, "testing", json_string("Unchanged"), json_string("Something pretended to change"));
}

static int
test_succeed_without_changes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    return state_ret_set(*ret_value, STATE_TRUE, "%s", comment_or(args, "Success!"));
}

static int
test_nop(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    return state_ret_set(*ret_value, STATE_TRUE, "Success!");
}

static int
test_fail_without_changes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    return state_ret_set(*ret_value, STATE_FALSE, "%s",
                         ctx_test(ctx) ? "If we weren't testing, this would be a failure!"
                                       : comment_or(args, "Failure!"));
}

static int
test_succeed_with_changes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    pretend_change(*ret_value);
    if (ctx_test(ctx))
        return state_ret_set(*ret_value, STATE_NONE,
                             "If we weren't testing, this would be successful with changes");
    return state_ret_set(*ret_value, STATE_TRUE, "%s", comment_or(args, "Success!"));
}

static int
test_fail_with_changes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    pretend_change(*ret_value);
    if (ctx_test(ctx))
        return state_ret_set(*ret_value, STATE_NONE,
                             "If we weren't testing, this would be failed with changes");
    return state_ret_set(*ret_value, STATE_FALSE, "%s", comment_or(args, "Failure!"));
}

/* ---- as configured ------------------------------------------------------------------------- */

/* True, False or "Random". 1, 0, or negative with *err. */
static int
choice(const json_t *args, const char *option, fail_t *err)
{
    const json_t *v = value_get(args, option);

    if (json_is_boolean(v))
        return json_is_true(v);
    if (json_is_string(v) && strcasecmp(json_string_value(v), "random") == 0)
        return (int) arc4random_uniform(2);
    return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                     "You have specified the state option '%s' with invalid arguments. It must be either "
                     "True, False, or 'Random'",
                     option);
}

/* Result and changes as the SLS file says, or at random. In test mode a failure is None like a success,
 * unless `allow_test_mode_failure`. */
static int
test_configurable_test_state(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = state_ret_args(args);
    json_t *comment = value_get(args, "comment");
    int changes = choice(args, "changes", err), result = changes >= 0 ? choice(args, "result", err) : -EINVAL;

    if (result < 0)
        return -EINVAL;

    json_t *warnings = value_get(args, "warnings");
    if (json_is_string(warnings))
        json_object_set_new(ret, "warnings", json_pack("[O]", warnings));
    else if (json_is_array(warnings))
        json_object_set(ret, "warnings", warnings);
    else if (!json_is_null(warnings)) {
        fail_kind(err, FAIL_INVOCATION, -EINVAL,
                  "You have specified the state option 'warnings' with invalid arguments. It must be "
                  "a string or a list of strings");
        return -EINVAL;
    }

    if (changes > 0)
        pretend_change(ret);
    json_object_set_new(ret, "result", json_boolean(result));
    json_object_set(ret, "comment", comment);
    if (ctx_test(ctx)) {
        if (result > 0 || !value_truthy(value_get(args, "allow_test_mode_failure")))
            json_object_set_new(ret, "result",
                                json_is_false(value_get(args, "changes")) ? json_true() : json_null());
        if (!value_truthy(comment))
            json_object_set_new(ret, "comment", json_string("This is a test"));
    }
    *ret_value = json_incref(ret);
    return 0;
}

static int
test_show_notification(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *text = value_get(args, "text");

    if (!value_truthy(text))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Missing required argument text.");
    *ret_value = state_ret_args(args);
    state_ret_comment(*ret_value, json_incref(text));
    return 0;
}

/* ---- mod_watch ----------------------------------------------------------------------------- */

/* A **kwargs value, or `dflt`, which is TAKEN. NEW. */
static json_t *
kwarg_or(const json_t *args, const char *key, json_t *dflt)
{
    json_t *v = value_get(value_get(args, "kwargs"), key);

    if (v == NULL)
        return dflt;
    json_decref(dflt);
    return json_incref(v);
}

/* Run in place of a state that watches, when something watched has changed: tells which. Keywords of the SLS
 * replace parts of the return. */
static int
test_mod_watch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *reqs = value_get(value_get(ctx_chunk(ctx), "__reqs__"), "watch"), *changed = json_array(), *req;
    json_t *changes = json_pack("{s:o}", "Requisites with changes", changed);
    size_t i;

    json_array_foreach (reqs, i, req) {
        AUTO_FREE char *tag = state_tag(req);
        if (state_changed(value_get(ctx_running(ctx), tag)))
            json_array_append_new(
                changed, value_fmt("%s: %s", value_str(req, "state", ""), value_str(req, "__id__", "")));
    }
    *ret_value = json_pack("{s:O, s:o, s:o, s:o}", "name", value_get(args, "name"), "result",
                           kwarg_or(args, "result", json_true()), "comment",
                           kwarg_or(args, "comment", json_string("Watch statement fired.")), "changes",
                           kwarg_or(args, "changes", changes));
    return 0;
}

/* ---- check_pillar -------------------------------------------------------------------------- */

static bool
is_bool(const json_t *v)
{
    return json_is_boolean(v);
}

/* As in Python, True and False are integers too. */
static bool
state_test_is_int(const json_t *v)
{
    return json_is_integer(v) || json_is_boolean(v);
}

static bool
is_str(const json_t *v)
{
    return json_is_string(v);
}

static bool
state_test_is_list(const json_t *v)
{
    return json_is_array(v);
}

static bool
is_dict(const json_t *v)
{
    return json_is_object(v);
}

static const struct {
    const char *arg;
    bool (*fits)(const json_t *v); /* NULL: any type */
    const char *shown;             /* as Python shows the type */
} kinds[] = {
    { "present", NULL, "None" },
    { "boolean", is_bool, "<class 'bool'>" },
    { "integer", state_test_is_int, "<class 'int'>" },
    { "string", is_str, "(<class 'str'>,)" },
    { "listing", state_test_is_list, "<class 'list'>" },
    { "dictionary", is_dict, "<class 'dict'>" },
};

/* Missing keys and values of other types fail the state. Keys are paths with ":" between; a value of None
 * counts as missing. */
static int
test_check_pillar(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *failed = json_object(), *fine = json_object();
    buf_auto_t text = BUF_INIT;
    bool any = false;
    const char *key;
    json_t *why;

    for (size_t k = 0; k < NELEMS(kinds); k++)
        any = any || value_truthy(value_get(args, kinds[k].arg));
    if (!any)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Missing required argument text.");
    for (size_t k = 0; k < NELEMS(kinds); k++) {
        /* {key: why}, with null for a key that is not there. */
        json_t *given = value_get(args, kinds[k].arg), *word;
        json_auto_t *list = json_is_string(given) ? json_pack("[O]", given) : json_incref(given);
        size_t i;
        json_array_foreach (list, i, word) {
            AUTO_FREE char *path = value_pystr(word);
            const json_t *v = value_path(ctx_pillar(ctx), path, ":");
            if (v == NULL || json_is_null(v))
                json_object_set_new(failed, path, json_null());
            else if (kinds[k].fits != NULL && !kinds[k].fits(v))
                json_object_set_new(failed, path, json_string(kinds[k].shown));
            else
                json_object_set_new(fine, path, json_string(kinds[k].shown));
        }
    }
    json_object_foreach (failed, key, why) {
        const char *type = json_string_value(why);
        buf_printf(&text, "Pillar key \"%s\" is %s%s.\n", key, type != NULL ? "not " : "missing",
                   type != NULL ? type : "");
    }
    if (value_bool(args, "verbose", false) && json_object_size(fine) > 0) {
        buf_puts(&text, "Those keys passed the check:\n");
        json_object_foreach (fine, key, why)
            buf_printf(&text, "- %s (%s)\n", key, json_string_value(why));
    }
    *ret_value = state_ret_args(args);
    return state_ret_set(*ret_value, json_object_size(failed) == 0 ? STATE_TRUE : STATE_FALSE, "%s",
                         buf_str(&text));
}

/* ---- table --------------------------------------------------------------------------------- */

#define ROW_NAME ARG("name", ARG_ANY, ARG_REQUIRED, "Any text")
static const arg_t outcome_args[] = {
    ROW_NAME,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "`comment`, and anything else, which is ignored"),
    ARGS_END,
};
static const arg_t configurable_args[] = {
    ROW_NAME,
    ARG("changes", ARG_ANY, "true", "True, False or \"Random\""),
    ARG("result", ARG_ANY, "true", "True, False or \"Random\""),
    ARG("comment", ARG_ANY, "\"\"", "The comment of the return"),
    ARG("warnings", ARG_ANY, "null", "A text or a list of texts"),
    ARG("allow_test_mode_failure", ARG_ANY, "false", "Fail in test mode, too"),
    ARGS_END,
};
static const arg_t notification_args[] = {
    ROW_NAME,
    ARG("text", ARG_ANY, "null", "The comment of the return"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Ignored"),
    ARGS_END,
};
static const arg_t watch_args[] = {
    ROW_NAME,
    ARG("sfun", ARG_ANY, "null", "The function of the state that watches"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "`result`, `comment` and `changes` of the return"),
    ARGS_END,
};
static const arg_t pillar_args[] = {
    ROW_NAME,
    ARG("present", ARG_ANY, "null", "Keys that must be there"),
    ARG("boolean", ARG_ANY, "null", "Keys of True or False"),
    ARG("integer", ARG_ANY, "null", "Keys of whole numbers"),
    ARG("string", ARG_ANY, "null", "Keys of texts"),
    ARG("listing", ARG_ANY, "null", "Keys of lists"),
    ARG("dictionary", ARG_ANY, "null", "Keys of mappings"),
    ARG("verbose", ARG_BOOL, "false", "Name the keys that passed too"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "check_pillar", test_check_pillar, pillar_args, FN_READONLY,
      "Fail when pillar keys are missing or of another type." },
    { "configurable_test_state", test_configurable_test_state, configurable_args, FN_READONLY,
      "Succeed or fail, with changes or without, as the arguments say." },
    { "fail_with_changes", test_fail_with_changes, outcome_args, FN_READONLY, "Fail, with changes." },
    { "fail_without_changes", test_fail_without_changes, outcome_args, FN_READONLY,
      "Fail, without changes." },
    { "mod_watch", test_mod_watch, watch_args, FN_READONLY,
      "Report which watched states have changed. Not to be called as a state." },
    { "nop", test_nop, outcome_args, FN_READONLY, "Do nothing, with any arguments." },
    { "show_notification", test_show_notification, notification_args, FN_READONLY,
      "Show a text as the comment." },
    { "succeed_with_changes", test_succeed_with_changes, outcome_args, FN_READONLY,
      "Succeed, with changes." },
    { "succeed_without_changes", test_succeed_without_changes, outcome_args, FN_READONLY,
      "Succeed, without changes." },
};

PLUGIN(state, test, .doc = "States to test requisites and outputs with", FUNCS(funcs));
