/* tuned.c - states tuned.profile and tuned.off: the active profile of tuned, by tuned-adm. A name that is no
 * profile is an exception, as in Salt; "none" is how some versions call that there is none. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* Ends a state that changes the profile, or would. */
static int
tuned_changed(call_ctx_t *ctx, json_t *ret, const char *from, const char *to, const char *comment)
{
    state_change_set(ret, json_pack("{s:s, s:s}", "old", from, "new", to));
    return ctx_test(ctx) ? state_ret_set(ret, STATE_NONE, "The state of \"%s\" will be changed.", from)
                         : state_ret_set(ret, STATE_TRUE, "%s", comment);
}

/* An unknown profile is an error of the call and no failed state, as in Salt. */
static int
state_tuned_profile(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_auto_t *active = sub_call_text(ctx, err, "tuned.active", NULL);
    json_auto_t *valid = active != NULL ? sub_call(ctx, err, "tuned.list", NULL) : NULL;

    if (valid == NULL)
        return err->code;
    if (!value_lists(valid, name))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid Profile Name");
    *ret_value = state_ret(name);
    if (strcmp(json_string_value(active), name) == 0)
        return state_ret_set(*ret_value, STATE_TRUE, "System already in the correct state");
    json_auto_t *done = ctx_test(ctx) ? NULL
                                      : sub_call(ctx, err, "tuned.profile", "{s:s}", "profile_name", name);
    if (!ctx_test(ctx) && done == NULL)
        return err->code;
    if (done != NULL && !value_truthy(done))
        return state_ret_set(*ret_value, STATE_FALSE, "Failed to set profile %s: tuned-adm said no", name);
    AUTO_FREE char *comment = xasprintf("The state of \"%s\" was changed!", name);
    return tuned_changed(ctx, *ret_value, json_string_value(active), name, comment);
}

/* The module says none when no profile is active; to the state that is the same as off. */
static int
state_tuned_off(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *active = sub_call_text(ctx, err, "tuned.active", NULL);

    if (active == NULL)
        return err->code;
    const char *now = json_string_value(active);
    *ret_value = state_ret("off");
    if (strcmp(now, "off") == 0 || strcmp(now, "none") == 0)
        return state_ret_set(*ret_value, STATE_TRUE, "System already in the correct state");
    int done = ctx_test(ctx) ? 1 : sub_call_bool(ctx, err, "tuned.off", NULL);
    if (done < 0)
        return done;
    if (done == 0)
        return state_ret_set(*ret_value, STATE_FALSE, "Failed to turn profiles off: tuned-adm said no");
    return tuned_changed(ctx, *ret_value, now, "off", "off");
}

static const arg_t profile_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The profile"), ARGS_END };
static const arg_t off_args[] = { ARG("name", ARG_ANY, "null", "Not used"), ARGS_END };

static const func_t funcs[] = {
    { "off", state_tuned_off, off_args, 0, "No profile is active." },
    { "profile", state_tuned_profile, profile_args, 0, "This profile is the active one." },
};

PLUGIN(state, tuned, .doc = "The active profile of tuned", FUNCS(funcs));
