/* destpath.c - see destpath.h.
 *
 * The path is walked part by part with O_PATH descriptors, links included, so that each decision is made
 * about the object that is then used. `whose` is the user whose links were followed so far; from then on
 * everything reached must belong to that user. */
#include "common/files/destpath.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"

enum { MAX_LINKS = 40 /* as many as the kernel follows */ };

#define NOBODY ((uid_t) -1)

const destpath_made_t destpath_made_ours = { .mode = 0777, .uid = NOBODY, .gid = (gid_t) -1 };

/* Replace the remaining path by the link's target and what follows it. Owner and target are read from the
 * same open link, because the folder's owner may replace the link at any time. 1, or a negative errno. */
static int
destpath_follow(destpath_t *self, const struct stat *folder, const char *name, const char *behind, int flags)
{
    char target[PATH_MAX];
    struct stat link;
    AUTO_FD held = openat(self->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (held < 0 || fstat(held, &link) != 0)
        return -errno;
    /* The user who could have made or moved the link: its owner or its folder's. NOBODY for root's own, and
     * when we are not root, as there are no rights to misuse. */
    bool misused = geteuid() == 0 && (link.st_uid != 0 || (flags & DESTPATH_STRICT) != 0);
    uid_t owner = folder->st_uid != 0 ? folder->st_uid : link.st_uid;
    uid_t whose = misused && owner != 0 ? owner : NOBODY;
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

/* Enter a folder below the open one. */
static int
destpath_enter(destpath_t *self, const char *name)
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

/* True when the way went by a user's link, and what it leads to is not that user's. */
bool
destpath_astray(const destpath_t *self, const struct stat *there)
{
    return self->whose != NOBODY && there->st_uid != self->whose;
}

/* Give a folder that was just made to its owner. The owner of the parent could have replaced it, but only by
 * a folder that others may write to; the new one is writable by nobody else. */
static int
destpath_give(const destpath_t *self, const char *name, uid_t uid, gid_t gid)
{
    struct stat st;
    AUTO_FD made = openat(self->folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (made < 0 || fstat(made, &st) != 0)
        return -errno;
    if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return -ESTALE;
    return fchownat(made, "", uid, gid, AT_EMPTY_PATH) == 0 ? 0 : -errno;
}

/* Handle a name that is missing or can't be looked up (`code`). 0: it was made. */
static int
destpath_missing(const destpath_t *self, const struct stat *folder, const char *name, const char *behind,
                 int code)
{
    if (code != ENOENT)
        return -code;
    if (self->made != NULL) {
        /* Make a missing folder in the open one. */
        bool last = behind[strspn(behind, "/")] == '\0';
        bool given = self->made->uid != NOBODY && geteuid() == 0;
        struct stat st = { .st_uid = geteuid() };
        if (given) {
            st.st_uid = last ? self->made->uid : folder->st_uid;
            st.st_gid = last ? self->made->gid : folder->st_gid;
        }
        if (destpath_astray(self, folder) || destpath_astray(self, &st))
            return -EPERM;
        if (mkdirat(self->folder, name, self->made->mode) != 0)
            return errno == EEXIST ? 0 : -errno; /* somebody else has just made it */
        return given ? destpath_give(self, name, st.st_uid, st.st_gid) : 0;
    }
    return destpath_astray(self, folder) ? -EPERM : -code;
}

/* Take one part of the path. Any part may be a link, made by the owner of the folder before it. 1: more is
 * left; 0: the end; or a negative errno. */
static int
destpath_step(destpath_t *self, int flags)
{
    size_t n = strcspn(self->name, "/"), left = n + strspn(self->name + n, "/");
    AUTO_FREE char *name = xstrndup(self->name, n), *behind = xstrdup(self->name + n);
    bool last = *behind == '\0' && self->made == NULL;
    struct stat folder, st;
    if (n > 0 && fstat(self->folder, &folder) != 0)
        return -errno;
    if (last && (n == 0 || str_eq(name, ".") || str_eq(name, "..")))
        return -EISDIR;
    bool there = n > 0 && fstatat(self->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    int rc = n > 0 && !there && (errno != ENOENT || !last)
                 ? destpath_missing(self, &folder, name, behind, errno)
                 : 0;
    if (rc < 0)
        return rc;
    if (there && S_ISLNK(st.st_mode) && !(last && (flags & DESTPATH_LINK)))
        return destpath_follow(self, &folder, name, behind, flags);
    if (last) {
        /* The end of the path. */
        if (destpath_astray(self, &folder))
            return -EPERM;
        if (there && S_ISDIR(st.st_mode))
            return -EISDIR;
        return there && !S_ISLNK(st.st_mode) && destpath_astray(self, &st) ? -EPERM : 0;
    }
    memmove(self->name, self->name + left, strlen(self->name + left) + 1);
    rc = destpath_enter(self, n > 0 ? name : "/");
    return rc == 0 ? 1 : rc;
}

/* 0: the folder is open and the name is the last part; or a negative errno. destpath_close() in any case. */
int
destpath_find(destpath_t *self, const char *path, int flags)
{
    *self = (destpath_t) DESTPATH_INIT;
    self->asked = path;
    self->name = xstrdup(path);
    int rc = *path ? destpath_enter(self, ".") : -ENOENT;
    if (rc == 0) {
        while ((rc = destpath_step(self, flags)) > 0)
            continue;
    }
    return rc;
}

int
destpath_make_folder(const char *path, int flags, const destpath_made_t *made, fail_t *err)
{
    destpath_auto_t resolved = DESTPATH_INIT;
    resolved.asked = path;
    resolved.name = xstrdup(path);
    resolved.made = made;
    int rc = *path != '\0' ? destpath_enter(&resolved, ".") : -ENOENT;
    while (rc >= 0 && *resolved.name != '\0')
        rc = destpath_step(&resolved, flags);
    if (rc >= 0 || destpath_refused(&resolved, rc, err))
        return rc < 0 ? rc : 0;
    return fail_set(err, rc, "cannot create the folder %s: %s", path,
                    rc == -ENOTDIR ? "something else has that name, or one above; move it away"
                                   : strerror(-rc));
}

/* The place for messages, as the kernel names the folder now. NEW. */
char *
destpath_text(const destpath_t *self)
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
destpath_refused(const destpath_t *self, int rc, fail_t *err)
{
    if (rc != -EPERM || self->whose == NOBODY)
        return false;
    AUTO_FREE char *to = destpath_text(self);
    (void) fail_kind(err, FAIL_COMMAND, rc,
                     "%s leads to %s by a link of user %u, and that is not that user's: root does not follow "
                     "it; put the file "
                     "in its place, or give the link and its folder to root",
                     self->asked, to, self->whose);
    return true;
}

void
destpath_close(destpath_t *self)
{
    if (self->folder >= 0)
        (void) close(self->folder);
    free(self->name);
    *self = (destpath_t) DESTPATH_INIT;
}
