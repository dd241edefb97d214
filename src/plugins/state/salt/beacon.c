/* beacon.c - state module `beacon`: beacons of the minion, by the functions of module `beacons`. A beacon's
 * configuration is a list of dicts with one key each, and so are the keywords of the state compared with it.
 * Each function of the module answers {comment, result, changes?}, in test mode with the comment of what it
 * would do. */
#include "common/base/str.h"
#include "salt/state.h"
#include "salt/value.h"

/* What a state does to its beacon: the function and the words that report it. */
typedef struct beacon_deed {
    const char *fun, *done, *missing, *change;
    bool is_switch, on; /* a switch that is set already is left alone */
} beacon_deed_t;

static const beacon_deed_t absenting = {
    "beacons.delete", "Removed %s from beacons", "%s not configured in beacons", "removed", false, false
};
static const beacon_deed_t enabling = {
    "beacons.enable_beacon", "Enabled %s from beacons", "%s not a configured beacon", "enabled", true, true
};
static const beacon_deed_t disabling = {
    "beacons.disable_beacon", "Disabled beacon %s.", "Job %s is not configured.", "disabled", true, false
};

/* NEW {NAME: configuration}, or NULL with *err. */
static json_t *
beacon_state_all(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *kwargs = json_pack("{s:b}", "return_yaml", false);
    json_t *all = NULL;
    return ctx_call(ctx, "beacons.list", NULL, kwargs, &all, err) == 0 ? all : NULL;
}

/* Whether a beacon looks: `enabled` in whatever form the configuration has, the last one counts; without it a
 * beacon looks. */
static bool
beacon_state_is_on(const json_t *given)
{
    json_t *on = value_get(given, "enabled"), *one;
    size_t i;
    json_array_foreach (given, i, one)
        if (value_get(one, "enabled") != NULL)
            on = value_get(one, "enabled");
    return on == NULL || value_truthy(on);
}

/* Calls a function of `beacons` on the state's beacon; *ret_answer NEW {comment, result, changes?}. */
static int
beacon_state_call(call_ctx_t *ctx, const char *fun, const json_t *args, json_t *data, json_t **ret_answer,
                  fail_t *err)
{
    json_auto_t *words = json_pack("[O]", value_get(args, "name"));
    json_auto_t *kwargs = ctx_test(ctx) ? json_pack("{s:b}", "test", true) : json_object();
    if (data != NULL)
        json_array_append(words, data);
    return ctx_call(ctx, fun, words, kwargs, ret_answer, err);
}

/* Adds a line with the beacon's name where `format` has %s. */
static void
beacon_state_add(json_t *lines, const char *format, const json_t *args)
{
    AUTO_FREE char *text = str_replace(format, "%s", value_str(args, "name", ""));
    json_array_append_new(lines, json_string(text));
}

/* Takes over a function's answer: its comment in test mode, `done` after a change. False when it refused:
 * *ret is that. */
static bool
beacon_state_take(call_ctx_t *ctx, const json_t *args, json_t *answer, const char *done, const char *change,
                  json_t *lines, json_t *ret)
{
    if (!ctx_test(ctx) && !value_bool(answer, "result", false)) {
        (void) state_ret_set(ret, STATE_FALSE, "%s", value_str(answer, "comment", ""));
        return false;
    }
    /* Some functions tell no changes: then the state says what it did. */
    if (json_is_object(value_get(answer, "changes")))
        json_object_set(ret, "changes", value_get(answer, "changes"));
    else
        state_change(ret, value_str(args, "name", ""), json_string(change));
    if (ctx_test(ctx)) {
        json_array_append(lines, value_get(answer, "comment"));
        json_object_set_new(ret, "result", json_null());
    } else
        beacon_state_add(lines, done, args);
    return true;
}

/* Writes beacons.conf when `save` asks for it, and makes the lines the comment. Saved is what the minion has
 * now, also when nothing was changed. */
