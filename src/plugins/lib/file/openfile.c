/* openfile.c - what is done with open files: one opened to copy it, its extended attributes, and bytes
 * written over those that it has. */
#include "plugins/lib/file/fileops.h"

#include <endian.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <linux/xattr.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/base/fs.h"

/* ---- to copy from ---------------------------------------------------------------------------- */

/* A pipe waits for its writer, and of devices only /dev/null is sure to end. */
static bool
has_an_end(const struct stat *st)
{
    return S_ISREG(st->st_mode) || (S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3));
}

bool
fop_is_source(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && has_an_end(&st);
}

int
fop_open_source(const char *path, struct stat *ret_st, fail_t *err)
{
    AUTO_FD from = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (from < 0 || fstat(from, ret_st) != 0)
        return fop_oserror(err, errno, path);
    if (S_ISDIR(ret_st->st_mode))
        return fop_oserror(err, EISDIR, path);
    if (!has_an_end(ret_st))
        return fail_set(err, -EINVAL, "%s is a pipe or a device, and no file that can be copied", path);
    int fd = from;
    from = -1;
    return fd;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* An ACL has the file's mode in it, and setting it sets the mode; the mask, or the group where there is
 * none, bounds what everybody whom it names may do. It takes the mode that the new file has been given, as
 * chmod would change it: else those whom the old file let in could read what the new one holds until
 * somebody looks at its mode. */
static void
bound_acl(char *acl, size_t len, mode_t mode)
{
    struct posix_acl_xattr_entry *entries = (void *) (acl + sizeof(struct posix_acl_xattr_header)),
                                 *group = NULL;
    size_t n = len > sizeof(struct posix_acl_xattr_header)
                   ? (len - sizeof(struct posix_acl_xattr_header)) / sizeof(*entries)
                   : 0;

    for (size_t i = 0; i < n; i++) {
        uint16_t tag = le16toh(entries[i].e_tag);
        if (tag == ACL_USER_OBJ)
            entries[i].e_perm = htole16((mode >> 6) & 7);
        else if (tag == ACL_OTHER)
            entries[i].e_perm = htole16(mode & 7);
        else if (tag == ACL_MASK || (tag == ACL_GROUP_OBJ && group == NULL))
            group = &entries[i];
    }
    if (group != NULL)
        group->e_perm = htole16((mode >> 3) & 7);
}

/* Copies all extended attributes between open files, but for those that can't be read or may not be set: the
 * file system of the copy may lack them, and the security ones are root's. 0 or a negative errno. */
int
fop_copy_xattrs(int from, int to)
{
    AUTO_FREE char *names = xcalloc(XATTR_LIST_MAX, 1), *value = xcalloc(XATTR_SIZE_MAX, 1);
    ssize_t n = flistxattr(from, names, XATTR_LIST_MAX);
    struct stat st;

    if (fstat(to, &st) != 0)
        return -errno;
    for (ssize_t at = 0; at < n; at += (ssize_t) strlen(names + at) + 1) {
        const char *name = names + at;
        ssize_t len = fgetxattr(from, name, value, XATTR_SIZE_MAX);
        if (len >= 0 && strcmp(name, XATTR_NAME_POSIX_ACL_ACCESS) == 0)
            bound_acl(value, (size_t) len, st.st_mode);
        if (len >= 0 && fsetxattr(to, name, value, (size_t) len, 0) != 0 && errno != ENOTSUP &&
            errno != EPERM && errno != EACCES)
            return -errno;
    }
    return 0;
}

/* ---- bytes in place -------------------------------------------------------------------------- */

/* The first bytes of an open file, as many as there are. 0 or a negative errno. */
static int
read_head(int fd, size_t len, buf_t *out)
{
    buf_reserve(out, len);
    while (out->len < len) {
        ssize_t n = pread(fd, out->data + out->len, len - out->len, (off_t) out->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        out->len += (size_t) n;
    }
    return 0;
}

/* O_NONBLOCK keeps open() from waiting for a pipe's reader; it is cleared again so that writes block as
 * usual. -1 with errno. */
int
fop_open_to_write(const char *path, int flags)
{
    AUTO_FD fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | flags);
    int set = fd < 0 ? -1 : fcntl(fd, F_GETFL), opened = fd;

    if (set < 0 || fcntl(fd, F_SETFL, set & ~O_NONBLOCK) != 0)
        return -1;
    fd = -1;
    return opened;
}

/* Overwrites a held file in place. Keeps the bytes that will be overwritten in memory and restores them when
 * the write fails, on a full disk for example. fsync() may fail with EINVAL on devices, which is not an
 * error. */
int
fop_overwrite(int held, const void *data, size_t len)
{
    AUTO_FREE char *at = xasprintf("/proc/self/fd/%d", held);
    AUTO_FD fd = fop_open_to_write(at, 0);
    buf_auto_t head = BUF_INIT;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        return -errno;
    size_t size = S_ISREG(st.st_mode) ? (size_t) st.st_size : 0;
    /* Pipes are excluded: opening one to read would make this process its reader and steal data from
     * others. */
    AUTO_FD old = size > 0 ? open(at, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1;
    if (size > 0 && old < 0)
        return -errno;
    int rc = read_head(old, size < len ? size : len, &head);
    if (rc != 0)
        return rc;
    rc = fs_write_all(fd, data, len);
    if (rc == 0 && size > len && ftruncate(fd, (off_t) len) != 0)
        rc = -errno;
    if (rc == 0 && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        rc = -errno;
    if (rc != 0 && S_ISREG(st.st_mode)) {
        /* Restores the old bytes: their blocks are still allocated, so writing them works on a full disk. */
        if (lseek(fd, 0, SEEK_SET) == 0 && fs_write_all(fd, head.data, head.len) == 0 &&
            ftruncate(fd, st.st_size) == 0)
            (void) fsync(fd);
    }
    return rc;
}
