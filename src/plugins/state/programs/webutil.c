/* webutil.c - state module `webutil`: users in a file of htpasswd. */
#include "common/base/fs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/file/fileops.h"
#include "salt/state.h"

/* 1 when the file has a line of the user, 0 or a negative errno. */
static int
has_user(const char *path, const char *name, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    AUTO_FREE char *first = xasprintf("%s:", name), *later = xasprintf("\n%s:", name);

    if (fs_read_any(path, LIMIT_FILE_READ, &text, err) < 0)
        return err->code;
    const char *lines = buf_str(&text);
    return strncmp(lines, first, strlen(first)) == 0 || strstr(lines, later) != NULL;
}

/* What the program said, as the state's comment; the change is told in any case but its failure. */
static int
webutil_tell(json_t *ret, const char *name, const json_t *ran)
{
    bool well = value_int(ran, "retcode", 1) == 0;

    if (well)
        state_change(ret, name, json_true());
    return state_ret_set(ret, well ? STATE_TRUE : STATE_FALSE, "%s", value_str(ran, "stderr", ""));
}

/* webutil.verify or webutil.useradd of the state's user. NEW, or NULL with *err. */
static json_t *
webutil_call(call_ctx_t *ctx, const char *fun, const json_t *args, fail_t *err)
{
    return sub_call(ctx, err, fun, "{s:O, s:O, s:O, s:O, s:O}", "pwfile", value_get(args, "htpasswd_file"),
                    "user", value_get(args, "name"), "password", value_get(args, "password"), "opts",
                    value_get(args, "options"), "runas", value_get(args, "runas"));
}

/* A user who is there is enough, unless `update` wants the password compared or `force` wants it set. */
static int
webutil_user_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args);
    bool force = value_truthy(value_get(args, "force")), update = value_truthy(value_get(args, "update"));
    int there = has_user(value_str(args, "htpasswd_file", ""), name, err);
    json_auto_t *same = NULL, *ran = NULL;

    if (there < 0)
        return there;
    if (there > 0 && update && !force && (same = webutil_call(ctx, "webutil.verify", args, err)) == NULL)
        return err->code;
    if (there > 0 && !force && (same == NULL || json_is_true(same)))
        return state_ret_set(ret, STATE_TRUE, "User already known");
    if (ctx_test(ctx)) {
        state_change(ret, name, json_true());
        return state_ret_set(ret, STATE_NONE, "User '%s' is set to be added to htpasswd file", name);
    }
    ran = webutil_call(ctx, "webutil.useradd", args, err);
    return ran != NULL ? webutil_tell(ret, name, ran) : err->code;
}

/* The file itself is read for the check; webutil.userdel runs htpasswd. */
static int
webutil_user_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *ret = *ret_value = state_ret_args(args);
    int there = has_user(value_str(args, "htpasswd_file", ""), name, err);

    if (there < 0)
        return there;
    if (there == 0)
        return state_ret_set(ret, STATE_TRUE, "User already not in file");
    if (ctx_test(ctx)) {
        state_change(ret, name, json_true());
        return state_ret_set(ret, STATE_NONE, "User '%s' is set to be removed from htpasswd file", name);
    }
    json_auto_t *ran = sub_call(ctx, err, "webutil.userdel", "{s:O, s:s, s:O, s:b}", "pwfile",
                                value_get(args, "htpasswd_file"), "user", name, "runas",
                                value_get(args, "runas"), "all_results", 1);
    return ran != NULL ? webutil_tell(ret, name, ran) : err->code;
}

static const char *
state_webutil_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "webutil.useradd") ? NULL : "Command not found: htpasswd";
}

#define NAME_ROW  ARG("name", ARG_STR, ARG_REQUIRED, "The user")
#define RUNAS_ROW ARG("runas", ARG_STR, "null", "User to run htpasswd as")

static const arg_t exists_args[] = {
    NAME_ROW,
    ARG("password", ARG_STR, ARG_REQUIRED, "The password"),
    ARG("htpasswd_file", ARG_STR, ARG_REQUIRED, "The file"),
    ARG("options", ARG_STR, "\"\"", "Letters of htpasswd's options: n m d p s B"),
    ARG("force", ARG_ANY, "false", "Set the password of a user who is there, too"),
    RUNAS_ROW,
    ARG("update", ARG_ANY, "false", "Set the password when it is another one"),
    ARGS_END,
};
static const arg_t absent_args[] = { NAME_ROW, ARG("htpasswd_file", ARG_STR, ARG_REQUIRED, "The file"),
                                     RUNAS_ROW, ARGS_END };

static const func_t funcs[] = {
    { "user_absent", webutil_user_absent, absent_args, 0,
      "Ensure that a file of htpasswd has no such user." },
    { "user_exists", webutil_user_exists, exists_args, 0,
      "Ensure that a user is in a file of htpasswd; with `update` with this password." },
};

PLUGIN(state, webutil, .doc = "Users of web servers", FUNCS(funcs), .unavailable = state_webutil_unavailable);
