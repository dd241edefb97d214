/* partfile.c - see partfile.h. */
#include "minion/fileops/partfile.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "minion/fileops/fileops.h"

enum { MAX_LINKS = 40 /* as many as the kernel follows */ };

#define NOBODY ((uid_t) -1)

/* ---- where it is ----------------------------------------------------------------------------- */

/* Who else could have made the link, or moved it there: whoever owns it, or its folder. Those who are not root have no rights
 * to misuse. */
static uid_t
stranger(const struct stat *folder, const struct stat *link, int flags)
{
    if (geteuid() != 0 || (link->st_uid == 0 && !(flags & PARTFILE_STRICT)))
        return NOBODY;
    return folder->st_uid != 0 ? folder->st_uid : link->st_uid != 0 ? link->st_uid : NOBODY;
}

/* The link's target, and what stands behind the link, come into *path. 1, or a negative errno. */
static int
follow(partfile_t *self, const struct stat *folder, const struct stat *link, const char *name,
       const char *behind, int flags, char **path)
{
    char target[PATH_MAX];
    uid_t whose = stranger(folder, link, flags);
    ssize_t n = readlinkat(self->folder, name, target, sizeof(target));

    if (n < 0 || n == (ssize_t) sizeof(target))
        return n < 0 ? -errno : -ENAMETOOLONG;
    if (++self->links > MAX_LINKS)
        return -ELOOP;
    if (whose != NOBODY && self->whose != NOBODY && whose != self->whose)
        return -EPERM;
    self->whose = whose != NOBODY ? whose : self->whose;
    self->linked = self->linked || *behind == '\0';
    char *whole = xasprintf("%.*s%s", (int) n, target, behind);
    free(*path);
    *path = whole;
    return 1;
}

