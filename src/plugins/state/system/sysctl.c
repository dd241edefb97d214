/* sysctl.c - state sysctl.present: a setting of the kernel, now and after the next start, by sysctl.persist,
 * which writes the file and sets the value. The kernel may separate numbers by other blanks than the file. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* True when both values hold the same words, whatever blanks separate them. */
static bool
state_sysctl_same_words(const char *a, const char *b)
{
    char **x = str_split(a, " \t\n", true), **y = str_split(b, " \t\n", true);
    bool same = strv_equal(x, y);

    strv_free(x);
    strv_free(y);
    return same;
}

/* Test mode's answer, from the file and the kernel. A file that can't be read leaves it open. */
static int
state_sysctl_look(call_ctx_t *ctx, json_t *ret, const char *name, const char *value, const char *file,
                  fail_t *err)
{
    json_auto_t *configured = sub_call(ctx, err, "sysctl.show", "{s:s}", "config_file", file);

    if (configured == NULL)
        return err->code;
    if (json_is_null(configured))
        return state_ret_set(ret, STATE_NONE,
                             "Sysctl option %s might be changed, we failed to check config file at %s. The "
                             "file is either unreadable, or missing.",
                             name, file);
    json_auto_t *now = sub_call_text(ctx, err, "sysctl.get", "{s:s}", "name", name);
    if (now == NULL)
        return err->code;

    /* The kernel's value is "" when it has no such setting. */
    bool in_file = value_get(configured, name) != NULL;
    bool same = state_sysctl_same_words(json_string_value(now), value);
    if (json_string_length(now) > 0 && in_file && same)
        return state_ret_set(ret, STATE_TRUE, "Sysctl value %s = %s is already set", name, value);
    if (!in_file && !same)
        return state_ret_set(ret, STATE_NONE, "Sysctl option %s set to be changed to %s", name, value);
    if (!in_file)
        return state_ret_set(ret, STATE_NONE,
                             "Sysctl value is currently set on the running system but not in a config file. "
                             "Sysctl option %s set to be changed to %s in config file.",
                             name, value);
    return state_ret_set(ret, STATE_NONE, "Sysctl option %s would be changed to %s", name, value);
}

/* A setting that can't be made fails the state. */
static int
sysctl_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *file = value_get(args, "config");
    const char *name = value_str(args, "name", "");
    AUTO_FREE char *value = value_pystr(value_get(args, "value"));
    json_auto_t *config = json_is_string(file) ? json_incref(file)
                                               : sub_call_text(ctx, err, "sysctl.default_config", NULL);

    if (config == NULL)
        return err->code;
    if (ctx_test(ctx))
        return state_sysctl_look(ctx, ret, name, value, json_string_value(config), err);
    json_auto_t *done = sub_call(ctx, err, "sysctl.persist", "{s:s, s:O, s:O}", "name", name, "value",
                                 value_get(args, "value"), "config", config);
    if (done == NULL && err->kind != FAIL_COMMAND)
        return err->code;
    if (done == NULL) {
        (void) state_ret_set(ret, STATE_FALSE, "Failed to set %s to %s: %s", name, value, fail_text(err));
        fail_clear(err);
        return 0;
    }
    if (str_eq(json_string_value(done), "Already set"))
        return state_ret_set(ret, STATE_TRUE, "Sysctl value %s = %s is already set", name, value);
    state_change(ret, name, json_incref(value_get(args, "value")));
    return state_ret_set(ret, STATE_TRUE, "Updated sysctl value %s = %s", name, value);
}

static const arg_t present_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The setting: net.ipv4.ip_forward"),
    ARG("value", ARG_ANY, ARG_REQUIRED, "Its value"),
    ARG("config", ARG_STR, "null", "The file it is written to; None: where the host looks for it"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "present", sysctl_present, present_args, 0,
      "Ensure that a setting of the kernel has this value, also after the next start." },
};

PLUGIN(state, sysctl, .doc = "The kernel's settings", FUNCS(funcs));
