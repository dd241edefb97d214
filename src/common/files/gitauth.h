/* gitauth.h - how the system's git reaches a remote: for gitfs, the external pillar `git`, and the module
 * `git`.
 *
 * `conf` are the settings of one remote: user, password, insecure_auth (https, http); privkey, pubkey,
 * passphrase (ssh); ssl_verify. None of them is seen on a command line.
 *
 * Layer      common/files
 * Threads    any
 * Ownership  results are NEW
 * Errors     -EINVAL with what can't be done
 * Tests      tests/unit/common/test_gitfs.c, tests/t/4100-pillar.bats
 */
#ifndef COMMON_FILES_GITAUTH_H
#define COMMON_FILES_GITAUTH_H

#include "salt/base.h"

/* 0, or -EINVAL with the reason why the remote can't be used: a password in the clear, a key with a
 * passphrase. */
int git_auth_check(const json_t *conf, const char *url, fail_t *err);
/* Environment for git at `url`: no prompts, messages in English. `index` is git's index file; NULL: the
 * default. An array that strv_free frees. */
char **git_environment(const json_t *conf, const char *url, const char *index);

/* User and password for a remote, passed to git in its environment: all owned. */
typedef struct git_login {
    char *url;             /* without them: what may be seen on a command line */
    char *user, *password; /* NULL: none */
} git_login_t;

#define GIT_LOGIN_INIT   ROW(NULL, NULL, NULL)
#define git_login_auto_t __attribute__((cleanup(git_login_free))) git_login_t

/* Split user and password off an address of http or https that has both. */
void git_login_of(git_login_t *self, const char *url);
void git_login_free(git_login_t *self);
/* "NAME=value" that pass them to git, for the address's host only. An array that strv_free frees. */
char **git_login_env(const git_login_t *self);
/* Decode "%40" to "@" and its like, as git does in addresses. NEW text. */
char *git_decoded(const char *text);

#endif
