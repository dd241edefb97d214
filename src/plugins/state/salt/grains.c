/* grains.c - state module `grains`: values of grains in CONFDIR/grains, compared by grains.get and changed by
 * grains.set and its kin, which tell what they did. A name has parts of nested grains with ":" between.
 * Functions of lists do not make a list of another value, except grains.append with `convert`. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/salt/grains_plan.h"
#include "salt/state.h"

/* No grain has this value: how grains.get tells that there is none. */
#define NOT_THERE "\001absent"

/* The state's return, under the name with ":" between its parts whatever the delimiter is; the arguments get
 * that name too. BORROWED from *ret_value. */
static json_t *
state_grains_start(json_t *args, json_t **ret_value)
{
    AUTO_FREE char *name = str_replace(value_str(args, "name", ""), value_str(args, "delimiter", ":"), ":");

    json_object_set_new(args, "name", json_string(name));
    return *ret_value = state_ret(name);
}

/* The grain's value, or NOT_THERE. NEW, or NULL with *err. */
static json_t *
state_grains_grain(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    return sub_call(ctx, err, "grains.get", "{s:O, s:s}", "key", value_get(args, "name"), "default",
                    NOT_THERE);
}

static bool
state_grains_is_absent(const json_t *have)
{
    return json_is_string(have) && strcmp(json_string_value(have), NOT_THERE) == 0;
}

static bool
contains_all(const json_t *list, const json_t *items)
{
    size_t i;
    json_t *v;

    json_array_foreach (items, i, v) {
        if (!value_has(list, v))
            return false;
    }
    return true;
}

/* A comment of Salt's with the grain's name and a value in it. */
static int
state_grains_told(json_t *ret, state_result_t result, const char *before, const json_t *value,
                  const char *between, const char *after)
{
    AUTO_FREE char *shown = value_pystr(value);

    return state_ret_set(ret, result, "%s %s %s %s%s", before, shown, between, value_str(ret, "name", ""),
                         after);
}

static int
grains_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = state_grains_start(args, ret_value);
    json_auto_t *have = state_grains_grain(ctx, args, err);

    if (have == NULL)
        return err->code;
    return state_grains_is_absent(have) ? state_ret_set(ret, STATE_FALSE, "Grain does not exist")
                                        : state_ret_set(ret, STATE_TRUE, "Grain exists");
}

/* grains.set's own answer {result, changes, comment} becomes the state's; only the name stays. TAKES
 * answer. */
static void
taken_over(json_t *ret, json_t *answer)
{
    json_object_del(answer, "name");
    json_object_update(ret, answer);
    json_decref(answer);
}

/* In test mode: the value that grains.set would write, NEW {grain: value}. NULL when it would not; then the
 * return is finished. */
static json_t *
would_set(call_ctx_t *ctx, const json_t *args, json_t *value, json_t *ret)
{
    const grains_setting_t how = { ":", value_bool(args, "force", false),
                                   value_bool(args, "destructive", false) };
    AUTO_FREE char *key = NULL, *why = NULL;
    json_auto_t *whole = NULL;

    switch (grains_plan(ctx, value_str(ret, "name", ""), value, &how, &key, &whole, &why)) {
    case GRAINS_KEPT:
        (void) state_ret_set(ret, STATE_TRUE, "Grain is already set");
        return NULL;
    case GRAINS_REFUSED:
        (void) state_ret_set(ret, STATE_FALSE, "%s", why);
        return NULL;
    case GRAINS_CHANGED:
        break;
    }
    return json_pack("{s:O}", key, whole);
}

/* NEW {grain: value} of a list with more values at its end. */
static json_t *
would_append(call_ctx_t *ctx, const char *name, const json_t *have, const json_t *value)
{
    const grains_setting_t how = { ":", true, false };
    json_auto_t *list = json_is_array(have) ? json_copy((json_t *) have) : json_array(), *whole = NULL;
    AUTO_FREE char *key = NULL, *why = NULL;

    if (json_is_array(value))
        json_array_extend(list, (json_t *) value);
    else
        json_array_append(list, (json_t *) value);
    if (grains_plan(ctx, name, list, &how, &key, &whole, &why) != GRAINS_CHANGED)
        return json_object();
    return json_pack("{s:O}", key, whole);
}

