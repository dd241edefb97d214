/* alternatives.c - state module `alternatives`: the program that a name stands for, by
 * update-alternatives(1) or alternatives(8). The module's functions change it, and its value is read again
 * afterwards: what they print is not relied on. The return shows the arguments of the SLS beside its usual
 * members, as Salt's does. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* Begins the return with the arguments of the SLS, as Salt does. NEW. */
static json_t *
state_alternatives_start(const json_t *args)
{
    static const char *const shown[] = { "link", "path", "priority" };
    json_t *ret = state_ret_args(args);

    for (size_t i = 0; i < NELEMS(shown); i++) {
        if (value_get(args, shown[i]) != NULL)
            json_object_set(ret, shown[i], value_get(args, shown[i]));
    }
    return ret;
}

/* A function of the module with the name and, when it takes one, the path. NEW, or NULL with *err. */
static json_t *
state_alternatives_ask(call_ctx_t *ctx, const json_t *args, const char *fun, bool path, fail_t *err)
{
    return path ? sub_call(ctx, err, fun, "{s:O, s:O}", "name", value_get(args, "name"), "path",
                           value_get(args, "path"))
                : sub_call(ctx, err, fun, "{s:O}", "name", value_get(args, "name"));
}

/* ---- install ---------------------------------------------------------------------------------- */

/* The change of a new alternative: all that was asked for. */
static void
note_installed(const json_t *args, json_t *ret)
{
    state_change_set(ret, json_pack("{s:O, s:O, s:O, s:O}", "name", value_get(args, "name"), "link",
                                    value_get(args, "link"), "path", value_get(args, "path"), "priority",
                                    value_get(args, "priority")));
}

/* Registering a path and making it the default are two things; each has its own comment. */
static int
state_alternatives_install(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *path = value_str(args, "path", "");
    AUTO_FREE char *priority = value_pystr(value_get(args, "priority"));
    json_auto_t *there = state_alternatives_ask(ctx, args, "alternatives.check_exists", true, err);

    if (there == NULL)
        return err->code;
    json_t *ret = *ret_value = state_alternatives_start(args);
    if (json_is_true(there))
        return state_ret_set(ret, STATE_TRUE, "Alternative %s for %s is already registered", path, name);
    if (ctx_test(ctx)) {
        note_installed(args, ret);
        return state_ret_set(ret, STATE_NONE, "Alternative will be set for %s to %s with priority %s", name,
                             path, priority);
    }
    json_auto_t *said = sub_call_text(ctx, err, "alternatives.install", "{s:O, s:O, s:O, s:O}", "name",
                                      value_get(args, "name"), "link", value_get(args, "link"), "path",
                                      value_get(args, "path"), "priority", value_get(args, "priority"));
    if (said == NULL)
        return err->code;
    /* The program may have registered the path without making it the default: priorities of others decide. */
    json_auto_t *exists = state_alternatives_ask(ctx, args, "alternatives.check_exists", true, err);
    json_auto_t *taken = exists != NULL
                             ? state_alternatives_ask(ctx, args, "alternatives.check_installed", true, err)
                             : NULL;
    if (taken == NULL)
        return err->code;
    if (!json_is_true(exists))
        return state_ret_set(ret, STATE_FALSE, "Alternative for %s not installed: %s", name,
                             json_string_value(said));
    note_installed(args, ret);
    if (json_is_true(taken))
        return state_ret_set(ret, STATE_TRUE, "Alternative for %s set to path %s with priority %s", name,
                             path, priority);
    return state_ret_set(ret, STATE_TRUE,
                         "Alternative %s for %s registered with priority %s and not set to default", path,
                         name, priority);
}

/* ---- remove ----------------------------------------------------------------------------------- */

/* A name that has a path all the same is at its default. */
static int
alternatives_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_auto_t *there = state_alternatives_ask(ctx, args, "alternatives.check_exists", true, err),
                *said = NULL, *now = NULL;

    if (there == NULL)
        return err->code;
    json_t *ret = *ret_value = state_alternatives_start(args);
    if (json_is_true(there) && ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Alternative for %s will be removed", name);
    if (json_is_true(there) &&
        (said = state_alternatives_ask(ctx, args, "alternatives.remove", true, err)) == NULL)
        return err->code;
    now = state_alternatives_ask(ctx, args, "alternatives.show_current", false, err);
    if (now == NULL)
        return err->code;
    if (!json_is_true(there) && json_is_string(now))
        return state_ret_set(ret, STATE_TRUE, "Alternative for %s is set to it's default path %s", name,
                             json_string_value(now));
    if (!json_is_true(there))
        return state_ret_set(ret, STATE_FALSE, "Alternative for %s doesn't exist", name);
    if (!json_is_string(now))
        return state_ret_set(ret, STATE_TRUE, "Alternative for %s removed", name);
    state_change(ret, "path", json_incref(now));
    return state_ret_set(ret, STATE_TRUE, "Alternative for %s removed. Falling back to path %s", name,
                         json_string_value(now));
}

