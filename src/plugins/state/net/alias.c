/* alias.c - state module `alias`: names of mail and where their mail goes, in the mail system's file of
 * aliases. The functions of the module `aliases` read and write that file; `target` is shown in comments as
 * Python shows it, a list too. */
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* An alias with another target is set anew. */
static int
alias_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *target = value_get(args, "target");
    const char *name = value_str(args, "name", "");
    AUTO_FREE char *shown = value_pystr(target);
    int has = sub_call_bool(ctx, err, "aliases.has_target", "{s:s, s:O}", "alias", name, "target", target);

    if (has < 0)
        return has;
    if (has > 0)
        return state_ret_set(ret, STATE_TRUE, "Alias %s already present", name);
    /* A test has the change as well: state runs compare it with the run's. */
    state_change(ret, "alias", json_string(name));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Alias %s -> %s is set to be added", name, shown);
    int done = sub_call_bool(ctx, err, "aliases.set_target", "{s:s, s:O}", "alias", name, "target", target);
    return done < 0 ? done : state_ret_set(ret, STATE_TRUE, "Set email alias %s -> %s", name, shown);
}

static int
alias_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    int has = sub_call_bool(ctx, err, "aliases.get_target", "{s:s}", "alias", name);

    if (has < 0)
        return has;
    if (has == 0)
        return state_ret_set(ret, STATE_TRUE, "Alias %s already absent", name);
    state_change(ret, "alias", json_string(name));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Alias %s is set to be removed", name);
    int done = sub_call_bool(ctx, err, "aliases.rm_alias", "{s:s}", "alias", name);
    return done < 0 ? done : state_ret_set(ret, STATE_TRUE, "Removed alias %s", name);
}

#define ALIAS_NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The name")

static const arg_t present_args[] = {
    ALIAS_NAME_ROW, ARG("target", ARG_ANY, ARG_REQUIRED, "Where its mail goes: a text, or a list"), ARGS_END
};
static const arg_t absent_args[] = { ALIAS_NAME_ROW, ARGS_END };

static const func_t funcs[] = {
    { "absent", alias_absent, absent_args, 0, "Ensure that a name is none of the mail system's aliases." },
    { "present", alias_present, present_args, 0, "Ensure where a name's mail goes." },
};

PLUGIN(state, alias, .doc = "Names of mail", FUNCS(funcs));
