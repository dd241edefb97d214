/* way.c - see way.h. */
#include "common/files/way.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"

enum { MAX_LINKS = 40 /* as many as the kernel follows */ };

#define NOBODY ((uid_t) -1)

const way_made_t way_made_ours = { .mode = 0777, .uid = NOBODY, .gid = (gid_t) -1 };

/* Who else could have made the link, or moved it there: whoever owns it, or its folder. Those who are not
 * root have no rights to misuse. */
static uid_t
s_stranger(const struct stat *folder, const struct stat *link, int flags)
{
    if (geteuid() != 0 || (link->st_uid == 0 && !(flags & WAY_STRICT)))
        return NOBODY;
    return folder->st_uid != 0 ? folder->st_uid : link->st_uid != 0 ? link->st_uid : NOBODY;
}

/* The link's target, and what stands behind the link, is what is left. Whose it is and where it leads is
 * asked of one and the same link: the folder's owner may have put another one there since it was looked
 * at. 1, or a negative errno. */
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

/* Gives away what was just made. Who owns the folder that it is in could have put another one of root's in
 * its place, but only one that he may write to; into what was just made nobody else may. */
static int
s_give(const way_t *self, const char *name, uid_t uid, gid_t gid)
{
    struct stat st;
    AUTO_FD made = openat(self->folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (made < 0 || fstat(made, &st) != 0)
        return -errno;
    if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return -ESTALE;
    return fchownat(made, "", uid, gid, AT_EMPTY_PATH) == 0 ? 0 : -errno;
}

/* A folder that is missing in the one that is open. */
static int
s_make(const way_t *self, const struct stat *above, const char *name, bool last)
{
    bool given = self->made->uid != NOBODY && geteuid() == 0;
    struct stat st = { .st_uid = geteuid() };
    if (given) {
        st.st_uid = last ? self->made->uid : above->st_uid;
        st.st_gid = last ? self->made->gid : above->st_gid;
    }
    if (way_astray(self, above) || way_astray(self, &st))
        return -EPERM;
    if (mkdirat(self->folder, name, self->made->mode) != 0)
        return errno == EEXIST ? 0 : -errno; /* somebody else has just made it */
    return given ? s_give(self, name, st.st_uid, st.st_gid) : 0;
}

/* Nothing has the name, or what has it can't be seen: `code`. 0: it has been made. */
static int
s_missing(const way_t *self, const struct stat *folder, const char *name, const char *behind, int code)
{
    if (code != ENOENT)
        return -code;
    if (self->made)
        return s_make(self, folder, name, behind[strspn(behind, "/")] == '\0');
    return way_astray(self, folder) ? -EPERM : -code;
}

/* One part of the way, looked up in the folder before: whoever owns a folder may make a link of any part
 * below it. 1: more is left; 0: the end; or a negative errno. */
static int
s_step(way_t *self, int flags)
{
    size_t n = strcspn(self->name, "/"), left = n + strspn(self->name + n, "/");
    AUTO_FREE char *name = xstrndup(self->name, n), *behind = xstrdup(self->name + n);
    bool last = *behind == '\0' && !self->made;
    struct stat folder, st;
    if (n > 0 && fstat(self->folder, &folder) != 0)
        return -errno;
    if (last && (n == 0 || str_eq(name, ".") || str_eq(name, "..")))
        return -EISDIR;
    bool there = n > 0 && fstatat(self->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    int rc = n > 0 && !there && (errno != ENOENT || !last) ? s_missing(self, &folder, name, behind, errno)
                                                           : 0;
    if (rc < 0)
        return rc;
    if (there && S_ISLNK(st.st_mode) && !(last && (flags & WAY_LINK)))
        return s_follow(self, &folder, name, behind, flags);
    if (last)
        return s_arrive(self, &folder, there ? &st : NULL);
    memmove(self->name, self->name + left, strlen(self->name + left) + 1);
    rc = s_enter(self, n > 0 ? name : "/");
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

int
way_make_folder(const char *path, int flags, const way_made_t *made, fail_t *err)
{
    way_auto_t way = WAY_INIT;
    way.asked = path;
    way.name = xstrdup(path);
    way.made = made;
    int rc = *path != '\0' ? s_enter(&way, ".") : -ENOENT;
    while (rc >= 0 && *way.name != '\0')
        rc = s_step(&way, flags);
    if (rc >= 0 || way_refused(&way, rc, err))
        return rc < 0 ? rc : 0;
    return fail_set(err, rc, "cannot create the folder %s: %s", path,
                    rc == -ENOTDIR ? "something else has that name, or one above; move it away"
                                   : strerror(-rc));
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
