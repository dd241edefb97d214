/* group.c - execution module `group`: groups of this host, changed by groupadd, groupmod, groupdel and
 * gpasswd (shadow), below `root` when that is given. Names are checked, and "--" ends the options before
 * them. True or False says whether the program succeeded, or, for a number, whether the file has it
 * afterwards. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/system/accounts.h"
#include "salt/plugin.h"

/* {} for a group that is not there. */
static int
group_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return account_info(account_group, args, ret_value, err);
}

/* All groups, of name services too; kept for the rest of the job. */
static int
group_getent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return account_getent(ctx, "group.getent", account_groups, args, ret_value, err);
}

/* False also for a group that is there already: the state asks before. */
static int
group_add(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name;
    prog_auto_t prog = PROG_INIT;

    if (account_arg_name(args, "name", &name, err) != 0 ||
        account_prog(&prog, "groupadd", "-R", account_root(args), err) != 0)
        return -EINVAL;
    /* 0 is a number like others, and "" none. -o without -g would be refused. */
    if (value_truthy(value_get(args, "gid")) || json_is_integer(value_get(args, "gid"))) {
        prog_add_option(&prog, "-g", value_get(args, "gid"));
        if (value_bool(args, "non_unique", false))
            prog_add(&prog, "-o");
    }
    if (value_bool(args, "system", false))
        prog_add(&prog, "-r");
    prog_adds(&prog, "--", name, NULL);
    return tool_bool(ctx, &prog, 0, ret_value, err);
}

static int
group_delete(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name;
    prog_auto_t prog = PROG_INIT;

    if (account_arg_name(args, "name", &name, err) != 0 ||
        account_prog(&prog, "groupdel", "-R", account_root(args), err) != 0)
        return -EINVAL;
    prog_adds(&prog, "--", name, NULL);
    return tool_bool(ctx, &prog, 0, ret_value, err);
}

/* True when the group has the number afterwards. A text that is no number, and a group that is not there,
 * is False without a run. */
static int
group_chgid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name, *root = account_root(args);
    AUTO_FREE char *text = value_pystr(value_get(args, "gid"));
    prog_auto_t prog = PROG_INIT;
    long long gid;

    if (account_arg_name(args, "name", &name, err) != 0)
        return -EINVAL;
    json_auto_t *before = account_group(root, name, err);
    bool number = str_to_int(text, 0, UINT32_MAX, &gid);
    if (before == NULL || !number || value_int(before, "gid", -1) == gid) {
        *ret_value = json_boolean(before != NULL && number);
        return err->code;
    }
    int code = 0, rc = account_prog(&prog, "groupmod", "-R", root, err);
    if (rc != 0)
        return rc;
    prog_adds(&prog, value_bool(args, "non_unique", false) ? "-og" : "-g", text, "--", name, NULL);
    rc = account_run(ctx, &prog, &code, err);
    if (rc < 0)
        return rc;
    json_auto_t *after = account_group(root, name, NULL);
    *ret_value = json_boolean(value_int(after, "gid", -1) == gid);
    return 0;
}

/* Runs gpasswd with one option, about one user or a list, on the group of the call. */
static int
gpasswd(call_ctx_t *ctx, json_t *args, const char *option, const char *value, json_t **ret_value, fail_t *err)
{
    const char *name;
    prog_auto_t prog = PROG_INIT;

    if (account_arg_name(args, "name", &name, err) != 0 ||
        account_prog(&prog, "gpasswd", "--root", account_root(args), err) != 0)
        return -EINVAL;
    prog_adds(&prog, option, value, "--", name, NULL);
    return tool_bool(ctx, &prog, 0, ret_value, err);
}

/* Also True for a user who is a member already: gpasswd succeeds then. */
static int
group_adduser(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *user;

    if (account_arg_name(args, "username", &user, err) != 0)
        return -EINVAL;
    return gpasswd(ctx, args, "--add", user, ret_value, err);
}

/* A user who is not a member is success: gpasswd would refuse, and what is wanted is so. Those whose
 * primary group it is are no members of the file's. */
