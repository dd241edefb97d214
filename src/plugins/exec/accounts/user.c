/* user.c - execution module `user`: accounts of this host, changed by the programs useradd, usermod and
 * userdel (shadow), and read from the files (of `root` when given). Each change reads the account before
 * and after: the answer is True only when the value arrived, whatever the program's exit code said. A
 * second call with the same value runs nothing. */

#include "common/base/fs.h"
#include "common/host/passwd.h"
#include "common/base/str.h"
#include "plugins/lib/system/accounts.h"
#include "salt/log.h"
#include "salt/plugin.h"

enum { USERDEL_HOME_LEFT = 12 }; /* userdel: the home folder or the mail could not be removed */

/* ---- questions ------------------------------------------------------------------------------- */

static int
user_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return account_info(account_user, args, ret_value, err);
}

static int
user_getent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return account_getent(ctx, "user.getent", account_users, args, ret_value, err);
}

/* Names in the order of their bytes. An account of a name service is among them unless `root` is given. */
static int
user_list_users(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = account_users(account_root(args), err);
    size_t n = json_array_size(all);

    if (all == NULL)
        return -ENOENT;
    const char **names = xcalloc(n + 1, sizeof(*names));
    for (size_t i = 0; i < n; i++)
        names[i] = value_str(json_array_get(all, i), "name", "");
    qsort(names, n, sizeof(*names), str_by_text);
    *ret_value = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(*ret_value, json_string(names[i]));
    free(names);
    return 0;
}

static int
user_list_groups(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = account_groups_of(NULL, value_str(args, "name", ""), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Name of the group, or its number when it has no name. */
static int
user_primary_group(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    passwd_space_auto_t users = { 0 }, groups = { 0 };
    const struct passwd *pw = passwd_user(&users, name);

    if (pw == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "User '%s' does not exist", name);
    const struct group *gr = passwd_gid(&groups, pw->pw_gid);
    *ret_value = gr != NULL ? json_string(gr->gr_name) : value_fmt("%u", pw->pw_gid);
    return 0;
}

/* Login classes are OpenBSD's. */
static int
user_get_loginclass(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_false();
    return 0;
}

/* ---- changes --------------------------------------------------------------------------------- */

/* Runs usermod with the words in `options` on a user; `--` keeps a name from being one. 0 or the program's
 * exit code, which is a failure of the job's but not of the call; negative with *err. */
static int
usermod(call_ctx_t *ctx, const char *name, const char *root, json_t *options, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    int code = 0, rc = account_prog(&prog, "usermod", "-R", root, err);

    if (rc != 0)
        return rc;
    prog_add_json(&prog, options);
    prog_adds(&prog, "--", name, NULL);
    return account_run(ctx, &prog, &code, err);
}

/* Brings one field of an account to a value: True when it is so afterwards. `option` is usermod's; `move`:
 * the home folder's content goes along. */
static int
exec_user_change(call_ctx_t *ctx, json_t *args, const char *field, json_t *given, const char *option,
                 bool move, json_t **ret_value, fail_t *err)
{
    const char *name, *root = account_root(args);
    long long n;
    /* A text that is a number becomes one, so that it compares with what the files hold. */
    bool number = json_is_string(given) && str_to_int(json_string_value(given), 0, UINT32_MAX, &n);
    json_auto_t *value = number ? json_integer(n) : json_incref(given);

    if (account_arg_name(args, "name", &name, err) != 0)
        return -EINVAL;
    json_auto_t *before = account_user(root, name, err);
    /* NULL without an error: there is no such account. */
    if (err->code < 0)
        return err->code;
    if (before == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "User '%s' does not exist", name);
    if (value_equal(value, json_object_get(before, field))) {
        *ret_value = json_true();
        return 0;
    }
    json_auto_t *options = move ? json_pack("[s]", "-m") : json_array();
    json_array_append_new(options, json_string(option));
    json_array_append(options, value);
    int rc = usermod(ctx, name, root, options, err);
    if (rc < 0)
        return rc;
    json_auto_t *after = account_user(root, name, NULL);
    *ret_value = json_boolean(value_equal(value, value_get(after, field)));
    return 0;
}

static int
user_chuid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return exec_user_change(ctx, args, "uid", value_get(args, "uid"), "-u", false, ret_value, err);
}

/* Names of groups are resolved in `root`; unknown ones go to usermod as they are, which reports them. */
static int
user_chgid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *gid = value_get(args, "gid");
    json_auto_t *group = json_is_string(gid) ? account_group(account_root(args), json_string_value(gid), NULL)
                                             : NULL;
    json_auto_t *number = json_incref(group != NULL ? value_get(group, "gid") : gid);

    return exec_user_change(ctx, args, "gid", number, "-g", false, ret_value, err);
}

