/* gitauth.h - how the system's git reaches a remote: for gitfs and the external pillar `git`.
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
/* Our environment for git: nobody is asked, messages in English. An array that strv_free frees. */
char **git_environment(const json_t *conf);

#endif
