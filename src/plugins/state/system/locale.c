/* locale.c - states locale.system and locale.present: the language of the machine (localectl or the
 * distribution's files), and locales that are generated (locale-gen or localedef). A change is told before it
 * is made, and taken back when it fails. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* A CommandExecutionError fails the state. */
static int
locale_refused(json_t *ret, fail_t *err)
{
    if (err->kind != FAIL_COMMAND)
        return err->code;
    state_change_set(ret, json_object());
    (void) state_ret_set(ret, STATE_FALSE, "Failed to set system locale: %s", fail_text(err));
    fail_clear(err);
    return 0;
}

/* The change is foretold first and taken back when it fails, since test mode and a run tell the same one. */
static int
locale_system(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *now = sub_call(ctx, err, "locale.get_locale", NULL);

    if (now == NULL)
        return locale_refused(ret, err);
    if (str_eq(json_string_value(now), name))
        return state_ret_set(ret, STATE_TRUE, "System locale %s already set", name);
    state_change(ret, "locale", json_string(name));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "System locale %s needs to be set", name);
    int done = sub_call_bool(ctx, err, "locale.set_locale", "{s:s}", "locale", name);
    if (done < 0)
        return locale_refused(ret, err);
    if (done > 0)
        return state_ret_set(ret, STATE_TRUE, "Set system locale %s", name);
    state_change_set(ret, json_object());
    return state_ret_set(ret, STATE_FALSE, "Failed to set system locale to %s", name);
}

/* Generating a locale may take long. The change is taken back when it fails. */
static int
locale_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args);
    int there = sub_call_bool(ctx, err, "locale.avail", "{s:s}", "locale", name);

    if (there != 0)
        return there < 0 ? there : state_ret_set(ret, STATE_TRUE, "Locale %s is already present", name);
    state_change(ret, "locale", json_string(name));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Locale %s needs to be generated", name);
    int done = sub_call_bool(ctx, err, "locale.gen_locale", "{s:s}", "locale", name);
    if (done > 0)
        return state_ret_set(ret, STATE_TRUE, "Generated locale %s", name);
    state_change_set(ret, json_object());
    return done < 0 ? done : state_ret_set(ret, STATE_FALSE, "Failed to generate locale %s", name);
}

static const arg_t name_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The locale: en_US.UTF-8"), ARGS_END };

static const func_t funcs[] = {
    { "present", locale_present, name_args, 0, "Ensure that a locale is generated." },
    { "system", locale_system, name_args, 0, "Ensure that the system has a locale." },
};

PLUGIN(state, locale, .doc = "Locales", FUNCS(funcs));
