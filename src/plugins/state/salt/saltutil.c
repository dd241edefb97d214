/* saltutil.c - state module `saltutil`: brings the file server's modules to the minion, by the execution
 * module's functions of the same names. A row of the table is a kind; sync_all answers {kind: [names]}, the
 * others a list of names. A failure is logged and told, as in Salt. */
#include "salt/log.h"
#include "salt/state.h"

/* The row's kind; NULL: all. */
static int
saltutil_bring(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *kind = ctx_row(ctx)->data.text, *name = kind != NULL ? kind : "all";
    AUTO_FREE char *fun = xasprintf("saltutil.sync_%s", name);
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *answer = NULL;
    fail_auto_t why = FAIL_INIT;

    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "%s would have been run", fun);
    if (ctx_call(ctx, fun, NULL, value_get(args, "kwargs"), &answer, &why) < 0) {
        log_error("Failed to run %s: %s", fun, fail_text(&why));
        return state_ret_set(ret, STATE_FALSE, "Failed to run sync_%s: %s", name, fail_text(&why));
    }
    /* The kinds that were brought are the changes: that of the one answer, or those of sync_all's. */
    const char *key;
    json_t *one;

    if (kind != NULL && value_truthy(answer))
        state_change(ret, kind, json_incref(answer));
    json_object_foreach (kind == NULL ? answer : NULL, key, one) {
        if (value_truthy(one))
            state_change(ret, key, json_incref(one));
    }
    if (!state_changed(ret))
        return state_ret_set(ret, STATE_TRUE, "No updates to sync");
    if (kind == NULL)
        return state_ret_set(ret, STATE_TRUE, "Sync performed");
    return state_ret_set(ret, STATE_TRUE, "Updated %s.", kind);
}

static const arg_t sync_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Any name"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "What the function of that name takes: saltenv, refresh, ..."),
    ARGS_END,
};

#define SYNC(kind)                                                                                           \
    {                                                                                                        \
        "sync_" kind, saltutil_bring, sync_args, 0,                                                          \
            "Ensure that the minion has the file server's " kind ".", .data.text = kind                      \
    }

static const func_t funcs[] = {
    { "sync_all", saltutil_bring, sync_args, 0,
      "Ensure that the minion has the file server's modules of all kinds." },
    SYNC("beacons"),
    SYNC("clouds"),
    SYNC("engines"),
    SYNC("executors"),
    SYNC("grains"),
    SYNC("log_handlers"),
    SYNC("matchers"),
    SYNC("modules"),
    SYNC("output"),
    SYNC("outputters"),
    SYNC("pillar"),
    SYNC("proxymodules"),
    SYNC("renderers"),
    SYNC("returners"),
    SYNC("sdb"),
    SYNC("serializers"),
    SYNC("states"),
    SYNC("thorium"),
    SYNC("utils"),
};

PLUGIN(state, saltutil, .doc = "The file server's modules on the minion", FUNCS(funcs));
