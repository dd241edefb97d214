/* tool.h - the host's own programs (useradd, systemctl, date, ...) as modules call them: found on PATH, run
 * by argv, a failure logged and left as the job's exit code as Salt's cmd.run_all does.
 *
 * Layer      plugins/lib/call
 * Threads    one at a time per prog_t
 * Ownership  results are NEW
 * Errors     FAIL_COMMAND when the program is missing or can't be started; its exit code is data
 * Tests      tests/unit/plugins/test_accounts.c, tests/unit/plugins/test_service.c
 */
#ifndef PLUGINS_LIB_CALL_TOOL_H
#define PLUGINS_LIB_CALL_TOOL_H

#include "common/host/prog.h"
#include "salt/plugin.h"

enum {
    TOOL_QUIET = 1 << 0, /* an exit code other than 0 is an answer: not logged, not the job's */
    TOOL_MERGE = 1 << 1, /* stderr into stdout */
    TOOL_RAW = 1 << 2    /* of tool_words(): white space at the end stays */
};

/* Start a command line. "Command 'useradd' cannot be found" when there is no such program. */
int tool_begin(prog_t *prog, const char *program, fail_t *err);
/* CommandNotFoundError's text when there is no such program. */
int tool_need(const char *program, fail_t *err);
/* {"pid", "retcode", "stdout", "stderr"}; NULL with *err. */
json_t *tool_run(call_ctx_t *ctx, prog_t *prog, unsigned flags, fail_t *err);
/* The same of a list of words, by cmd.run_all: in `cwd`, as `user` with what his environment is (NULL and "":
 * where and as we are), with a deadline in seconds. */
json_t *tool_words(call_ctx_t *ctx, json_t *words, const char *cwd, const char *user, unsigned flags,
                   int timeout_s, fail_t *err);
/* 0 with the exit code in *ret_code (-N for a signal), or a negative errno. */
int tool_retcode(call_ctx_t *ctx, prog_t *prog, unsigned flags, int *ret_code, fail_t *err);
/* 0 with whether it ended well in *ret_value. */
int tool_bool(call_ctx_t *ctx, prog_t *prog, unsigned flags, json_t **ret_value, fail_t *err);
/* 0 with all it printed in *ret_value: cmd.run. */
int tool_text(call_ctx_t *ctx, prog_t *prog, json_t **ret_value, fail_t *err);

#endif
