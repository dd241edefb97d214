/* group.c - state module `group`: groups of this host and their members. Differences are computed first, so
 * that test mode and the real run agree, and once more after the change, since the tools that change groups
 * tell little. Members are compared as sets. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* NEW: those of `list` that are (or are not) in `members`. */
static json_t *
those(const json_t *list, const json_t *members, bool present)
{
    json_t *found = json_array(), *v;
    size_t i;

    json_array_foreach (list, i, v) {
        if (value_has(members, v) == present)
            json_array_append(found, v);
    }
    return found;
}

/* Order and repetition do not count: an empty difference in both directions is equality. */
static bool
state_group_same_members(const json_t *a, const json_t *b)
{
    json_auto_t *only_a = those(a, b, false), *only_b = those(b, a, false);

    return json_array_size(only_a) == 0 && json_array_size(only_b) == 0;
}

/* TAKES list. */
static void
state_group_set_unless_empty(json_t *change, const char *key, json_t *list)
{
    if (json_array_size(list) > 0)
        json_object_set(change, key, list);
    json_decref(list);
}

/* NEW {"gid", "members", "addusers", "delusers"}: what differs; NULL: no such group (err->code 0) or *err. */
static json_t *
state_group_differences(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_auto_t *group = sub_call(ctx, err, "group.info", "{s:O}", "name", value_get(args, "name"));
    json_t *members = value_get(args, "members"), *have = value_get(group, "members"),
           *gid = value_get(args, "gid");

    if (!value_truthy(group))
        return NULL;
    json_t *change = json_object();
    if (value_truthy(gid) && !value_equal(gid, value_get(group, "gid")))
        json_object_set(change, "gid", gid);
    /* An empty list of members removes all, which the key "delusers" tells, as in Salt. */
    if (json_is_array(members) && !state_group_same_members(members, have))
        json_object_set(change, json_array_size(members) > 0 ? "members" : "delusers",
                        json_array_size(members) > 0 ? members : have);
    state_group_set_unless_empty(change, "addusers", those(value_get(args, "addusers"), have, false));
    json_t *gone = those(value_get(args, "delusers"), have, true);
    state_group_set_unless_empty(change, "delusers", gone);
    return change;
}

/* group.members takes a text with commas between. NEW. */
static json_t *
state_group_joined(const json_t *names)
{
    buf_auto_t out = BUF_INIT;
    size_t i;
    json_t *v;

    json_array_foreach (names, i, v) {
        AUTO_FREE char *text = value_pystr(v);
        buf_printf(&out, "%s%s", i > 0 ? "," : "", text);
    }
    return json_string(buf_str(&out));
}

/* Calls group.adduser or group.deluser for each user. The answer is not looked at: the differences afterwards
 * tell. */
static int
each_user(call_ctx_t *ctx, const char *fun, json_t *name, const json_t *users, fail_t *err)
{
    size_t i;
    json_t *user;

    json_array_foreach (users, i, user) {
        if (sub_call_bool(ctx, err, fun, "{s:O, s:O}", "name", name, "username", user) < 0)
            return err->code;
    }
    return 0;
}

/* Drops cached values, so that the next read sees the changes. */
static void
state_group_forget(call_ctx_t *ctx)
{
    json_object_del(ctx_context(ctx), "group.getent");
}

/* Verifies by computing the differences again; what is left is shown as "Failed". */
static int
change_group(call_ctx_t *ctx, const json_t *args, json_t *change, json_t *ret, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    const char *key;
    json_t *v;

    buf_puts(&text, "The following group attributes are set to be changed:\n");
    json_object_foreach (change, key, v) {
        AUTO_FREE char *shown = value_pystr(v);
        buf_printf(&text, "%s: %s\n", key, shown);
    }
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "%s", buf_str(&text));

    /* Applies the group's changes. */
    json_t *name = value_get(args, "name");
    if (value_get(change, "gid") != NULL &&
        sub_call_bool(ctx, err, "group.chgid", "{s:O, s:O, s:O}", "name", name, "gid", value_get(args, "gid"),
                      "non_unique", value_get(args, "non_unique")) < 0)
        return err->code;
    if (value_get(change, "members") != NULL &&
        sub_call_bool(ctx, err, "group.members", "{s:O, s:o}", "name", name, "members_list",
                      state_group_joined(value_get(args, "members"))) < 0)
        return err->code;
    if (each_user(ctx, "group.adduser", name, value_get(change, "addusers"), err) < 0)
        return err->code;
    if (each_user(ctx, "group.deluser", name, value_get(change, "delusers"), err) < 0)
        return err->code;

    state_group_forget(ctx);
    json_auto_t *left = state_group_differences(ctx, args, err);
    if (err->code < 0)
        return err->code;
    if (left != NULL && json_object_size(left) == 0) {
        state_change(ret, "Final", json_string("All changes applied successfully"));
        return state_ret_set(ret, STATE_TRUE, "%s", buf_str(&text));
    }
    state_change(ret, "Failed", left != NULL ? json_incref(left) : json_false());
    return state_ret_set(ret, STATE_FALSE, "%sSome changes could not be applied", buf_str(&text));
}