/* Equal values change nothing; a list or dict in place of a text, or the other way round, needs force, which
 * grains.set refuses by its own words. */
static int
grains_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = state_grains_start(args, ret_value), *value = value_get(args, "value");
    const char *name = value_str(ret, "name", "");
    json_auto_t *have = state_grains_grain(ctx, args, err);

    if (have == NULL)
        return err->code;
    if (value_equal(have, value))
        return state_ret_set(ret, STATE_TRUE, "Grain is already set");
    if (ctx_test(ctx)) {
        json_t *changes = would_set(ctx, args, value, ret);
        if (changes == NULL)
            return 0;
        state_change_set(ret, changes);
        return state_ret_set(ret, STATE_NONE, "Grain %s is set to be %s", name,
                             state_grains_is_absent(have) ? "added" : "changed");
    }
    json_t *answer = sub_call(ctx, err, "grains.set", "{s:s, s:O, s:O}", "key", name, "val", value, "force",
                              value_get(args, "force"));
    if (answer == NULL)
        return err->code;
    taken_over(ret, answer);
    if (!json_is_true(value_get(ret, "result")) || !state_changed(ret))
        return 0;
    AUTO_FREE char *shown = value_pystr(value);
    return state_ret_set(ret, STATE_TRUE, "Set grain %s to %s", name, shown);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Values that this run has appended to a grain so far; Salt leaves them out of the next append. */
static json_t *
state_grains_pending(call_ctx_t *ctx, const char *name)
{
    json_t *all = json_object_get(ctx_context(ctx), "pending_grains");

    if (all == NULL) {
        all = json_object();
        json_object_set_new(ctx_context(ctx), "pending_grains", all);
    }
    if (json_object_get(all, name) == NULL)
        json_object_set_new(all, name, json_array());
    return json_object_get(all, name);
}

/* NEW: each value once. */
static json_t *
distinct(const json_t *values)
{
    json_t *once = json_array(), *v;
    size_t i;

    json_array_foreach (values, i, v) {
        if (!value_has(once, v))
            json_array_append(once, v);
    }
    return once;
}

/* NEW: `value` without what the grain has and what this run has appended already. */
static json_t *
state_grains_missing(call_ctx_t *ctx, const char *name, const json_t *have, const json_t *value)
{
    json_t *seen = state_grains_pending(ctx, name), *left = json_array(), *v;
    json_auto_t *once = distinct(value);
    size_t i;

    json_array_foreach (once, i, v) {
        if (!value_has(seen, v) && !value_has(have, v))
            json_array_append(left, v);
    }
    json_array_extend(seen, left);
    return left;
}

/* Values that the grain lacks are appended, the others left out. A grain that is there and is no list fails
 * the state. */
static int
grains_list_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = state_grains_start(args, ret_value), *given = value_get(args, "value");
    const char *name = value_str(ret, "name", "");
    json_auto_t *have = state_grains_grain(ctx, args, err);

    if (have == NULL)
        return err->code;
    bool there = !state_grains_is_absent(have) && value_truthy(have);
    if (there && !json_is_array(have))
        return state_ret_set(ret, STATE_FALSE, "Grain %s is not a valid list", name);
    if (there && (json_is_array(given) ? contains_all(have, given) : value_has(have, given)))
        return state_grains_told(ret, STATE_TRUE, "Value", given, "is already in grain", "");
    /* An empty value that is no list: the run would fail to append to it. */
    if (ctx_test(ctx) && !state_grains_is_absent(have) && !json_is_array(have))
        return state_grains_told(ret, STATE_FALSE, "Failed append value", given, "to grain", "");
    json_auto_t *value = !json_is_array(given) ? json_incref(given)
                         : there               ? state_grains_missing(ctx, name, have, given)
                                               : distinct(given);
    if (!ctx_test(ctx)) {
        /* The new list is read again: a value that is not in it means that the minion can't keep grains. */
        json_t *all = sub_call(ctx, err, "grains.append", "{s:s, s:O}", "key", name, "val", value);

        if (all == NULL)
            return err->code;
        json_auto_t *now = sub_call(ctx, err, "grains.get", "{s:s}", "key", name);
        bool in = json_is_array(value) ? contains_all(now, value) : value_has(now, value);
        if (!in) {
            json_decref(all);
            return state_grains_told(ret, STATE_FALSE, "Failed append value", value, "to grain", "");
        }
        state_change(ret, "new", all);
        return state_grains_told(ret, STATE_TRUE, "Append value", value, "to grain", "");
    }
    state_change(ret, "new", would_append(ctx, name, have, value));
    return there ? state_grains_told(ret, STATE_NONE, "Value", value, "is set to be appended to grain", "")
                 : state_ret_set(ret, STATE_NONE, "Grain %s is set to be added", name);
}

