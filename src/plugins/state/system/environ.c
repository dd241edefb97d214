/* environ.c - state module `environ`: environment variables of the minion's process, which later states and
 * jobs inherit. A value of False empties a variable, or with `false_unsets` removes it; the change is null
 * then. */
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* NEW object of the variables that `args` wants; NULL: not a form it may have. */
static json_t *
state_environ_wanted(const json_t *args)
{
    json_t *value = value_get(args, "value");

    if (json_is_object(value))
        return json_incref(value);
    return json_is_string(value) || json_is_false(value)
               ? json_pack("{s:O}", value_str(args, "name", ""), value)
               : NULL;
}

/* Change of one variable. BORROWED; NULL: none. `empty` stands for "". */
static json_t *
change_of(const json_t *have, json_t *want, bool unsets, json_t *empty, json_t *none)
{
    if (!json_is_false(want))
        return value_equal(have, want) ? NULL : want;
    if (json_is_null(have))
        return unsets ? NULL : empty;
    if (unsets)
        return none;
    return *json_string_value(have) == '\0' ? NULL : empty;
}

/* The changes of test mode are computed here; those of a run are what the module says it has set. */
static int
state_environ_setenv(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *want = state_environ_wanted(args);
    json_t *ret = *ret_value = state_ret_args(args);

    if (want == NULL)
        return state_ret_set(ret, STATE_FALSE, "Environ value must be string, dict or False");

    /* Puts the differences into the return's changes. Variables that clear_all removes are among them. */
    json_auto_t *have = sub_call(ctx, err, "environ.items", NULL);
    json_auto_t *empty = json_string(""), *none = json_null();
    bool unsets = value_bool(args, "false_unsets", false);
    json_t *v;
    const char *key;

    if (have == NULL)
        return -EINVAL;
    json_object_foreach (have, key, v) {
        if (value_bool(args, "clear_all", false) && value_get(want, key) == NULL)
            state_change(ret, key, json_incref(unsets ? none : empty));
    }
    json_object_foreach (want, key, v) {
        json_t *now = value_get(have, key);
        json_t *change = change_of(now != NULL        ? now
                                   : json_is_false(v) ? none
                                                      : empty,
                                   v, unsets, empty, none);
        if (change != NULL)
            state_change(ret, key, json_incref(change));
    }

    if (ctx_test(ctx))
        return state_ret_set(ret, state_changed(ret) ? STATE_NONE : STATE_TRUE, "%s",
                             state_changed(ret) ? "Environ values will be changed"
                                                : "Environ values are already set with the correct values");
    if (!state_changed(ret))
        return state_ret_set(ret, STATE_TRUE, "Environ values were already set with the correct values");
    json_t *done = sub_call(ctx, err, "environ.setenv", "{s:O, s:O, s:O, s:O, s:O}", "environ", want,
                            "false_unsets", value_get(args, "false_unsets"), "clear_all",
                            value_get(args, "clear_all"), "update_minion", value_get(args, "update_minion"),
                            "permanent", value_get(args, "permanent"));
    if (done == NULL)
        return -EINVAL;
    bool set = value_truthy(done);
    json_decref(done);
    if (!set) {
        state_change_set(ret, json_object());
        return state_ret_set(ret, STATE_FALSE, "Failed to set environ variables");
    }
    /* The changes stay those from before: the module's answer has the variables that were right, too. */
    return state_ret_set(ret, STATE_TRUE, "Environ values were set");
}

static const arg_t setenv_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The variable, or any name when `value` is a mapping"),
    ARG("value", ARG_ANY, ARG_REQUIRED, "Its value; False empties it; or a mapping of several variables"),
    ARG("false_unsets", ARG_BOOL, "false", "False removes the variable instead of emptying it"),
    ARG("clear_all", ARG_BOOL, "false", "Do so to all variables that are not named"),
    ARG("update_minion", ARG_BOOL, "false", "Change the minion's own environment too, for later jobs"),
    ARG("permanent", ARG_ANY, "false", "Of Windows only"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "setenv", state_environ_setenv, setenv_args, 0, "Set environment variables of this run." },
};

PLUGIN(state, environ, .doc = "Environment variables", FUNCS(funcs));