/* Into a folder of the one that is open. */
static int
enter(partfile_t *self, const char *name)
{
    int fd = openat(self->folder >= 0 ? self->folder : AT_FDCWD, name,
                    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    if (self->folder >= 0)
        close(self->folder);
    self->folder = fd;
    return 0;
}

/* Whether a stranger's links led to what is not his. */
static bool
astray(const partfile_t *self, const struct stat *there)
{
    return self->whose != NOBODY && there->st_uid != self->whose;
}

/* Held, and not opened: that would begin something with many a device, and not every file may be read. */
static int
take_file(partfile_t *self, const char *name, int flags)
{
    struct stat st;

    self->file = openat(self->folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (self->file < 0 || fstat(self->file, &st) != 0)
        return -errno;
    if (S_ISLNK(st.st_mode))
        return -ELOOP; /* it has just come */
    self->special = !S_ISREG(st.st_mode);
    if (self->special && !(flags & PARTFILE_SPECIAL))
        return -EINVAL;
    self->at = xasprintf("/proc/self/fd/%d", self->file);
    return astray(self, &st) ? -EPERM : 0;
}

/* The end of the way. `st`: what is there; NULL: nothing. */
static int
arrive(partfile_t *self, const struct stat *folder, const char *name, const struct stat *st, int flags)
{
    if (astray(self, folder))
        return -EPERM;
    self->path = xasprintf("/proc/self/fd/%d/%s", self->folder, name);
    if (st != NULL && S_ISDIR(st->st_mode))
        return -EISDIR;
    return st != NULL && !S_ISLNK(st->st_mode) ? take_file(self, name, flags) : 0;
}

/* One part of the way, looked up in the folder before: whoever owns a folder may make a link of any part below it. 1: *path is
 * what is left; 0: the end; or a negative errno. */
static int
step(partfile_t *self, char **path, int flags)
{
    size_t n = strcspn(*path, "/"), left = n + strspn(*path + n, "/");
    AUTO_FREE char *name = xstrndup(*path, n), *behind = xstrdup(*path + n);
    bool last = *behind == '\0';
    struct stat folder, st;

    if (n > 0 && fstat(self->folder, &folder) != 0)
        return -errno;
    if (last && (n == 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0))
        return -EISDIR;
    bool there = n > 0 && fstatat(self->folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (n > 0 && !there && (errno != ENOENT || !last))
        return errno == ENOENT && astray(self, &folder) ? -EPERM
                                                        : -errno; /* who makes folders makes them there */
    if (there && S_ISLNK(st.st_mode) && !(last && (flags & PARTFILE_LINK)))
        return follow(self, &folder, &st, name, behind, flags, path);
    if (last)
        return arrive(self, &folder, name, there ? &st : NULL, flags);
    memmove(*path, *path + left, strlen(*path + left) + 1);
    int rc = enter(self, n > 0 ? name : "/");
    return rc == 0 ? 1 : rc;
}

/* Where a stranger's link led, for a person. */
static int
refuse(const partfile_t *self, const char *left, fail_t *err)
{
    AUTO_FREE char *way = xasprintf("/proc/self/fd/%d", self->folder), *folder = fop_realpath(way);
    AUTO_FREE char *to = fop_join2(folder, left);

    return fail_kind(
        err, FAIL_COMMAND, -EPERM,
        "%s leads to %s by a link of user %u, and that is not that user's: root does not follow it; "
        "put the file in its place, or give the link and its folder to root",
        self->name, to, self->whose);
}

int
partfile_find(partfile_t *self, const char *path, int flags, fail_t *err)
{
    AUTO_FREE char *at = xstrdup(path);

    *self = (partfile_t) PARTFILE_INIT;
    self->name = path;
    int rc = *path != '\0' ? enter(self, ".") : -ENOENT;
    if (rc == 0) {
        while ((rc = step(self, &at, flags)) > 0)
            ;
    }
    if (rc == 0 && access("/proc/self/fd", X_OK) == 0)
        return 0;
    if (rc == 0)
        rc = fail_set(err, -ENOSYS, "%s can't be changed without /proc: mount it", path);
    else if (rc == -EPERM && self->whose != NOBODY)
        (void) refuse(self, at, err);
    else if (rc == -EINVAL)
        fail_kind(err, FAIL_COMMAND, rc, "%s is no regular file", path);
    else
        fop_oserror(err, -rc, path);
    partfile_close(self);
    return rc;
}

int
partfile_open(partfile_t *self, const char *path, fail_t *err)
{
    return partfile_find(self, path, PARTFILE_STRICT, err);
}

int
partfile_edit(partfile_t *self, const char *path, fail_t *err)
{
    static const int missing[] = { -ENOENT, -ENOTDIR, -EACCES, -ELOOP };
    fail_auto_t why = FAIL_INIT;
    int rc = partfile_find(self, path, PARTFILE_SPECIAL, &why);

    if (rc == 0)
        return self->file >= 0;
    for (size_t i = 0; i < NELEMS(missing); i++) {
        if (rc == missing[i])
            return 0;
    }
    return fail_kind(err, why.kind, rc, "%s", fail_text(&why));
}

void
partfile_close(partfile_t *self)
{
    if (self->file >= 0)
        close(self->file);
    if (self->folder >= 0)
        close(self->folder);
    free(self->path);
    free(self->at);
    *self = (partfile_t) PARTFILE_INIT;
}

/* ---- what it holds --------------------------------------------------------------------------- */

int
partfile_read(const partfile_t *self, buf_t *out, fail_t *err)
{
    AUTO_FD fd = self->file >= 0 ? open(self->at, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1;
    int rc = self->file < 0 ? 0 : fd < 0 ? -errno : fs_read_fd(fd, LIMIT_FILE_READ, out);

    if (rc == -EFBIG)
        return fop_failed(err, "%s is larger than the %zu bytes allowed here", self->name,
                          (size_t) LIMIT_FILE_READ);
    return rc == 0 ? 0 : fop_oserror(err, -rc, self->name);
}

static bool
is_device(const partfile_t *self)
{
    struct stat st;

    return self->special && (fstat(self->file, &st) != 0 || S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode));
}

int
partfile_land(const partfile_t *self, const content_t *what, const landing_t *as, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    if (is_device(self))
        return fail_set(err, -EINVAL, "%s is a device, and is not replaced by a file", self->name);
    int rc = content_commit(self->path, what, as, &why);
    return rc == 0 ? 0 : fop_oserror(err, -rc, self->name);
}

int
partfile_take(const partfile_t *self, int fd, const char *temp, const landing_t *as, fail_t *err)
{
    int rc = is_device(self) || fs_is_device(self->path) ? -EINVAL : content_land(self->path, fd, temp, as);

    return rc == 0 ? 0 : fop_oserror(err, -rc, self->name);
}

int
partfile_write(const partfile_t *self, const void *data, size_t len, const landing_t *fresh, fail_t *err)
{
    const content_t whole = { .data = data, .len = len };
    landing_t as = *fresh;
    struct stat st;

    if (self->file >= 0 && fstat(self->file, &st) != 0)
        return fop_oserror(err, errno, self->name);
    if (self->file >= 0)
        as = (landing_t){ st.st_uid, st.st_gid, st.st_mode & 07777, self->at };
    return partfile_land(self, &whole, &as, err);
}

int
partfile_put(const char *path, const void *data, size_t len, mode_t mode, fail_t *err)
{
    const landing_t fresh = { (uid_t) -1, (gid_t) -1, mode, NULL };
    partfile_auto_t file = PARTFILE_INIT;
    int rc = partfile_open(&file, path, err);

    return rc == 0 ? partfile_write(&file, data, len, &fresh, err) : rc;
}