/* Removes each value that the list has; a grain that is missing or empty is success. */
static int
grains_list_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = state_grains_start(args, ret_value), *v;
    const char *name = value_str(ret, "name", "");
    json_auto_t *have = state_grains_grain(ctx, args, err);
    buf_auto_t lines = BUF_INIT;
    size_t i;

    if (have == NULL)
        return err->code;
    if (state_grains_is_absent(have) || !value_truthy(have))
        return state_ret_set(ret, STATE_TRUE, "Grain %s does not exist", name);
    if (!json_is_array(have))
        return state_ret_set(ret, STATE_FALSE, "Grain %s is not a valid list", name);
    json_t *given = value_get(args, "value");
    json_auto_t *values = json_is_array(given) ? json_incref(given) : json_pack("[O]", given);
    json_array_foreach (values, i, v) {
        AUTO_FREE char *shown = value_pystr(v);

        buf_puts(&lines, buf_str(&lines)[0] != '\0' ? "\n" : "");
        /* Each value has its line, and a value that is not there is no failure. */
        if (!value_has(have, v)) {
            buf_printf(&lines, "Value %s is absent from grain %s", shown, name);
            continue;
        }
        if (!ctx_test(ctx)) {
            json_auto_t *done = sub_call(ctx, err, "grains.remove", "{s:s, s:O}", "key", name, "val", v);
            if (done == NULL)
                return err->code;
        } else {
            json_object_set_new(ret, "result", json_null());
        }
        buf_printf(&lines,
                   ctx_test(ctx) ? "Value %s in grain %s is set to be deleted"
                                 : "Value %s was deleted from grain %s",
                   shown, name);
        json_t *deleted = value_get(value_get(ret, "changes"), "deleted");
        if (deleted == NULL)
            state_change(ret, "deleted", json_pack("[O]", v));
        else
            json_array_append(deleted, v);
    }
    state_ret_comment(ret, json_string(buf_str(&lines)));
    return 0;
}

/* With `convert` a single value becomes a list first. */
static int
state_grains_append(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = state_grains_start(args, ret_value), *value = value_get(args, "value");
    const char *name = value_str(ret, "name", "");
    json_auto_t *have = state_grains_grain(ctx, args, err);

    if (have == NULL)
        return err->code;
    if (state_grains_is_absent(have))
        return state_ret_set(ret, STATE_FALSE, "Grain %s does not exist", name);
    bool list = json_is_array(have);
    if (!list && !value_bool(args, "convert", false))
        return state_ret_set(ret, STATE_FALSE, "Grain %s is not a valid list", name);
    if (list && value_has(have, value))
        return state_grains_told(ret, STATE_TRUE, "Value", value, "is already in the list for grain", "");
    state_change(ret, "added", json_incref(value));
    AUTO_FREE char *shown = value_pystr(value);
    if (ctx_test(ctx))
        return list ? state_grains_told(ret, STATE_NONE, "Value", value, "in grain", " is set to be added")
                    : state_ret_set(ret, STATE_NONE,
                                    "Grain %s is set to be converted to list and value %s will be added",
                                    name, shown);
    json_auto_t *done = list ? sub_call(ctx, err, "grains.append", "{s:s, s:O}", "key", name, "val", value)
                             : sub_call(ctx, err, "grains.setval", "{s:s, s:o}", "key", name, "val",
                                        json_is_null(have) ? json_pack("[O]", value)
                                                           : json_pack("[O, O]", have, value));
    return done != NULL ? state_grains_told(ret, STATE_TRUE, "Value", value, "was added to grain", "")
                        : err->code;
}