static int
user_chshell(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return exec_user_change(ctx, args, "shell", value_get(args, "shell"), "-s", false, ret_value, err);
}

/* `persist` moves the old folder's content to the new one. */
static int
user_chhome(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return exec_user_change(ctx, args, "home", value_get(args, "home"), "-d",
                            value_bool(args, "persist", false), ret_value, err);
}

static int
user_chloginclass(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return user_get_loginclass(ctx, args, ret_value, err);
}

/* The home folder keeps its name, and so does the group of the user's own. */
static int
user_rename(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name, *new_name, *root = account_root(args);

    if (account_arg_name(args, "name", &name, err) != 0 ||
        account_arg_name(args, "new_name", &new_name, err) != 0)
        return -EINVAL;
    json_auto_t *taken = account_user(root, new_name, err);
    json_auto_t *now = err->code == 0 ? account_user(root, name, err) : NULL;
    if (err->code < 0)
        return err->code;
    if (taken != NULL)
        return fail_kind(err, FAIL_COMMAND, -EEXIST, "User '%s' already exists", new_name);
    if (now == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "User '%s' does not exist", name);
    json_auto_t *options = json_pack("[s, s]", "-l", new_name);
    int rc = usermod(ctx, name, root, options, err);
    if (rc < 0)
        return rc;
    json_auto_t *after = account_user(root, new_name, NULL);
    *ret_value = json_boolean(after != NULL);
    return 0;
}

/* ---- the comment field ----------------------------------------------------------------------- */

/* Parts of the comment field in its order: names of Salt's arguments, and of members of an account. */
static const char *const gecos_fields[] = { "fullname", "roomnumber", "workphone", "homephone", "other" };

/* Sets one part of the comment field of a user. 0, and *ret_done tells whether it arrived; negative with
 * *err. */
static int
set_gecos(call_ctx_t *ctx, const char *name, const char *root, const char *field, const json_t *given,
          bool *ret_done, fail_t *err)
{
    json_auto_t *user = account_user(root, name, err);
    AUTO_FREE char *value = json_is_null(given) ? xstrdup("") : value_pystr(given);

    *ret_done = true;
    if (err->code < 0)
        return err->code;
    if (user == NULL)
        return fail_set(err, -ENOENT, "\"getpwnam(): name not found: '%s'\"", name);
    if (str_eq(value, value_str(user, field, "")))
        return 0;
    /* Either would end the field, or the line, of the file. */
    if (value[strcspn(value, ":\n")] != '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' can't stand in the comment field of a user",
                         value);
    json_object_set_new(user, field, json_string(value));

    /* The five parts, joined, without commas at the end. */
    buf_t out = BUF_INIT;

    for (size_t i = 0; i < NELEMS(gecos_fields); i++)
        buf_printf(&out, "%s%s", i > 0 ? "," : "", value_str(user, gecos_fields[i], ""));
    while (out.len > 0 && out.data[out.len - 1] == ',')
        out.data[--out.len] = '\0';
    AUTO_FREE char *gecos = buf_steal(&out);

    json_auto_t *options = json_pack("[s, s]", "-c", gecos);
    int rc = usermod(ctx, name, root, options, err);
    if (rc < 0)
        return rc;
    /* A comma in the value moves its rest into the next part: then it has not arrived. */
    json_auto_t *after = account_user(root, name, NULL);
    *ret_done = str_eq(value, value_str(after, field, NULL));
    return 0;
}

