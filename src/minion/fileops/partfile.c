/* partfile.c - a file of which only some lines are ours. */
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

/* Who else could have made the link: whoever owns it, or its folder. Those who are not root have no rights to misuse. */
static uid_t
stranger(const struct stat *folder, const struct stat *link)
{
    if (geteuid() != 0)
        return NOBODY;
    return folder->st_uid != 0 ? folder->st_uid : link->st_uid != 0 ? link->st_uid : NOBODY;
}

/* The link's target comes into *path. 1, or a negative errno. */
static int
follow(partfile_t *self, const struct stat *folder, const struct stat *link, char **path)
{
    char target[PATH_MAX];
    uid_t whose = stranger(folder, link);
    ssize_t n = readlinkat(self->folder, fop_basename(*path), target, sizeof(target));

    if (n < 0 || n == (ssize_t) sizeof(target))
        return n < 0 ? -errno : -ENAMETOOLONG;
    if (whose != NOBODY && self->whose != NOBODY && whose != self->whose)
        return -EPERM;
    self->whose = whose != NOBODY ? whose : self->whose;
    free(*path);
    *path = xstrndup(target, (size_t) n);
    return 1;
}

static int
take_file(partfile_t *self, const char *name)
{
    struct stat st;

    self->file = openat(self->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (self->file < 0 || fstat(self->file, &st) != 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    return self->whose != NOBODY && st.st_uid != self->whose ? -EPERM : 0;
}

/* One part of the way: the folder of *path, which is looked up from the folder before, and what is there. 1: a link, and
 * *path is now where it leads; 0: the end; or a negative errno. */
static int
step(partfile_t *self, char **path)
{
    AUTO_FREE char *dir = fop_dirname(*path);
    const char *name = fop_basename(*path);
    struct stat folder, st;
    int fd = openat(self->folder >= 0 ? self->folder : AT_FDCWD, *dir != '\0' ? dir : ".",
                    O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    if (self->folder >= 0)
        close(self->folder);
    self->folder = fd;
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return -EISDIR;
    if (fstat(fd, &folder) != 0)
        return -errno;
    bool there = fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!there && errno != ENOENT)
        return -errno;
    if (there && S_ISLNK(st.st_mode))
        return follow(self, &folder, &st, path);
    if (self->whose != NOBODY && folder.st_uid != self->whose)
        return -EPERM;
    self->path = xasprintf("/proc/self/fd/%d/%s", fd, name);
    if (there && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    return there ? take_file(self, name) : 0;
}

int
partfile_open(partfile_t *self, const char *path, fail_t *err)
{
    AUTO_FREE char *at = xstrdup(path);
    int rc = 1;

    *self = (partfile_t) PARTFILE_INIT;
    self->name = path;
    for (int links = 0; rc > 0; links++)
        rc = links <= MAX_LINKS ? step(self, &at) : -ELOOP;
    if (rc == 0)
        return 0;
    if (rc == -EPERM && self->whose != NOBODY)
        fail_kind(err, FAIL_COMMAND, rc,
                  "%s is a link of user %u to %s, which is not that user's: root does not follow it; put the "
                  "file in "
                  "its place, or give the link and its folder to root",
                  path, self->whose, at);
    else if (rc == -EINVAL)
        fail_kind(err, FAIL_COMMAND, rc, "%s is no regular file", path);
    else
        fop_oserror(err, -rc, path);
    partfile_close(self);
    return rc;
}

void
partfile_close(partfile_t *self)
{
    if (self->file >= 0)
        close(self->file);
    if (self->folder >= 0)
        close(self->folder);
    free(self->path);
    *self = (partfile_t) PARTFILE_INIT;
}

/* ---- what it holds --------------------------------------------------------------------------- */

int
partfile_read(const partfile_t *self, buf_t *out, fail_t *err)
{
    int rc = self->file >= 0 ? fs_read_fd(self->file, LIMIT_FILE_READ, out) : 0;

    return rc == 0 ? 0 : fop_oserror(err, -rc, self->name);
}

int
partfile_write(const partfile_t *self, const void *data, size_t len, const landing_t *fresh, fail_t *err)
{
    const content_t whole = { .data = data, .len = len };
    AUTO_FREE char *like = xasprintf("/proc/self/fd/%d", self->file);
    fail_auto_t why = FAIL_INIT;
    landing_t as = *fresh;
    struct stat st;

    if (self->file >= 0 && fstat(self->file, &st) != 0)
        return fop_oserror(err, errno, self->name);
    if (self->file >= 0)
        as = (landing_t){ st.st_uid, st.st_gid, st.st_mode & 07777, like };
    int rc = content_commit(self->path, &whole, &as, &why);
    return rc == 0 ? 0 : fop_oserror(err, -rc, self->name);
}

int
partfile_put(const char *path, const void *data, size_t len, mode_t mode, fail_t *err)
{
    const landing_t fresh = { (uid_t) -1, (gid_t) -1, mode, NULL };
    partfile_auto_t file = PARTFILE_INIT;
    int rc = partfile_open(&file, path, err);

    return rc == 0 ? partfile_write(&file, data, len, &fresh, err) : rc;
}
