/* cmd_powershell.c - more of execution module `cmd`: PowerShell, as far as Salt has it on Linux: its answer
 * is always that there is none, for it looks for it in Windows' registry and in the minion's own folder. */
#include "salt/plugin.h"

#include <string.h>

#include "plugins/lib/call/cmdrows.h"

/* 0 for a name that Salt accepts, else negative with its error. */
static int
check_shell(const char *shell, fail_t *err)
{
    if (strcmp(shell, "powershell") != 0 && strcmp(shell, "pwsh") != 0)
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Must specify a valid powershell binary. Must be 'powershell' or 'pwsh'");
    return 0;
}

/* Python's KeyError of Salt, which reads the version out of an empty answer. */
static int
cmd_powershell(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    int rc = check_shell(value_str(args, "shell", ""), err);

    return rc < 0 ? rc : fail_set(err, -ENOTSUP, "'psversion'");
}

static int
cmd_powershell_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *shell = value_str(args, "shell", "");
    int rc = check_shell(shell, err);

    return rc < 0 ? rc : fail_kind(err, FAIL_COMMAND, -ENOTSUP, "The shell %s is not available", shell);
}

#define ROW_POWERSHELL ARG("shell", ARG_STR, "\"powershell\"", "powershell or pwsh")
#define ROW_DEPTH      ARG("depth", ARG_INT, "null", "How deep objects are written")
#define ROW_ENCODE     ARG("encode_cmd", ARG_BOOL, "false", "Pass the command as base64")
#define ROWS_START     ROW_CMD, ROW_CWD, ROW_STDIN, ROW_RUNAS, ROW_POWERSHELL, ROWS_ENV, ROW_RSTRIP, ROW_UMASK
#define ROWS_OUT       ROW_ENCODING, ROW_LOGLEVEL

static const arg_t powershell_args[] = {
    ROWS_START, ROWS_OUT,   ROW_HIDE,     ROWS_LIMIT, ROW_VT,   ROW_PASSWORD,
    ROW_DEPTH,  ROW_ENCODE, ROWS_SUCCESS, ROW_KWARGS, ARGS_END,
};
static const arg_t powershell_all_args[] = {
    ROWS_START,   ROWS_OUT,   ARG("quiet", ARG_BOOL, "false", "Log nothing"),
    ROWS_LIMIT,   ROW_VT,     ROW_PASSWORD,
    ROW_DEPTH,    ROW_ENCODE, ARG("force_list", ARG_BOOL, "false", "Always return a list"),
    ROWS_SUCCESS, ROW_KWARGS, ARGS_END,
};

static const func_t funcs[] = {
    { "powershell", cmd_powershell, powershell_args, FN_RAW_KWARGS,
      "Run a PowerShell command. On Linux this fails, as in Salt: PowerShell's version is looked up in "
      "Windows' registry." CLI_EXAMPLE("salt '*' cmd.powershell \"$PSVersionTable.CLRVersion\"") },
    { "powershell_all", cmd_powershell_all, powershell_all_args, FN_RAW_KWARGS,
      "Run a PowerShell command and return all that came of it. On Linux this fails, as in Salt." CLI_EXAMPLE(
          "salt '*' cmd.powershell_all \"$PSVersionTable.CLRVersion\"") },
};

PLUGIN(exec, cmd_powershell, .provides = "cmd", .doc = "PowerShell", FUNCS(funcs));