/* The row has the part's name, which is also that of the argument. */
static int
user_change_gecos(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *field = ctx_row(ctx)->data.text;
    const char *name;
    bool done = false;

    if (account_arg_name(args, "name", &name, err) != 0)
        return -EINVAL;
    int rc = set_gecos(ctx, name, account_root(args), field, value_get(args, field), &done, err);
    if (rc == 0)
        *ret_value = json_boolean(done);
    return rc;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* A list, or a text parted by commas, as a list of texts; empty for anything else. NEW. */
static json_t *
exec_user_names_list(const json_t *given)
{
    json_t *list = json_array();
    char **parts = json_is_string(given) ? str_split(json_string_value(given), ",", true) : NULL;

    for (size_t i = 0; parts != NULL && parts[i] != NULL; i++)
        json_array_append_new(list, json_string(str_trim(parts[i])));
    strv_free(parts);
    for (size_t i = 0; i < json_array_size(given); i++) {
        AUTO_FREE char *name = value_pystr(json_array_get(given, i));
        json_array_append_new(list, json_string(name));
    }
    return list;
}

/* True when both lists hold the same values, in any order and number. */
static bool
same_set(const json_t *a, const json_t *b)
{
    for (size_t i = 0; i < json_array_size(a); i++) {
        if (!value_has(b, json_array_get(a, i)))
            return false;
    }
    for (size_t i = 0; i < json_array_size(b); i++) {
        if (!value_has(a, json_array_get(b, i)))
            return false;
    }
    return true;
}

/* usermod knows only groups of the files and refuses others; gpasswd joins those one by one. *ret_done: all
 * of them took the user. 0, or negative with *err. */
static int
join_each(call_ctx_t *ctx, const char *name, const char *root, const json_t *groups, bool *ret_done,
          fail_t *err)
{
    *ret_done = true;
    for (size_t i = 0; i < json_array_size(groups); i++) {
        prog_auto_t prog = PROG_INIT;
        int code = 0, rc = account_prog(&prog, "gpasswd", "--root", root, err);
        prog_adds(&prog, "-a", name, json_string_value(json_array_get(groups, i)), NULL);
        if (rc == 0)
            rc = account_run(ctx, &prog, &code, err);
        if (rc < 0)
            return rc;
        *ret_done = *ret_done && code == 0;
    }
    return 0;
}

/* "a,b" of names that are fit for it: a comma or a colon in one would make two. NEW, or NULL with *err. */
static char *
joined_names(const json_t *names, fail_t *err)
{
    buf_auto_t joined = BUF_INIT;

    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (account_check_name(name, err) != 0)
            return NULL;
        buf_printf(&joined, "%s%s", i > 0 ? "," : "", name);
    }
    return xstrdup(buf_str(&joined));
}

/* Sets the supplementary groups unless they are right already. *ret_done tells whether usermod succeeded;
 * groups that only a name service knows are joined one by one. */
static int
set_groups(call_ctx_t *ctx, const char *name, const char *root, const json_t *given, bool append,
           bool *ret_done, fail_t *err)
{
    json_auto_t *groups = exec_user_names_list(given), *now = account_groups_of(root, name, err);
    AUTO_FREE char *joined = now != NULL ? joined_names(groups, err) : NULL;
    prog_auto_t prog = PROG_INIT;

    *ret_done = true;
    if (joined == NULL)
        return -EINVAL;
    if (same_set(groups, now))
        return 0;
    int rc = account_prog(&prog, "usermod", "-R", root, err);
    if (rc != 0)
        return rc;
    /* Without -a the account leaves the groups that are not named. */
    if (append)
        prog_add(&prog, "-a");
    prog_adds(&prog, "-G", joined, "--", name, NULL);
    json_auto_t *ret = tool_run(ctx, &prog, 0, err);
    if (ret == NULL)
        return -EIO;
    *ret_done = value_int(ret, "retcode", 1) == 0;
    /* usermod knows only groups of the files, and changes nothing when one is of a name service. */
    if (!*ret_done && strstr(value_str(ret, "stderr", ""), "not found in") != NULL)
        return join_each(ctx, name, root, groups, ret_done, err);
    return 0;
}

static int
user_chgroups(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name;
    bool done = false;

    if (account_arg_name(args, "name", &name, err) != 0)
        return -EINVAL;
    int rc = set_groups(ctx, name, account_root(args), value_get(args, "groups"),
                        value_bool(args, "append", false), &done, err);
    if (rc == 0)
        *ret_value = json_boolean(done);
    return rc;
}

/* ---- add and delete -------------------------------------------------------------------------- */

/* True for an argument that is set: None and an empty text are not. */
static bool
is_given(const json_t *v)
{
    return v != NULL && !json_is_null(v) && !(json_is_string(v) && json_string_length(v) == 0);
}

