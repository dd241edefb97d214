/* way.c - see way.h. */
#include "common/files/way.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"

enum { MAX_LINKS = 40 /* as many as the kernel follows */ };

#define NOBODY ((uid_t) -1)

/* Who else could have made the link, or moved it there: whoever owns it, or its folder. Those who are not root have no rights
 * to misuse. */
static uid_t
s_stranger(const struct stat *folder, const struct stat *link, int flags)
{
    if (geteuid() != 0 || (link->st_uid == 0 && !(flags & WAY_STRICT)))
        return NOBODY;
    return folder->st_uid != 0 ? folder->st_uid : link->st_uid != 0 ? link->st_uid : NOBODY;
}

/* The link's target, and what stands behind the link, is what is left. Whose it is and where it leads is asked of one and the
 * same link: the folder's owner may have put another one there since it was looked at. 1, or a negative errno. */
static int
s_follow(way_t *self, const struct stat *folder, const char *name, const char *behind, int flags)
{
    char target[PATH_MAX];
    struct stat link;
    AUTO_FD held = openat(self->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (held < 0 || fstat(held, &link) != 0)
        return -errno;
    uid_t whose = s_stranger(folder, &link, flags);
    ssize_t n = readlinkat(held, "", target, sizeof(target));
    if (n < 0 || n == (ssize_t) sizeof(target))
        return n >= 0 ? -ENAMETOOLONG : errno == ENOENT ? -ELOOP /* a link no more */ : -errno;
    if (++self->links > MAX_LINKS)
        return -ELOOP;
    if (whose != NOBODY && self->whose != NOBODY && whose != self->whose)
        return -EPERM;
    self->whose = whose != NOBODY ? whose : self->whose;
    self->linked = self->linked || *behind == '\0';
    free(self->name);
    self->name = xasprintf("%.*s%s", (int) n, target, behind);
    return 1;
}

/* Into a folder of the one that is open. */
static int
s_enter(way_t *self, const char *name)
{
    int fd = openat(self->folder >= 0 ? self->folder : AT_FDCWD, name,
                    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (self->folder >= 0)
        (void) close(self->folder);
    self->folder = fd;
    return 0;
}

bool
way_astray(const way_t *self, const struct stat *there)
{
    return self->whose != NOBODY && there->st_uid != self->whose;
}

/* The end of the way. `st`: what is there; NULL: nothing. */
static int
s_arrive(const way_t *self, const struct stat *folder, const struct stat *st)
{
    if (way_astray(self, folder))
        return -EPERM;
    if (st && S_ISDIR(st->st_mode))
        return -EISDIR;
    return st && !S_ISLNK(st->st_mode) && way_astray(self, st) ? -EPERM : 0;
}

/* One part of the way, looked up in the folder before: whoever owns a folder may make a link of any part below it. 1: more is
 * left; 0: the end; or a negative errno. */
static int
s_step(way_t *self, int flags)
{
    size_t n = strcspn(self->name, "/"), left = n + strspn(self->name + n, "/");
    AUTO_FREE char *name = xstrndup(self->name, n), *behind = xstrdup(self->name + n);
    bool last = *behind == '\0';
    struct stat folder, st;
    if (n > 0 && fstat(self->folder, &folder) != 0)
        return -errno;
    if (last && (n == 0 || str_eq(name, ".") || str_eq(name, "..")))
        return -EISDIR;
    bool there = n > 0 && fstatat(self->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (n > 0 && !there && (errno != ENOENT || !last)) /* who makes folders makes them there */
        return errno == ENOENT && way_astray(self, &folder) ? -EPERM : -errno;
    if (there && S_ISLNK(st.st_mode) && !(last && (flags & WAY_LINK)))
        return s_follow(self, &folder, name, behind, flags);
    if (last)
        return s_arrive(self, &folder, there ? &st : NULL);
    memmove(self->name, self->name + left, strlen(self->name + left) + 1);
    int rc = s_enter(self, n > 0 ? name : "/");
    return rc == 0 ? 1 : rc;
}

int
way_find(way_t *self, const char *path, int flags)
{
    *self = (way_t) WAY_INIT;
    self->asked = path;
    self->name = xstrdup(path);
    int rc = *path ? s_enter(self, ".") : -ENOENT;
    if (rc == 0) {
        while ((rc = s_step(self, flags)) > 0)
            continue;
    }
    return rc;
}

char *
way_text(const way_t *self)
{
    AUTO_FREE char *link = xasprintf("/proc/self/fd/%d", self->folder);
    char folder[PATH_MAX];
    ssize_t n = readlink(link, folder, sizeof(folder) - 1);
    if (n < 0)
        return xstrdup(self->asked);
    folder[n] = '\0';
    return str_eq(self->name, ".") ? xstrdup(folder) : fs_join(folder, self->name);
}

bool
way_refused(const way_t *self, int rc, fail_t *err)
{
    if (rc != -EPERM || self->whose == NOBODY)
        return false;
    AUTO_FREE char *to = way_text(self);
    (void) fail_kind(err, FAIL_COMMAND, rc,
                     "%s leads to %s by a link of user %u, and that is not that user's: root does not follow "
                     "it; put the file "
                     "in its place, or give the link and its folder to root",
                     self->asked, to, self->whose);
    return true;
}

void
way_close(way_t *self)
{
    if (self->folder >= 0)
        (void) close(self->folder);
    free(self->name);
    *self = (way_t) WAY_INIT;
}
