/* passwd.c - users and groups through the reentrant functions of libc, with a buffer that grows on ERANGE up
 * to SPACE_MAX.
 *
 * getpwent() and getgrent() have no reentrant form in POSIX, so a mutex serialises the walks. */
#include "common/host/passwd.h"

#include <errno.h>
#include <pthread.h>

#define FIRST     (-1)
#define SPACE_MIN 1024
#define SPACE_MAX (16 * 1024 * 1024) /* a group of a million members */

static pthread_mutex_t walking = PTHREAD_MUTEX_INITIALIZER;

void
passwd_space_free(passwd_space_t *space)
{
    free(space->bytes);
    space->bytes = NULL;
    space->size = 0;
}

/* True when the look-up is to be called (again): the first time, and after ERANGE with twice the room. `code`
 * is the last call's return, FIRST at the start. Sets errno when it ends. */
static bool
passwd_again(passwd_space_t *space, int code)
{
    if (code == FIRST && space->size > 0)
        return true;
    if ((code != FIRST && code != ERANGE) || space->size >= SPACE_MAX) {
        /* The errno for "not found". Name services report that in several ways (getpwnam(3)): these mean
         * 0. */
        errno = code == ENOENT || code == ESRCH || code == EBADF || code == EPERM ? 0 : code;

        return false;
    }
    space->size = space->size > 0 ? space->size * 2 : SPACE_MIN;
    space->bytes = xrealloc(space->bytes, space->size);
    return true;
}

const struct passwd *
passwd_user(passwd_space_t *space, const char *name)
{
    struct passwd *found = NULL;

    for (int code = FIRST; passwd_again(space, code);)
        code = getpwnam_r(name, &space->user, space->bytes, space->size, &found);
    return found;
}

const struct passwd *
passwd_uid(passwd_space_t *space, uid_t uid)
{
    struct passwd *found = NULL;

    for (int code = FIRST; passwd_again(space, code);)
        code = getpwuid_r(uid, &space->user, space->bytes, space->size, &found);
    return found;
}

const struct group *
passwd_group(passwd_space_t *space, const char *name)
{
    struct group *found = NULL;

    for (int code = FIRST; passwd_again(space, code);)
        code = getgrnam_r(name, &space->group, space->bytes, space->size, &found);
    return found;
}

const struct group *
passwd_gid(passwd_space_t *space, gid_t gid)
{
    struct group *found = NULL;

    for (int code = FIRST; passwd_again(space, code);)
        code = getgrgid_r(gid, &space->group, space->bytes, space->size, &found);
    return found;
}

/* Convert errno after a walk: only codes that no name service leaves behind on success count as failures. */
static int
walked(int code)
{
    return code == EMFILE || code == ENFILE || code == ENOMEM || code == EIO ? -code : 0;
}

int
passwd_each_user(void (*each)(const struct passwd *user, void *cookie), void *cookie)
{
    pthread_mutex_lock(&walking);
    setpwent();
    for (const struct passwd *pw; errno = 0, (pw = getpwent()) != NULL;)
        each(pw, cookie);
    int rc = walked(errno);
    endpwent();
    pthread_mutex_unlock(&walking);
    return rc;
}

int
passwd_each_group(void (*each)(const struct group *group, void *cookie), void *cookie)
{
    pthread_mutex_lock(&walking);
    setgrent();
    for (const struct group *gr; errno = 0, (gr = getgrent()) != NULL;)
        each(gr, cookie);
    int rc = walked(errno);
    endgrent();
    pthread_mutex_unlock(&walking);
    return rc;
}
