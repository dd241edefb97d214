/* webutil.c - execution module `webutil`: users of a web server in a file of htpasswd. The program reads
 * passwords from its standard input, so that they are in no list of processes. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/fileops.h"
#include "salt/plugin.h"

/* The options, file and user behind them; `before` are options of ours. The letters of `opts` join those of
 * ours in one word: letters that would take a further word, or read the password from the line, are
 * refused. */
static int
htpasswd_line(prog_t *prog, const json_t *args, const char *before, fail_t *err)
{
    const char *user_as = value_str(args, "runas", NULL), *opts = value_str(args, "opts", "");

    if (tool_begin(prog, "htpasswd", err) < 0)
        return err->code;
    if (opts[strspn(opts, "nmdpsBbCc0123456789 ")] != '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "opts: '%s' has a letter that is none of htpasswd's options: n m d p s B", opts);
    prog_addf(prog, "-%s%s", before, opts);
    prog->run_as = user_as;
    prog->timeout_ms = LIMIT_TOOL_MS;
    if (prog_operand(prog, "pwfile", value_str(args, "pwfile", ""), err) < 0 ||
        prog_operand(prog, "user", value_str(args, "user", ""), err) < 0)
        return err->code;
    return 0;
}

/* Runs it with the password on its standard input. NEW cmd.run_all, or NULL with *err. "i" reads it there
 * without asking twice. */
static json_t *
with_password(call_ctx_t *ctx, const json_t *args, const char *before, unsigned flags, fail_t *err)
{
    const char *password = value_str(args, "password", "");
    prog_auto_t prog = PROG_INIT;

    if (field_check_text("password", password, FIELD_LINE, err) < 0 ||
        htpasswd_line(&prog, args, before, err) < 0)
        return NULL;
    AUTO_FREE char *line = xasprintf("%s\n", password);
    prog.in = line;
    return tool_run(ctx, &prog, flags, err);
}

/* A missing file is made (-c); an existing one would be emptied by that option. */
static int
webutil_useradd(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int there = fop_exists(value_str(args, "pwfile", ""), err);

    if (there < 0)
        return there;
    *ret_value = with_password(ctx, args, there > 0 ? "i" : "ic", 0, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* False for a missing file too. */
static int
webutil_verify(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int there = fop_exists(value_str(args, "pwfile", ""), err);
    json_auto_t *ran = there > 0 ? with_password(ctx, args, "vi", TOOL_QUIET, err) : NULL;

    if (there < 0 || (there > 0 && ran == NULL))
        return err->code;
    *ret_value = json_boolean(there > 0 && value_int(ran, "retcode", 1) == 0);
    return 0;
}

/* The lines that htpasswd prints, or with all_results all that it says. */
static int
webutil_userdel(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool all = value_truthy(value_get(args, "all_results"));
    int there = fop_exists(value_str(args, "pwfile", ""), err);
    prog_auto_t prog = PROG_INIT;

    if (there < 0)
        return there;
    if (there == 0) {
        *ret_value = json_string("Error: The specified htpasswd file does not exist");
        return 0;
    }
    if (htpasswd_line(&prog, args, "D", err) < 0)
        return err->code;
    json_auto_t *ran = tool_run(ctx, &prog, all ? 0 : TOOL_MERGE, err);
    if (ran == NULL)
        return err->code;
    if (all) {
        *ret_value = json_incref(ran);
        return 0;
    }
    *ret_value = json_array();
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", ""));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;)
        json_array_append_new(*ret_value, json_string(line));
    return 0;
}

static const char *
webutil_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *program = fs_which("htpasswd");

    return program != NULL ? NULL
                           : "The htpasswd execution mdule cannot be loaded: htpasswd binary not in path.";
}

/* ---- table ------------------------------------------------------------------------------------ */

#define PWFILE_ROW   ARG("pwfile", ARG_STR, ARG_REQUIRED, "The file of htpasswd")
#define USER_ROW     ARG("user", ARG_STR, ARG_REQUIRED, "The user's name")
#define PASSWORD_ROW ARG("password", ARG_STR, ARG_REQUIRED, "The password")
#define OPTS_ROW     ARG("opts", ARG_STR, "\"\"", "Letters of htpasswd's options: n m d p s B")
#define RUNAS_ROW    ARG("runas", ARG_STR, "null", "User to run htpasswd as")

static const arg_t useradd_args[] = { PWFILE_ROW, USER_ROW, PASSWORD_ROW, OPTS_ROW, RUNAS_ROW, ARGS_END };
static const arg_t userdel_args[] = {
    PWFILE_ROW, USER_ROW, RUNAS_ROW, ARG("all_results", ARG_ANY, "false", "Return exit code and stderr, too"),
    ARGS_END
};

static const func_t funcs[] = {
    { "useradd", webutil_useradd, useradd_args, 0,
      "Set a user's password; the file is made when there is none." CLI_EXAMPLE(
          "salt '*' webutil.useradd /etc/apache2/htpasswd larry badpassword") },
    { "userdel", webutil_userdel, userdel_args, 0,
      "Remove a user." CLI_EXAMPLE("salt '*' webutil.userdel /etc/apache2/htpasswd larry") },
    { "verify", webutil_verify, useradd_args, FN_READONLY,
      "Return whether the user has this password." CLI_EXAMPLE(
          "salt '*' webutil.verify /etc/apache2/htpasswd larry maybepassword") },
};

PLUGIN(exec, webutil, .doc = "Users of web servers", FUNCS(funcs), .unavailable = webutil_unavailable);