/* Translates user.add's arguments into useradd's options; the name is the last word. Supplementary
 * groups and the comment field are set afterwards, so that a wrong one does not keep the account from
 * being made. */
static void
exec_user_add_options(prog_t *prog, json_t *args, const char *name)
{
    static const struct {
        const char *key, *option;
    } values[] = { { "shell", "-s" }, { "uid", "-u" }, { "home", "-d" } };

    for (size_t i = 0; i < NELEMS(values); i++) {
        if (is_given(value_get(args, values[i].key)))
            prog_add_option(prog, values[i].option, value_get(args, values[i].key));
    }

    /* The options that choose the primary group. */
    json_t *gid = value_get(args, "gid"), *usergroup = value_get(args, "usergroup");
    json_auto_t *groups = exec_user_names_list(value_get(args, "groups")), *own = json_string(name);
    const char *root = account_root(args);
    json_auto_t *existing = account_group(root, name, NULL);

    /* A group among `groups` with the user's own name would be in useradd's way, which would make it anew:
     * it becomes the primary one. */
    if (is_given(gid)) {
        prog_add_option(prog, "-g", gid);
    } else if (value_truthy(usergroup)) {
        prog_add(prog, "-U");
    } else if (value_has(groups, own) && existing != NULL && account_own_groups(root)) {
        prog_add_option(prog, "-g", value_get(existing, "gid"));
    }
    if (json_is_false(usergroup))
        prog_add(prog, "-N");

    /* Always said, since login.defs has a default of its own (CREATE_HOME). */
    prog_add(prog, value_bool(args, "createhome", true) ? "-m" : "-M");
    if (value_bool(args, "nologinit", false))
        prog_add(prog, "-l");
    if (!value_bool(args, "unique", true))
        prog_add(prog, "-o");
    if (value_bool(args, "system", false))
        prog_add(prog, "-r");
    prog_adds(prog, "--", name, NULL);
}

/* Account first, groups and comment fields afterwards: their failure does not undo the account. */
static int
user_add(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name;
    prog_auto_t prog = PROG_INIT;
    int code = 0;

    if (account_arg_name(args, "name", &name, err) != 0 ||
        account_prog(&prog, "useradd", "-R", account_root(args), err) != 0)
        return -EINVAL;
    exec_user_add_options(&prog, args, name);
    int rc = account_run(ctx, &prog, &code, err);
    if (rc < 0)
        return rc;
    if (code == 0) {
        /* The account exists by now: what can't be set on top of it is logged, and does not undo that. */
        const char *root = account_root(args);
        json_t *groups = value_get(args, "groups");
        bool done = false;

        if (value_truthy(groups)) {
            fail_auto_t why = FAIL_INIT;
            if (set_groups(ctx, name, root, groups, false, &done, &why) < 0)
                log_error("The groups of user %s can't be set: %s", name, fail_text(&why));
        }
        for (size_t i = 0; i < NELEMS(gecos_fields); i++) {
            fail_auto_t why = FAIL_INIT;
            json_t *v = value_get(args, gecos_fields[i]);
            if (is_given(v) && set_gecos(ctx, name, root, gecos_fields[i], v, &done, &why) < 0)
                log_error("The %s of user %s can't be set: %s", gecos_fields[i], name, fail_text(&why));
        }
    }
    *ret_value = json_boolean(code == 0);
    return 0;
}