/* ---- auto and set ----------------------------------------------------------------------------- */

/* The first line of the display ends with the mode. The change has the odd key "result" and what the program
 * printed, as in Salt. */
static int
alternatives_auto(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_auto_t *shown = sub_call_text(ctx, err, "alternatives.display", "{s:s}", "name", name);

    if (shown == NULL)
        return err->code;
    json_t *ret = *ret_value = state_alternatives_start(args);
    AUTO_FREE char *first = xstrndup(json_string_value(shown), strcspn(json_string_value(shown), "\n"));
    if (str_ends(first, " auto mode"))
        return state_ret_set(ret, STATE_TRUE, "%s already in auto mode", name);
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "%s will be put in auto mode", name);
    json_auto_t *said = state_alternatives_ask(ctx, args, "alternatives.auto", false, err);
    if (said == NULL)
        return err->code;
    state_change(ret, "result", json_incref(said));
    return 0;
}

/* The path must be a known alternative. */
static int
alternatives_set(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *path = value_str(args, "path", "");
    json_auto_t *before = state_alternatives_ask(ctx, args, "alternatives.check_installed", true, err);
    json_auto_t *there = before != NULL
                             ? state_alternatives_ask(ctx, args, "alternatives.check_exists", true, err)
                             : NULL;

    if (there == NULL)
        return err->code;
    json_t *ret = *ret_value = state_alternatives_start(args);
    if (json_is_true(before))
        return state_ret_set(ret, STATE_TRUE, "Alternative for %s already set to %s", name, path);
    if (!json_is_true(there))
        return state_ret_set(ret, STATE_FALSE, "Alternative %s for %s doesn't exist", path, name);
    if (ctx_test(ctx)) {
        state_change(ret, "path", json_string(path));
        return state_ret_set(ret, STATE_NONE, "Alternative for %s will be set to path %s", name, path);
    }
    json_auto_t *said = state_alternatives_ask(ctx, args, "alternatives.set", true, err);
    json_auto_t *after = said != NULL
                             ? state_alternatives_ask(ctx, args, "alternatives.check_installed", true, err)
                             : NULL;
    if (after == NULL)
        return err->code;
    if (!json_is_true(after))
        return state_ret_set(ret, STATE_FALSE, "Alternative for %s not updated", name);
    state_change(ret, "path", json_string(path));
    return state_ret_set(ret, STATE_TRUE, "Alternative for %s set to path %s", name, path);
}

static const char *
state_alternatives_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "alternatives.auto") ? NULL : "alernatives module could not be loaded";
}

/* ---- table ------------------------------------------------------------------------------------ */

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The name: editor")
#define PATH_ROW ARG("path", ARG_STR, ARG_REQUIRED, "The program that it stands for")

static const arg_t name_args[] = { NAME_ROW, ARGS_END };
static const arg_t path_args[] = { NAME_ROW, PATH_ROW, ARGS_END };
static const arg_t install_args[] = {
    NAME_ROW, ARG("link", ARG_STR, ARG_REQUIRED, "Where it is called: /usr/bin/editor"), PATH_ROW,
    ARG("priority", ARG_ANY, ARG_REQUIRED, "The highest one is taken"), ARGS_END
};

static const func_t funcs[] = {
    { "auto", alternatives_auto, name_args, 0, "Ensure that the program of the highest priority is taken." },
    { "install", state_alternatives_install, install_args, 0, "Ensure that a program is one of a name's." },
    { "remove", alternatives_remove, path_args, 0, "Ensure that a program is none of a name's." },
    { "set", alternatives_set, path_args, 0, "Ensure that a name stands for a program." },
};

PLUGIN(state, alternatives, .doc = "Programs that a name may stand for", FUNCS(funcs),
       .unavailable = state_alternatives_unavailable);
