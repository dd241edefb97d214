/* passwd.h - look up users and groups of this host from any thread. getpwnam() and its kin return a buffer
 * that the whole process shares, and modules run in threads of the master too.
 *
 * Layer      common/host; libc only
 * Threads    any
 * Ownership  a result lives in the space until its next use or its end
 * Tests      tests/unit/common/test_passwd.c
 */
#ifndef COMMON_HOST_PASSWD_H
#define COMMON_HOST_PASSWD_H

#include <grp.h>
#include <pwd.h>

#include "salt/base.h"

typedef struct passwd_space {
    struct passwd user;
    struct group group;
    char *bytes;
    size_t size;
} passwd_space_t;

/* passwd_space_auto_t space = { 0 }; frees itself. */
#define passwd_space_auto_t __attribute__((cleanup(passwd_space_free))) passwd_space_t
void passwd_space_free(passwd_space_t *space);

/* NULL when there is no such entry (errno 0; also where the name services report that as an error, see
 * getpwnam(3)), or when the look-up failed (errno). BORROWED from the space. */
const struct passwd *passwd_user(passwd_space_t *space, const char *name);
const struct passwd *passwd_uid(passwd_space_t *space, uid_t uid);
const struct group *passwd_group(passwd_space_t *space, const char *name);
const struct group *passwd_gid(passwd_space_t *space, gid_t gid);

/* Call `each` for all entries. Walks are serialised, so `each` must not start one. 0, or a negative errno:
 * the walk may be incomplete. */
int passwd_each_user(void (*each)(const struct passwd *user, void *cookie), void *cookie);
int passwd_each_group(void (*each)(const struct group *group, void *cookie), void *cookie);

#endif