/* True when the account is gone. A user whose mail folder alone was missing counts as deleted. */
static int
user_delete(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name;
    prog_auto_t prog = PROG_INIT;

    if (account_arg_name(args, "name", &name, err) != 0 ||
        account_prog(&prog, "userdel", "-R", account_root(args), err) != 0)
        return -EINVAL;
    if (value_bool(args, "remove", false))
        prog_add(&prog, "-r");
    if (value_bool(args, "force", false))
        prog_add(&prog, "-f");
    prog_adds(&prog, "--", name, NULL);
    json_auto_t *ret = tool_run(ctx, &prog, 0, err);
    if (ret == NULL)
        return -EIO;
    bool gone = value_int(ret, "retcode", 1) == 0;
    /* Debian's userdel complains of a mail folder that was never there; the account is gone all the same. */
    if (value_int(ret, "retcode", 1) == USERDEL_HOME_LEFT &&
        strcmp(value_str(ctx_grains(ctx), "os_family", ""), "Debian") == 0 &&
        strstr(value_str(ret, "stderr", ""), "/mail") != NULL) {
        ctx_set_retcode(ctx, 0);
        gone = true;
    }
    *ret_value = json_boolean(gone);
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The user")
#define ROOT_ROW ARG("root", ARG_STR, "null", "Folder of another system to work in")

static const arg_t name_args[] = { NAME_ROW, ARGS_END };
static const arg_t info_args[] = { NAME_ROW, ROOT_ROW, ARGS_END };
static const arg_t root_args[] = { ROOT_ROW, ARGS_END };
static const arg_t getent_args[] = { ARG("refresh", ARG_BOOL, "false", "Read again"), ROOT_ROW, ARGS_END };
static const arg_t add_args[] = {
    NAME_ROW,
    ARG("uid", ARG_ANY, "null", "Number"),
    ARG("gid", ARG_ANY, "null", "Primary group, by name or number"),
    ARG("groups", ARG_ANY, "null", "Further groups, a list or parted by commas"),
    ARG("home", ARG_STR, "null", "Home folder"),
    ARG("shell", ARG_STR, "null", "Login shell"),
    ARG("unique", ARG_BOOL, "true", "The number may not be in use"),
    ARG("system", ARG_BOOL, "false", "A system account"),
    ARG("fullname", ARG_ANY, "\"\"", "Full name"),
    ARG("roomnumber", ARG_ANY, "\"\"", "Room"),
    ARG("workphone", ARG_ANY, "\"\"", "Phone at work"),
    ARG("homephone", ARG_ANY, "\"\"", "Phone at home"),
    ARG("other", ARG_ANY, "\"\"", "Anything else"),
    ARG("createhome", ARG_BOOL, "true", "Make the home folder"),
    ARG("loginclass", ARG_STR, "null", "OpenBSD only"),
    ARG("nologinit", ARG_BOOL, "false", "Leave lastlog and faillog alone"),
    ROOT_ROW,
    ARG("usergroup", ARG_ANY, "null", "Make, or don't make, a group of the same name"),
    ARGS_END
};
static const arg_t delete_args[] = { NAME_ROW,
                                     ARG("remove", ARG_BOOL, "false", "Also the home folder and the mail"),
                                     ARG("force", ARG_BOOL, "false", "Even when the user is logged in"),
                                     ROOT_ROW, ARGS_END };
static const arg_t chuid_args[] = { NAME_ROW, ARG("uid", ARG_ANY, ARG_REQUIRED, "Number"), ROOT_ROW,
                                    ARGS_END };
static const arg_t chgid_args[] = { NAME_ROW, ARG("gid", ARG_ANY, ARG_REQUIRED, "Group"), ROOT_ROW,
                                    ARGS_END };
static const arg_t chshell_args[] = { NAME_ROW, ARG("shell", ARG_STR, ARG_REQUIRED, "Login shell"), ROOT_ROW,
                                      ARGS_END };
static const arg_t chhome_args[] = { NAME_ROW, ARG("home", ARG_STR, ARG_REQUIRED, "Home folder"),
                                     ARG("persist", ARG_BOOL, "false", "Move what is in the old one"),
                                     ROOT_ROW, ARGS_END };
static const arg_t chgroups_args[] = { NAME_ROW,
                                       ARG("groups", ARG_ANY, ARG_REQUIRED, "A list, or parted by commas"),
                                       ARG("append", ARG_BOOL, "false", "Keep the others"), ROOT_ROW,
                                       ARGS_END };
static const arg_t chfullname_args[] = { NAME_ROW, ARG("fullname", ARG_ANY, ARG_REQUIRED, "Full name"),
                                         ROOT_ROW, ARGS_END };
static const arg_t chroom_args[] = { NAME_ROW, ARG("roomnumber", ARG_ANY, ARG_REQUIRED, "Room"), ROOT_ROW,
                                     ARGS_END };
static const arg_t chwork_args[] = { NAME_ROW, ARG("workphone", ARG_ANY, ARG_REQUIRED, "Phone"), ROOT_ROW,
                                     ARGS_END };
static const arg_t chhomephone_args[] = { NAME_ROW, ARG("homephone", ARG_ANY, ARG_REQUIRED, "Phone"),
                                          ROOT_ROW, ARGS_END };
static const arg_t chother_args[] = { NAME_ROW, ARG("other", ARG_ANY, ARG_REQUIRED, "Anything"), ROOT_ROW,
                                      ARGS_END };
static const arg_t chloginclass_args[] = { NAME_ROW, ARG("loginclass", ARG_STR, ARG_REQUIRED, "OpenBSD only"),
                                           ROOT_ROW, ARGS_END };
static const arg_t rename_args[] = { NAME_ROW, ARG("new_name", ARG_STR, ARG_REQUIRED, "The new name"),
                                     ROOT_ROW, ARGS_END };

static const func_t funcs[] = {
    { "add", user_add, add_args, 0,
      "Add a user; False when useradd refuses." CLI_EXAMPLE(
          "salt '*' user.add name <uid> <gid> <groups> <home> <shell>") },
    { "chfullname", user_change_gecos, chfullname_args, 0,
      "Change a user's full name." CLI_EXAMPLE("salt '*' user.chfullname foo \"Foo Bar\""),
      .data.text = "fullname" },
    { "chgid", user_chgid, chgid_args, 0,
      "Change a user's primary group." CLI_EXAMPLE("salt '*' user.chgid foo 4376") },
    { "chgroups", user_chgroups, chgroups_args, 0,
      "Change the groups that a user is in." CLI_EXAMPLE(
          "salt '*' user.chgroups foo wheel,root\n    "
          "salt '*' user.chgroups foo wheel,root append=True") },
    { "chhome", user_chhome, chhome_args, 0,
      "Change a user's home folder, with ``persist=True`` moving what it holds." CLI_EXAMPLE(
          "salt '*' user.chhome foo /home/users/foo") },
    { "chhomephone", user_change_gecos, chhomephone_args, 0,
      "Change a user's phone at home." CLI_EXAMPLE("salt '*' user.chhomephone foo 7735551234"),
      .data.text = "homephone" },
    { "chloginclass", user_chloginclass, chloginclass_args, 0,
      "Change a user's login class; False, as Linux has none." CLI_EXAMPLE(
          "salt '*' user.chloginclass foo staff") },
    { "chother", user_change_gecos, chother_args, 0,
      "Change the rest of a user's comment field." CLI_EXAMPLE("salt '*' user.chother foobar"),
      .data.text = "other" },
    { "chroomnumber", user_change_gecos, chroom_args, 0,
      "Change a user's room." CLI_EXAMPLE("salt '*' user.chroomnumber foo 123"), .data.text = "roomnumber" },
    { "chshell", user_chshell, chshell_args, 0,
      "Change a user's login shell." CLI_EXAMPLE("salt '*' user.chshell foo /bin/zsh") },
    { "chuid", user_chuid, chuid_args, 0,
      "Change a user's number." CLI_EXAMPLE("salt '*' user.chuid foo 4376") },
    { "chworkphone", user_change_gecos, chwork_args, 0,
      "Change a user's phone at work." CLI_EXAMPLE("salt '*' user.chworkphone foo 7735550123"),
      .data.text = "workphone" },
    { "delete", user_delete, delete_args, 0,
      "Remove a user; False when userdel refuses." CLI_EXAMPLE(
          "salt '*' user.delete name remove=True force=True") },
    { "get_loginclass", user_get_loginclass, name_args, FN_READONLY,
      "Return a user's login class; False, as Linux has none." CLI_EXAMPLE(
          "salt '*' user.get_loginclass foo") },
    { "getent", user_getent, getent_args, FN_READONLY,
      "Return all users with their fields." CLI_EXAMPLE("salt '*' user.getent") },
    { "info", user_info, info_args, FN_READONLY,
      "Return the fields of a user; empty when there is none." CLI_EXAMPLE("salt '*' user.info root") },
    { "list_groups", user_list_groups, name_args, FN_READONLY,
      "Return the groups that a user is in." CLI_EXAMPLE("salt '*' user.list_groups foo") },
    { "list_users", user_list_users, root_args, FN_READONLY,
      "Return the names of all users." CLI_EXAMPLE("salt '*' user.list_users") },
    { "primary_group", user_primary_group, name_args, FN_READONLY,
      "Return the name of a user's primary group." CLI_EXAMPLE("salt '*' user.primary_group saltadmin") },
    { "rename", user_rename, rename_args, 0,
      "Change a user's name." CLI_EXAMPLE("salt '*' user.rename name new_name") },
};

PLUGIN(exec, user, .doc = "Manage users", FUNCS(funcs));
