/* logrotate.c - state logrotate.set: a line of logrotate's configuration. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* A text with a whole number is that number, as the module reads it. NEW. */
static json_t *
as_read(json_t *value)
{
    long long number;

    return json_is_string(value) && str_to_int(json_string_value(value), INT64_MIN, INT64_MAX, &number)
               ? json_integer(number)
               : json_incref(value);
}

/* Without a `setting` the key is one of the file itself, and `value` its value; with it the key is a block,
 * `value` the command and `setting` the value. A key that logrotate.get does not find counts as False. */
static int
state_logrotate_set(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *file = value_get(args, "conf_file"),
           *setting = value_get(args, "setting");
    bool in_block = setting != NULL && !json_is_null(setting);
    json_auto_t *wanted = as_read(in_block ? setting : value_get(args, "value")), *none = json_null();
    AUTO_FREE char *option = value_pystr(value_get(args, "value")), *text = value_pystr(wanted);
    AUTO_FREE char *what = in_block ? xasprintf("block '%s' command '%s'", value_str(args, "key", ""), option)
                                    : xasprintf("command '%s'", value_str(args, "key", ""));
    AUTO_FREE char *subject = xasprintf("%c%s", *what - 'a' + 'A', what + 1);
    json_auto_t *now = sub_call(ctx, err, "logrotate.get", "{s:O, s:O, s:O}", "key", value_get(args, "key"),
                                "value", in_block ? value_get(args, "value") : none, "conf_file", file);

    if (now == NULL && err->kind != FAIL_INVOCATION)
        return err->code;
    if (now == NULL) {
        fail_clear(err);
        now = json_false();
    }
    if (value_equal(now, wanted))
        return state_ret_set(ret, STATE_TRUE, "%s already has value: %s", subject, text);
    state_change(ret, "old", json_incref(now));
    state_change(ret, "new", json_incref(wanted));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "%s will be set to value: %s", subject, text);
    int did = sub_call_bool(ctx, err, "logrotate.set", "{s:O, s:O, s:O, s:O}", "key", value_get(args, "key"),
                            "value", in_block ? value_get(args, "value") : wanted, "setting",
                            in_block ? wanted : none, "conf_file", file);
    if (did < 0)
        return did;
    return state_ret_set(ret, did > 0 ? STATE_TRUE : STATE_FALSE,
                         did > 0 ? "Set %s value: %s" : "Unable to set %s value: %s", what, text);
}

static const arg_t set_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "A name for this setting"),
    ARG("key", ARG_STR, ARG_REQUIRED, "A line's first word, or a file of a block"),
    ARG("value", ARG_ANY, ARG_REQUIRED, "The value, or the first word of a line of the block"),
    ARG("setting", ARG_ANY, "null", "The value of this line; False: no such line"),
    ARG("conf_file", ARG_STR, "\"/etc/logrotate.conf\"", "The file; what it includes belongs to it"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "set", state_logrotate_set, set_args, 0, "Ensure that a line of the configuration has this value." },
};

PLUGIN(state, logrotate, .doc = "Rotation of logs", FUNCS(funcs));