/* A gid that another group has fails the state unless non_unique is set. */
static int
state_group_add_group(call_ctx_t *ctx, const json_t *args, json_t *ret, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *gid = value_get(args, "gid"), *group;
    size_t i;

    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Group %s set to be added", name);
    /* All groups of the host are asked, those of a directory too. */
    bool unique = !json_is_null(gid) && !value_bool(args, "non_unique", false);
    json_auto_t *groups = unique ? sub_call(ctx, err, "group.getent", NULL) : NULL;
    json_array_foreach (groups, i, group) {
        if (value_equal(value_get(group, "gid"), gid))
            return state_ret_set(ret, STATE_FALSE,
                                 "Group %s is not present but gid %lld is already taken by group %s", name,
                                 (long long) json_integer_value(gid), value_str(group, "name", ""));
    }
    int made = err->code < 0 ? err->code
                             : sub_call_bool(ctx, err, "group.add", "{s:s, s:O, s:O, s:O}", "name", name,
                                             "gid", gid, "system", value_get(args, "system"), "non_unique",
                                             value_get(args, "non_unique"));
    if (made < 0)
        return made;
    if (!made)
        return state_ret_set(ret, STATE_FALSE, "Failed to create new group %s", name);

    /* Members, then the new group's record as the change, and a look at what could not be applied. */
    json_t *members = value_get(args, value_truthy(value_get(args, "addusers")) ? "addusers" : "members");
    if (value_truthy(members) && sub_call_bool(ctx, err, "group.members", "{s:s, s:o}", "name", name,
                                               "members_list", state_group_joined(members)) < 0)
        return err->code;
    state_group_forget(ctx);
    json_t *info = sub_call(ctx, err, "group.info", "{s:s}", "name", name);
    if (info == NULL)
        return err->code;
    state_change_set(ret, info);
    json_auto_t *left = state_group_differences(ctx, args, err);
    if (err->code < 0)
        return err->code;
    if (left != NULL && json_object_size(left) == 0)
        return state_ret_set(ret, STATE_TRUE, "New group %s created", name);
    state_change_set(ret, json_pack("{s:o}", "Failed", left != NULL ? json_incref(left) : json_false()));
    return state_ret_set(ret, STATE_FALSE, "Group %s has been created but, some changes could not be applied",
                         name);
}

/* `members` is the whole list, addusers and delusers are changes of it, so they exclude each other. */
static int
group_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    json_t *add = value_get(args, "addusers"), *del = value_get(args, "delusers");

    if (!json_is_null(value_get(args, "members")) && (!json_is_null(add) || !json_is_null(del)))
        return state_ret_set(
            ret, STATE_FALSE,
            "Error: Conflicting options \"members\" with \"addusers\" and/or \"delusers\" can not be "
            "used together. ");
    json_auto_t *both = those(add, del, true);
    if (json_array_size(both) > 0)
        return state_ret_set(ret, STATE_FALSE,
                             "Error. Same user(s) can not be added and deleted simultaneously");
    json_auto_t *change = state_group_differences(ctx, args, err);
    if (err->code < 0)
        return err->code;
    if (change == NULL)
        return state_group_add_group(ctx, args, ret, err);
    if (json_object_size(change) > 0)
        return change_group(ctx, args, change, ret, err);
    return state_ret_set(ret, STATE_TRUE, "Group %s is present and up to date", value_str(args, "name", ""));
}

/* The change of a removal is an empty text under the group's name, as Salt tells it. */
static int
group_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    int there = sub_call_bool(ctx, err, "group.info", "{s:s}", "name", name);

    if (there < 0)
        return there;
    if (!there)
        return state_ret_set(ret, STATE_TRUE, "Group not present");
    if (ctx_test(ctx)) {
        state_change(ret, name, json_string(""));
        return state_ret_set(ret, STATE_NONE, "Group %s is set for removal", name);
    }
    int gone = sub_call_bool(ctx, err, "group.delete", "{s:s}", "name", name);
    if (gone < 0)
        return gone;
    if (!gone)
        return state_ret_set(ret, STATE_FALSE, "Failed to remove group %s", name);
    state_change(ret, name, json_string(""));
    return state_ret_set(ret, STATE_TRUE, "Removed group %s", name);
}

static const arg_t present_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The group"),
    ARG("gid", ARG_INT, "null", "Its number; None: any"),
    ARG("system", ARG_BOOL, "false", "Whether the number is one of the system's"),
    ARG("addusers", ARG_LIST, "null", "Users who must be members, among others"),
    ARG("delusers", ARG_LIST, "null", "Users who must not be members"),
    ARG("members", ARG_LIST, "null", "All members; nobody else stays"),
    ARG("non_unique", ARG_BOOL, "false", "Allow a number that another group has"),
    ARGS_END,
};
static const arg_t absent_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The group"), ARGS_END };

static const func_t funcs[] = {
    { "absent", group_absent, absent_args, 0, "Ensure that a group does not exist." },
    { "present", group_present, present_args, 0, "Ensure that a group exists, with these members." },
};

PLUGIN(state, group, .doc = "Groups of this host", FUNCS(funcs));
