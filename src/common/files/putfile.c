/* putfile.c - see putfile.h. The content is written to a temporary name in the target's folder and renamed;
 * the folder is held open by destpath.h, so that no other user can redirect the rename. */
#include "common/files/putfile.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/fs.h"
#include "common/base/str.h"

#define COPY_STEP (1 << 30) /* of one system call */

enum { TEMP_NAME = 32 };

/* Finds where `dest` leads, by destpath.h's rules for links. */
int
putfile_find(destpath_t *resolved, const char *dest, fail_t *err)
{
    int rc = destpath_find(resolved, dest, 0);
    if (rc == 0 || destpath_refused(resolved, rc, err))
        return rc;
    return fail_set(err, rc, "cannot write %s: %s", dest, strerror(-rc));
}

/* Set owner and permissions: those of the replaced file (`old`), or for a new file (NULL) `fresh`. */
static int
putfile_dress(int fd, const struct stat *old, mode_t fresh)
{
    if (old != NULL) {
        if (fchown(fd, old->st_uid, old->st_gid) != 0 && errno != EPERM)
            return -errno;
        return fchmod(fd, old->st_mode & 07777) == 0 ? 0 : -errno;
    }
    if (fresh == PUTFILE_UMASK) {
        mode_t mask = umask(022);
        (void) umask(mask);
        fresh = 0666 & ~mask;
    }
    return fchmod(fd, fresh) == 0 ? 0 : -errno;
}

/* Gives the temporary file its owner, mode and name. On failure the caller removes it. */
int
putfile_rename(int fd, int dir, const char *temp, const char *place, mode_t fresh, fail_t *err)
{
    const char *slash = strrchr(place, '/'), *name = slash != NULL ? slash + 1 : place;
    struct stat st;
    bool there = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!there && errno != ENOENT) /* its owner and mode would be lost */
        return fs_fail(err, -errno, "look at", place);
    if (there && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)))
        return fail_set(err, -EINVAL, "%s is a device; name a file", place);
    int rc = putfile_dress(fd, there && S_ISREG(st.st_mode) ? &st : NULL, fresh);
    if (rc == 0 && renameat(dir, temp, dir, name) != 0)
        rc = -errno;
    return rc < 0 ? fail_set(err, rc, "cannot write %s: %s", place, strerror(-rc)) : 0;
}

/* Walk to the folder of `rel`, removing obstacles. Closes *at_p on failure. */
static int
putfile_walk(int *at_p, const char *rel)
{
    char **parts = str_split(rel, "/", false);
    int rc = beneath_check(rel);
    size_t n = strv_len(parts);
    for (size_t i = 0; rc == 0 && i + 1 < n; i++) {
        /* A file or link with a folder's name is removed. */
        int next = beneath_folder(*at_p, parts[i], BENEATH_NO_LINKS, 0700);
        if (next == -ELOOP || next == -ENOTDIR) {
            (void) unlinkat(*at_p, parts[i], 0);
            next = beneath_folder(*at_p, parts[i], BENEATH_NO_LINKS, 0700);
        }
        (void) close(*at_p);
        *at_p = next;
        rc = next < 0 ? next : 0;
    }
    /* So is a folder or link that has the file's name. */
    struct stat st;
    if (rc == 0 && fstatat(*at_p, parts[n - 1], &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(st.st_mode))
        rc = fs_remove_at(*at_p, parts[n - 1]);
    strv_free(parts);
    return rc;
}

int
putfile_cache_folder(const char *cachedir, const char *saltenv, const char *path, int *ret_dir,
                     char **ret_place, fail_t *err)
{
    AUTO_FREE char *rel = putfile_cache_rel(saltenv, path);
    AUTO_FREE char *place = fs_join(cachedir, rel);
    int rc = fs_mkdirs(cachedir, 0700, err);
    AUTO_FD at = rc == 0 ? open(cachedir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (rc == 0)
        rc = at < 0 ? -errno : putfile_walk(&at, rel);
    if (rc < 0)
        return fail_set(err, rc, "cannot write %s: %s", place, strerror(-rc));
    *ret_dir = at;
    at = -1;
    *ret_place = STEAL(place);
    return 0;
}

char *
putfile_cache_rel(const char *saltenv, const char *path)
{
    return xasprintf("files/%s/%s", saltenv, path);
}

/* Copies from the start of both files: without a way through user space, on the same file system without
 * copying. */
static int
putfile_copy_bytes(int from, int to)
{
    off_t in = 0, out = 0;
    ssize_t n;
    while ((n = copy_file_range(from, &in, to, &out, COPY_STEP, 0)) > 0)
        continue;
    if (n == 0)
        return 0;
    /* Copying on another file system, or unsupported: let the kernel copy through its cache. */
    (void) lseek(to, out, SEEK_SET);
    while ((n = sendfile(to, from, &in, COPY_STEP)) > 0)
        continue;
    return n == 0 ? 0 : -errno;
}

/* Put the text, or the file `from` when it is NULL, at `dest`. */
static int
putfile_put(int from, const buf_t *text, const char *dest, fail_t *err)
{
    destpath_auto_t resolved = DESTPATH_INIT;
    char temp[TEMP_NAME];
    int rc = putfile_find(&resolved, dest, err);
    if (rc < 0)
        return rc;
    AUTO_FREE char *place = destpath_text(&resolved);

    /* A random name: a counter could meet the leftover of a killed process. */
    uint64_t chance;
    salt_assert(getrandom(&chance, sizeof(chance), 0) == (ssize_t) sizeof(chance));
    (void) snprintf(temp, TEMP_NAME, ".halite.%016llx", (unsigned long long) chance);
    int fd = openat(resolved.folder, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    AUTO_FD out = fd >= 0 ? fd : -errno;

    if (out < 0)
        return fail_set(err, out, "cannot write %s: %s", place, strerror(-out));
    rc = text != NULL ? fs_write_all(out, buf_str(text), text->len) : putfile_copy_bytes(from, out);
    rc = rc < 0 ? fail_set(err, rc, "cannot write %s: %s", place, strerror(-rc))
                : putfile_rename(out, resolved.folder, temp, place, PUTFILE_UMASK, err);
    if (rc < 0)
        (void) unlinkat(resolved.folder, temp, 0);
    return rc;
}

int
putfile_copy(int fd, const char *dest, fail_t *err)
{
    return putfile_put(fd, NULL, dest, err);
}

int
putfile_text(const buf_t *text, const char *dest, fail_t *err)
{
    return putfile_put(-1, text, dest, err);
}
