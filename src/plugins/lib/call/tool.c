/* tool.c - see tool.h: the host's own programs as modules call them. Unless told to be quiet, a program's
 * exit code becomes the job's, and a failure is logged with its output. */
#include "plugins/lib/call/tool.h"

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/log.h"

int
tool_begin(prog_t *prog, const char *program, fail_t *err)
{
    AUTO_FREE char *path = fs_which(program);

    if (path == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Command '%s' cannot be found", program);
    prog_add(prog, program);
    return 0;
}

int
tool_need(const char *program, fail_t *err)
{
    AUTO_FREE char *path = fs_which(program);

    if (path != NULL)
        return 0;
    return fail_kind(err, FAIL_PROGRAM, -ENOENT, "The '%s' binary was not found in $PATH.", program);
}

json_t *
tool_run(call_ctx_t *ctx, prog_t *prog, unsigned flags, fail_t *err)
{
    prog->merge_stderr = (flags & TOOL_MERGE) != 0;
    json_t *ret = prog_run_all(prog, err);
    if (ret == NULL || (flags & TOOL_QUIET) != 0)
        return ret;
    int retcode = (int) value_int(ret, "retcode", 0);
    ctx_set_retcode(ctx, retcode);
    if (retcode != 0) {
        /* Logs a failed program with its output. */
        static const char *const streams[] = { "stdout", "stderr" };
        log_error("Command '%s' failed with return code: %d", prog->argv[0],
                  (int) value_int(ret, "retcode", 0));
        for (size_t i = 0; i < NELEMS(streams); i++) {
            const char *text = value_str(ret, streams[i], "");
            if (*text != '\0')
                log_error("%s: %s", streams[i], text);
        }
    }
    return ret;
}

json_t *
tool_words(call_ctx_t *ctx, json_t *words, const char *cwd, const char *user, unsigned flags, int timeout_s,
           fail_t *err)
{
    return sub_call(ctx, err, "cmd.run_all", "{s:O, s:s?, s:s?, s:b, s:b, s:b, s:b, s:i}", "cmd", words,
                    "cwd", str_empty(cwd) ? NULL : cwd, "runas", str_empty(user) ? NULL : user,
                    "python_shell", 0, "ignore_retcode", (flags & TOOL_QUIET) != 0, "redirect_stderr",
                    (flags & TOOL_MERGE) != 0, "rstrip", (flags & TOOL_RAW) == 0, "timeout", timeout_s);
}

int
tool_retcode(call_ctx_t *ctx, prog_t *prog, unsigned flags, int *ret_code, fail_t *err)
{
    json_auto_t *ret = tool_run(ctx, prog, flags, err);

    if (ret == NULL)
        return -EIO;
    *ret_code = (int) value_int(ret, "retcode", -1);
    return 0;
}

int
tool_bool(call_ctx_t *ctx, prog_t *prog, unsigned flags, json_t **ret_value, fail_t *err)
{
    int code = -1;
    int rc = tool_retcode(ctx, prog, flags, &code, err);

    if (rc == 0)
        *ret_value = json_boolean(code == 0);
    return rc;
}

int
tool_text(call_ctx_t *ctx, prog_t *prog, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = tool_run(ctx, prog, TOOL_MERGE, err);

    if (ret == NULL)
        return -EIO;
    *ret_value = json_incref(value_get(ret, "stdout"));
    return 0;
}
