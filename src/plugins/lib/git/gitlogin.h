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

/* Reads user and password from `args` ("https_user", "https_pass", or other names) and the address. For https
 * only. The caller frees *self, also after a failure. */
int gitlogin_of(git_login_t *self, const json_t *args, const char *user_arg, const char *pass_arg,
                const char *url, fail_t *err);
/* NEW address as Salt shows it: "https://<redacted>@host/..." where there is something to hide. */
char *gitlogin_shown(const git_login_t *self);
/* Gives this run of git the login. */
void gitlogin_use(prog_t *prog, const git_login_t *self);

/* The repository at `cwd` of `args` has it for all that git does there later, or has none any more for that
 * address. */
int gitlogin_keep(call_ctx_t *ctx, const json_t *args, const git_login_t *self, fail_t *err);
/* True when the repository keeps this login. */
bool gitlogin_is_kept(call_ctx_t *ctx, const json_t *args, const git_login_t *self);
/* Gives this run of git the login that the repository at `cwd` keeps: submodules do not read its
 * configuration. */
void gitlogin_inherit(call_ctx_t *ctx, const json_t *args, prog_t *prog);

#endif
