/* quota.c - state quota.mode: limits of disk space are on or off, by quotaon(8) and quotaoff(8) for all kinds
 * of a device; `quotatype` (user or group) is only looked at. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* Quotas of a file system are on or off for each type, users and groups, but are switched for both. */
static int
quota_mode(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *type = value_str(args, "quotatype", "");
    const char *to = json_is_true(value_get(args, "mode")) ? "on" : "off";
    json_auto_t *modes = sub_call(ctx, err, "quota.get_mode", "{s:s}", "device", name);
    json_t *of = value_get(modes, name);

    if (modes == NULL)
        return err->code;
    json_t *ret = *ret_value = state_ret_args(args);
    if (!json_is_object(of) || value_get(of, type) == NULL)
        return state_ret_set(ret, STATE_FALSE, "%s has no quota of the type '%s': %s", name, type,
                             json_is_string(of) ? json_string_value(of) : "quotaon -p names none");
    if (str_eq(value_str(of, type, NULL), to))
        return state_ret_set(ret, STATE_TRUE, "Quota for %s already set to %s", name, to);
    if (ctx_test(ctx)) {
        state_change(ret, "quota", json_string(name));
        return state_ret_set(ret, STATE_NONE, "Quota for %s needs to be set to %s", name, to);
    }
    AUTO_FREE char *fun = xasprintf("quota.%s", to);
    int did = sub_call_bool(ctx, err, fun, "{s:s}", "device", name);
    if (did < 0)
        return did;
    if (did == 0)
        return state_ret_set(ret, STATE_FALSE, "Failed to set quota for %s to %s", name, to);
    state_change(ret, "quota", json_string(name));
    return state_ret_set(ret, STATE_TRUE, "Set quota for %s to %s", name, to);
}

static const arg_t mode_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Where the disk is mounted"),
                                   ARG("mode", ARG_ANY, ARG_REQUIRED, "True: on"),
                                   ARG("quotatype", ARG_STR, ARG_REQUIRED, "user or group"), ARGS_END };

static const func_t funcs[] = { { "mode", quota_mode, mode_args, 0,
                                  "Limits of users or groups are on, or off." } };

PLUGIN(state, quota, .doc = "Limits of disk space", FUNCS(funcs));