/* Sets the grain to None, or deletes it with `destructive`. In test mode grains_plan() finds the refusals
 * that grains.set would answer. */
static int
grains_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = state_grains_start(args, ret_value);
    const char *name = value_str(ret, "name", "");
    bool whole = value_bool(args, "destructive", false), test = ctx_test(ctx);
    json_auto_t *have = state_grains_grain(ctx, args, err);

    if (have == NULL)
        return err->code;
    if (state_grains_is_absent(have))
        return state_ret_set(ret, STATE_TRUE, "Grain %s does not exist", name);
    json_auto_t *none = json_null();
    json_auto_t *changes = test ? would_set(ctx, args, none, ret) : NULL;
    if (test && changes == NULL)
        return 0;
    json_t *answer = test ? json_object()
                          : sub_call(ctx, err, "grains.set", "{s:s, s:n, s:O, s:O}", "key", name, "val",
                                     "destructive", value_get(args, "destructive"), "force",
                                     value_get(args, "force"));
    if (answer == NULL)
        return err->code;
    taken_over(ret, answer);
    if (!value_truthy(value_get(ret, "result")))
        return 0;
    state_result_t result = test ? STATE_NONE : STATE_TRUE;
    if (whole) {
        state_change_set(ret, json_pack("{s:s}", "deleted", name));
        return state_ret_set(ret, result, test ? "Grain %s is set to be deleted" : "Grain %s was deleted",
                             name);
    }
    if (json_is_null(have))
        return state_ret_set(ret, result, "%s", value_str(ret, "comment", ""));
    state_change_set(ret, json_pack("{s:s, s:n}", "grain", name, "value"));
    return state_ret_set(
        ret, result,
        test ? "Value for grain %s is set to be deleted (None)" : "Value for grain %s was set to None", name);
}

/* ---- table ----------------------------------------------------------------------------------- */

#define NAME_ROW                                                                                             \
    ARG("name", ARG_STR, ARG_REQUIRED, "The grain; parts of nested ones with the delimiter between")
#define DELIMITER_ROW ARG("delimiter", ARG_STR, "\":\"", "What separates the parts of the name")
#define VALUE_ROW     ARG("value", ARG_ANY, ARG_REQUIRED, "The value, or a list of values")
#define FORCE_ROW     ARG("force", ARG_BOOL, "false", "Replace a value of another kind")

static const arg_t exists_args[] = { NAME_ROW, DELIMITER_ROW, ARGS_END };
static const arg_t present_args[] = { NAME_ROW, VALUE_ROW, DELIMITER_ROW, FORCE_ROW, ARGS_END };
static const arg_t list_args[] = { NAME_ROW, VALUE_ROW, DELIMITER_ROW, ARGS_END };
static const arg_t append_args[] = { NAME_ROW, VALUE_ROW,
                                     ARG("convert", ARG_BOOL, "false", "Make a list of a value that is none"),
                                     DELIMITER_ROW, ARGS_END };
static const arg_t absent_args[] = {
    NAME_ROW, ARG("destructive", ARG_BOOL, "false", "Remove the key, not only its value"), DELIMITER_ROW,
    FORCE_ROW, ARGS_END
};

static const func_t funcs[] = {
    { "absent", grains_absent, absent_args, 0, "Ensure that a grain has no value, or is not there." },
    { "append", state_grains_append, append_args, 0,
      "Ensure that a list has a value; the grain must exist." },
    { "exists", grains_exists, exists_args, FN_READONLY, "Ensure that a grain exists, whatever its value." },
    { "list_absent", grains_list_absent, list_args, 0, "Ensure that a list has none of these values." },
    { "list_present", grains_list_present, list_args, 0, "Ensure that a list has these values." },
    { "present", grains_present, present_args, 0, "Ensure that a grain has this value." },
};

PLUGIN(state, grains, .doc = "Grains that are set on this host", FUNCS(funcs));