static int
group_deluser(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *user;
    bool member = false;

    if (account_arg_name(args, "username", &user, err) != 0)
        return -EINVAL;
    json_auto_t *group = account_group(account_root(args), value_str(args, "name", ""), err);
    if (err->code < 0)
        return err->code;
    json_t *members = value_get(group, "members");
    for (size_t i = 0; i < json_array_size(members); i++)
        member = member || str_eq(json_string_value(json_array_get(members, i)), user);
    if (member)
        return gpasswd(ctx, args, "--del", user, ret_value, err);
    *ret_value = json_true();
    return 0;
}

/* Sets the members to exactly these. A list is as welcome as the text parted by commas that gpasswd takes;
 * an empty one leaves no member. */
static int
group_members(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *given = value_get(args, "members_list");
    AUTO_FREE char *text = json_is_array(given) ? NULL : value_pystr(given);
    buf_auto_t joined = BUF_INIT;
    char **names = str_split(text != NULL ? text : "", ",", true);
    int rc = 0;

    for (size_t i = 0; names[i] != NULL; i++)
        buf_printf(&joined, "%s%s", i > 0 ? "," : "", str_trim(names[i]));
    strv_free(names);
    for (size_t i = 0; rc == 0 && i < json_array_size(given); i++) {
        AUTO_FREE char *name = value_pystr(json_array_get(given, i));
        rc = account_check_name(name, err);
        buf_printf(&joined, "%s%s", i > 0 ? "," : "", name);
    }
    return rc != 0 ? rc : gpasswd(ctx, args, "--members", buf_str(&joined), ret_value, err);
}

/* ---- table ----------------------------------------------------------------------------------- */

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The group")
#define ROOT_ROW ARG("root", ARG_STR, "null", "Folder of another system to work in")

static const arg_t add_args[] = { NAME_ROW,
                                  ARG("gid", ARG_ANY, "null", "Number"),
                                  ARG("system", ARG_BOOL, "false", "A system group"),
                                  ROOT_ROW,
                                  ARG("non_unique", ARG_BOOL, "false", "The number may be in use"),
                                  ARGS_END };
static const arg_t name_args[] = { NAME_ROW, ROOT_ROW, ARGS_END };
static const arg_t getent_args[] = { ARG("refresh", ARG_BOOL, "false", "Read again"), ROOT_ROW, ARGS_END };
static const arg_t chgid_args[] = { NAME_ROW, ARG("gid", ARG_ANY, ARG_REQUIRED, "Number"), ROOT_ROW,
                                    ARG("non_unique", ARG_BOOL, "false", "The number may be in use"),
                                    ARGS_END };
static const arg_t user_args[] = { NAME_ROW, ARG("username", ARG_STR, ARG_REQUIRED, "The user"), ROOT_ROW,
                                   ARGS_END };
static const arg_t members_args[] = {
    NAME_ROW, ARG("members_list", ARG_ANY, ARG_REQUIRED, "Users, parted by commas or a list"), ROOT_ROW,
    ARGS_END
};

static const func_t funcs[] = {
    { "add", group_add, add_args, 0,
      "Add a group; False when groupadd refuses." CLI_EXAMPLE("salt '*' group.add foo 3456") },
    { "adduser", group_adduser, user_args, 0,
      "Add a user to a group." CLI_EXAMPLE("salt '*' group.adduser foo bar") },
    { "chgid", group_chgid, chgid_args, 0,
      "Change a group's number." CLI_EXAMPLE("salt '*' group.chgid foo 4376") },
    { "delete", group_delete, name_args, 0,
      "Remove a group; False when groupdel refuses." CLI_EXAMPLE("salt '*' group.delete foo") },
    { "deluser", group_deluser, user_args, 0,
      "Remove a user from a group." CLI_EXAMPLE("salt '*' group.deluser foo bar") },
    { "getent", group_getent, getent_args, FN_READONLY,
      "Return all groups with their members." CLI_EXAMPLE("salt '*' group.getent") },
    { "info", group_info, name_args, FN_READONLY,
      "Return number and members of a group; empty when there is none." CLI_EXAMPLE(
          "salt '*' group.info foo") },
    { "members", group_members, members_args, 0,
      "Replace the members of a group." CLI_EXAMPLE("salt '*' group.members foo 'user1,user2,user3,...'") },
};

PLUGIN(exec, group, .doc = "Manage groups", FUNCS(funcs));
