/* partfile.c - see partfile.h. `path` is a name in the held folder, for rename() and open(O_CREAT); `at` is
 * the object itself by /proc/self/fd, for calls that must not resolve the name again. */
#include "plugins/lib/file/partfile.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "plugins/lib/file/fileops.h"

/* ---- where it is ----------------------------------------------------------------------------- */

/* Held if it is there, and not opened: that would begin something with many a device, and not every file
 * may be read. */
static int
take_file(partfile_t *self, int flags)
{
    const char *name = *self->resolved.name != '\0' ? self->resolved.name : ".";
    bool link_too = (flags & PARTFILE_ANY) && (flags & DESTPATH_LINK);
    struct stat st;

    if (fstatat(self->resolved.folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? 0 : -errno;
    if (S_ISLNK(st.st_mode) && !link_too)
        return 0; /* what was asked for */
    self->file = openat(self->resolved.folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (self->file < 0 || fstat(self->file, &st) != 0)
        return -errno;
    if (S_ISLNK(st.st_mode) && !link_too)
        return -ELOOP; /* it has just come */
    self->special = !S_ISREG(st.st_mode);
    if (self->special && !(flags & (PARTFILE_SPECIAL | PARTFILE_ANY)))
        return -EINVAL;
    self->at = xasprintf("/proc/self/fd/%d", self->file);
    return !S_ISLNK(st.st_mode) && destpath_astray(&self->resolved, &st) ? -EPERM : 0;
}

/* Resolves `path` as destpath.h allows for the caller's user, holds its folder and, when present, the object.
 * Fails with -ENOSYS where /proc is missing, as all later access goes through it. */
int
partfile_find(partfile_t *self, const char *path, int flags, fail_t *err)
{
    *self = (partfile_t) PARTFILE_INIT;
    int rc = destpath_find(&self->resolved, path, flags & (DESTPATH_LINK | DESTPATH_STRICT));
    if (rc == 0 || (rc == -EISDIR && (flags & PARTFILE_ANY))) {
        self->path = xasprintf("/proc/self/fd/%d/%s", self->resolved.folder, self->resolved.name);
        rc = take_file(self, flags);
    }
    if (rc == 0 && access("/proc/self/fd", X_OK) == 0)
        return 0;
    if (rc == 0)
        rc = fail_set(err, -ENOSYS, "%s can't be changed without /proc: mount it", path);
    else if (rc == -EINVAL)
        fail_kind(err, FAIL_COMMAND, rc, "%s is not a regular file", path);
    else if (!destpath_refused(&self->resolved, rc, err))
        fop_oserror(err, -rc, path);
    partfile_close(self);
    return rc;
}

int
partfile_open(partfile_t *self, const char *path, fail_t *err)
{
    return partfile_find(self, path, DESTPATH_STRICT, err);
}

/* 1 when the file is held, 0 when it is missing or can't be reached, which editing functions report as "File
 * not found"; negative for a refusal. */
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
    destpath_close(&self->resolved);
    free(self->path);
    free(self->at);
    *self = (partfile_t) PARTFILE_INIT;
}

/* ---- what it holds --------------------------------------------------------------------------- */

/* Reads at most LIMIT_FILE_READ bytes; a missing file reads as empty. */
int
partfile_read(const partfile_t *self, buf_t *out, fail_t *err)
{
    AUTO_FD fd = self->file >= 0 ? open(self->at, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1;
    int rc = self->file < 0 ? 0 : fd < 0 ? -errno : fs_read_fd(fd, LIMIT_FILE_READ, out);

    if (rc == -EFBIG)
        return fop_failed(err, "%s is larger than the %zu bytes allowed here", self->resolved.asked,
                          (size_t) LIMIT_FILE_READ);
    return rc == 0 ? 0 : fop_oserror(err, -rc, self->resolved.asked);
}

static bool
is_device(const partfile_t *self)
{
    struct stat st;

    return self->special && (fstat(self->file, &st) != 0 || S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode));
}

/* Replaces the name by `what` with owner, mode and attributes of `as`. Devices are refused. */
int
partfile_land(const partfile_t *self, const content_t *what, const landing_t *as, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    if (is_device(self))
        return fail_set(err, -EINVAL, "%s is a device, and is not replaced by a file", self->resolved.asked);
    int rc = content_commit(self->path, what, as, &why);
    return rc == 0 ? 0 : fop_oserror(err, -rc, self->resolved.asked);
}

int
partfile_take(const partfile_t *self, int fd, const char *temp, const landing_t *as, fail_t *err)
{
    int rc = is_device(self) || fs_is_device(self->path) ? -EINVAL : content_land(self->path, fd, temp, as);

    return rc == 0 ? 0 : fop_oserror(err, -rc, self->resolved.asked);
}

/* Keeps owner, mode and attributes of a present file; a new one takes those of `fresh`. */
int
partfile_write(const partfile_t *self, const void *data, size_t len, const landing_t *fresh, fail_t *err)
{
    const content_t whole = { .data = data, .len = len };
    landing_t as = *fresh;
    struct stat st;

    if (self->file >= 0 && fstat(self->file, &st) != 0)
        return fop_oserror(err, errno, self->resolved.asked);
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