static int
beacon_state_end(call_ctx_t *ctx, const json_t *args, json_t *lines, json_t *ret, fail_t *err)
{
    if (value_bool(args, "save", false) && ctx_test(ctx))
        beacon_state_add(lines, "Beacon %s would be saved", args);
    else if (value_bool(args, "save", false)) {
        json_auto_t *answer = NULL;
        if (ctx_call(ctx, "beacons.save", NULL, NULL, &answer, err) < 0)
            return err->code;
        if (!value_bool(answer, "result", false))
            return state_ret_set(ret, STATE_FALSE, "%s", value_str(answer, "comment", ""));
        beacon_state_add(lines, "Beacon %s saved", args);
    }
    AUTO_FREE char *text = value_joined(lines, "\n");
    state_ret_comment(ret, json_string(text));
    return 0;
}

/* A beacon's data is a list of one-member objects, as in its configuration; the keywords are put into that
 * form before they are compared. */
static int
beacon_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = state_ret_args(args), *all = beacon_state_all(ctx, err), *data = json_array(),
                *lines = json_array(), *answer = NULL;
    json_t *now = value_get(all, value_str(args, "name", "")), *v;
    const char *key;
    if (all == NULL)
        return err->code;
    json_object_foreach (value_get(args, "kwargs"), key, v)
        json_array_append_new(data, json_pack("{s:O}", key, v));
    if (now != NULL && value_equal(now, data))
        beacon_state_add(lines, "Job %s in correct state", args);
    else {
        bool add = now == NULL;
        if (beacon_state_call(ctx, add ? "beacons.add" : "beacons.modify", args, data, &answer, err) < 0)
            return err->code;
        if (!beacon_state_take(ctx, args, answer, add ? "Adding %s to beacons" : "Modifying %s in beacons",
                               "added", lines, ret)) {
            *ret_value = json_incref(ret);
            return 0;
        }
    }
    int rc = beacon_state_end(ctx, args, lines, ret, err);
    *ret_value = rc == 0 ? json_incref(ret) : NULL;
    return rc;
}

/* absent, enabled and disabled leave alone what is not there. */
static int
beacon_with(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const beacon_deed_t *deed = ctx_row(ctx)->data.ptr;
    json_auto_t *ret = state_ret_args(args), *all = beacon_state_all(ctx, err), *lines = json_array(),
                *answer = NULL;
    if (all == NULL)
        return err->code;
    json_t *now = value_get(all, value_str(args, "name", ""));
    if (now == NULL)
        beacon_state_add(lines, deed->missing, args);
    else if (deed->is_switch && beacon_state_is_on(now) == deed->on)
        beacon_state_add(lines, deed->done, args);
    else {
        if (beacon_state_call(ctx, deed->fun, args, NULL, &answer, err) < 0)
            return err->code;
        if (!beacon_state_take(ctx, args, answer, deed->done, deed->change, lines, ret)) {
            *ret_value = json_incref(ret);
            return 0;
        }
    }
    int rc = beacon_state_end(ctx, args, lines, ret, err);
    *ret_value = rc == 0 ? json_incref(ret) : NULL;
    return rc;
}

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The beacon's name")
#define SAVE_ROW ARG("save", ARG_BOOL, "false", "Keep it in beacons.conf too")

static const arg_t present_args[] = { NAME_ROW, SAVE_ROW,
                                      ARG("kwargs", ARG_DICT, ARG_STARSTAR, "The beacon's configuration"),
                                      ARGS_END };
static const arg_t absent_args[] = { NAME_ROW, SAVE_ROW,
                                     ARG("kwargs", ARG_DICT, ARG_STARSTAR, "Without effect", TAKES_NONE),
                                     ARGS_END };
static const arg_t switch_args[] = { NAME_ROW,
                                     ARG("kwargs", ARG_DICT, ARG_STARSTAR, "Without effect", TAKES_NONE),
                                     ARGS_END };

static const func_t funcs[] = {
    { "absent", beacon_with, absent_args, 0, "Ensure that a beacon is not configured.",
      .data.ptr = &absenting },
    { "disabled", beacon_with, switch_args, 0, "Ensure that a beacon does not look.",
      .data.ptr = &disabling },
    { "enabled", beacon_with, switch_args, 0, "Ensure that a beacon looks.", .data.ptr = &enabling },
    { "present", beacon_present, present_args, 0, "Ensure that a beacon is configured so." },
};

PLUGIN(state, beacon, .doc = "The minion's beacons", FUNCS(funcs));
