/* sysfs.c - state sysfs.present: an attribute of the kernel below /sys has a value, until the next start.
 * Values are compared as types, and as texts. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* The word in brackets, where an attribute lists all that it may be: "[mq-deadline] none". NEW. */
static json_t *
chosen_word(const json_t *current)
{
    const char *text = json_string_value(current), *open = text != NULL ? strrchr(text, '[') : NULL;

    if (text == NULL)
        return json_incref((json_t *) current);
    text = open != NULL ? open + 1 : text;
    return json_stringn(text, strcspn(text, "]"));
}

/* An attribute of choices reads as "a [b] c"; the one in brackets is compared. Texts and numbers are alike
 * when they are written alike. */
static int
sysfs_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args), *value = value_get(args, "value");
    json_auto_t *current = sub_call(ctx, err, "sysfs.read", "{s:s}", "key", name), *now = NULL;
    AUTO_FREE char *wanted = value_pystr(value);

    if (current == NULL)
        return err->code;
    if (json_is_false(current))
        return state_ret_set(ret, STATE_FALSE, "SysFS attribute %s doesn't exist.", name);
    if (json_is_object(current))
        return state_ret_set(ret, STATE_FALSE, "%s is not a SysFS attribute.", name);
    now = chosen_word(current);
    AUTO_FREE char *has = value_pystr(now);
    if (value_equal(value, now) || strcmp(has, wanted) == 0)
        return state_ret_set(ret, STATE_TRUE, "SysFS attribute %s is already set.", name);
    if (ctx_test(ctx)) {
        state_change(ret, name, json_incref(value));
        return state_ret_set(ret, STATE_NONE, "SysFS attribute %s set to be changed.", name);
    }
    int did = sub_call_bool(ctx, err, "sysfs.write", "{s:s, s:O}", "key", name, "value", value);
    if (did <= 0)
        return did < 0 ? did : state_ret_set(ret, STATE_FALSE, "Failed to set %s to %s", name, wanted);
    state_change(ret, name, json_incref(value));
    return state_ret_set(ret, STATE_TRUE, "Updated SysFS attribute %s to %s", name, wanted);
}

static const arg_t present_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Path of the attribute, with /sys before it or without"),
    ARG("value", ARG_ANY, ARG_REQUIRED, "The value"),
    ARG("config", ARG_ANY, "null", "Accepted for Salt's sake"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "present", sysfs_present, present_args, 0, "Ensure that an attribute has a value." },
};

PLUGIN(state, sysfs, .doc = "The kernel's attributes below /sys", FUNCS(funcs));
