/* gitlogin.h - user and password of a https remote, for git as modules and states run it.
 *
 * git gets them by its environment; a repository keeps them in a file of its own, mode 0600, from which git
 * gets them by a pipe. They stand in no command line: neither in ours nor in that of a program of git's, as
 * an address in .git/config with a password in it would.
 *
 * Layer      plugins/lib/git
 * Threads    one at a time
 * Ownership  logins: git_login_free
 * Errors     as gitcmd.h
 * Tests      tests/t/0070-secrets.bats, tests/cases/exec/git.remote_set.json
 */
#ifndef PLUGINS_LIB_GIT_GITLOGIN_H
#define PLUGINS_LIB_GIT_GITLOGIN_H

#include "common/files/gitauth.h"
#include "plugins/lib/git/gitcmd.h"

/* What `args` and the address say: "https_user", "https_pass", or others' names. For https only. *self is to
 * be freed also after a failure. */
int gitlogin_of(git_login_t *self, const json_t *args, const char *user_arg, const char *pass_arg,
                const char *url, fail_t *err);
/* NEW address as Salt shows it: "https://<redacted>@host/..." where there is something to hide. */
char *gitlogin_shown(const git_login_t *self);
/* This run of git has it. */
void gitlogin_use(prog_t *prog, const git_login_t *self);

/* The repository at `cwd` of `args` has it for all that git does there later, or has none any more for that
 * address. */
int gitlogin_keep(call_ctx_t *ctx, const json_t *args, const git_login_t *self, fail_t *err);
/* Whether it has this one. */
bool gitlogin_is_kept(call_ctx_t *ctx, const json_t *args, const git_login_t *self);
/* This run of git has what the repository at `cwd` keeps: for submodules, which don't look there. */
void gitlogin_inherit(call_ctx_t *ctx, const json_t *args, prog_t *prog);

#endif
