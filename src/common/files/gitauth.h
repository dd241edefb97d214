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

/* 0, or why the remote can't be reached that way: a password in the clear, a key with a passphrase. */
int git_auth_check(const json_t *conf, const char *url, fail_t *err);
/* Our environment for git at `url`: nobody is asked, messages in English. `index` is the file of git's
 * index; NULL: its own one. An array that strv_free frees. */
char **git_environment(const json_t *conf, const char *url, const char *index);

/* User and password at one remote, which git gets by its environment: all owned. */
typedef struct git_login {
    char *url;             /* without them: what may be seen on a command line */
    char *user, *password; /* NULL: none */
} git_login_t;

#define GIT_LOGIN_INIT   ROW(NULL, NULL, NULL)
#define git_login_auto_t __attribute__((cleanup(git_login_free))) git_login_t

/* Take user and password out of an address of http or https that has both. */
void git_login_of(git_login_t *self, const char *url);
void git_login_free(git_login_t *self);
/* "NAME=value" by which git gets them, for the address's host alone. An array that strv_free frees. */
char **git_login_env(const git_login_t *self);
/* NEW text with "%40" as "@": what git makes of parts of an address. */
char *git_decoded(const char *text);

#endif
