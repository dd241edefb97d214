/* gitcmd.h - the system's git, as modules and states call it: no prompt, no shell, passwords left out of
 * messages.
 *
 * Layer      plugins/lib/git
 * Threads    one at a time per git_t
 * Ownership  results are NEW
 * Errors     FAIL_COMMAND "Command 'git fetch' failed: WHAT GIT SAID" unless GIT_SOFT
 * Tests      tests/cases/exec/git.*.json, tests/t/4200-states.bats
 */
#ifndef PLUGINS_LIB_GIT_GITCMD_H
#define PLUGINS_LIB_GIT_GITCMD_H

#include "common/host/prog.h"
#include "salt/plugin.h"

enum {
    GIT_SOFT = 1 << 0,  /* a failure is an answer */
    GIT_MERGE = 1 << 1, /* stderr into stdout */
    GIT_QUIET = 1 << 2  /* a failure is not logged and not the job's exit code */
};

/* Take `git [git_opts] COMMAND` with what every function of the module has in `args`: cwd, user, identity,
 * saltenv, git_opts, opts. *prog is to be freed also after a failure. */
int git_begin(call_ctx_t *ctx, const json_t *args, const char *command, prog_t *prog, fail_t *err);
/* Add `opts`: a list of words, or a line of them. */
int git_add_opts(prog_t *prog, const json_t *opts, fail_t *err);
/* {"retcode", "stdout", "stderr"}; NULL with *err. */
json_t *git_run(call_ctx_t *ctx, const json_t *args, prog_t *prog, unsigned flags, fail_t *err);
/* The same for its output alone. NEW string value. */
json_t *git_text(call_ctx_t *ctx, const json_t *args, prog_t *prog, unsigned flags, fail_t *err);
/* The lines of a command's output, without empty ones. TAKES `text`. NEW list. */
json_t *git_lines(json_t *text);
/* Member `key`, a list that is made when it is missing. BORROWED. */
json_t *git_list_in(json_t *found, const char *key);
/* Why the module is not there; NULL when it is. BORROWED. */
const char *git_missing(call_ctx_t *ctx);

#endif
