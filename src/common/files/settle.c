/* settle.c - see settle.h. */
#include "common/files/settle.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/fs.h"
#include "common/base/str.h"

#define LINKS_MAX 40        /* as the kernel */
#define COPY_STEP (1 << 30) /* of one system call */

char *
settle_place(const char *dest)
{
    char *at = xstrdup(dest), target[PATH_MAX];
    for (int i = 0; i < LINKS_MAX; i++) {
        ssize_t n = readlink(at, target, sizeof(target) - 1);
        if (n < 0)
            break;
        target[n] = '\0';
        const char *slash = strrchr(at, '/');
        char *next = *target == '/' || !slash ? xstrdup(target)
                                              : xasprintf("%.*s/%s", (int) (slash - at), at, target);
        free(at);
        at = next;
    }
    return at;
}

/* A file that is replaced keeps its owner and permissions. */
static int
s_dress(int fd, int dir, const char *place, mode_t fresh)
{
    struct stat st;
    if (fstatat(dir, place, &st, 0) == 0) {
        if (fchown(fd, st.st_uid, st.st_gid) != 0 && errno != EPERM)
            return -errno;
        return fchmod(fd, st.st_mode & 07777) == 0 ? 0 : -errno;
    }
    if (fresh == SETTLE_USUAL) {
        mode_t mask = umask(022);
        (void) umask(mask);
        fresh = 0666 & ~mask;
    }
    return fchmod(fd, fresh) == 0 ? 0 : -errno;
}

int
settle(int fd, int dir, const char *temp, const char *place, mode_t fresh, fail_t *err)
{
    int rc = s_dress(fd, dir, place, fresh);
    if (rc == 0 && renameat(dir, temp, dir, place) != 0)
        rc = -errno;
    return rc < 0 ? fail_set(err, rc, "cannot write %s: %s", place, strerror(-rc)) : 0;
}

/* A folder of the cache; what was a file or a link of that name goes. */
static int
s_enter(int dir, const char *name)
{
    int fd = beneath_folder(dir, name, BENEATH_NO_LINKS, 0700);
    if (fd != -ELOOP && fd != -ENOTDIR)
        return fd;
    (void) unlinkat(dir, name, 0);
    return beneath_folder(dir, name, BENEATH_NO_LINKS, 0700);
}

/* Only a file may have the name of one. */
static int
s_clear_name(int dir, const char *name)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || S_ISREG(st.st_mode))
        return 0;
    return fs_remove_at(dir, name);
}

/* Walks to the folder of `rel`, clearing the way; *at_p is closed on failure. */
static int
s_walk(int *at_p, const char *rel)
{
    char **parts = str_split(rel, "/", false);
    int rc = beneath_check(rel);
    size_t n = strv_len(parts);
    for (size_t i = 0; rc == 0 && i + 1 < n; i++) {
        int next = s_enter(*at_p, parts[i]);
        (void) close(*at_p);
        *at_p = next;
        rc = next < 0 ? next : 0;
    }
    if (rc == 0)
        rc = s_clear_name(*at_p, parts[n - 1]);
    strv_free(parts);
    return rc;
}

int
settle_cache_folder(const char *cachedir, const char *saltenv, const char *path, int *ret_dir,
                    char **ret_place, fail_t *err)
{
    AUTO_FREE char *rel = settle_cache_rel(saltenv, path);
    AUTO_FREE char *place = fs_join(cachedir, rel);
    int rc = fs_mkdirs(cachedir, 0700, err);
    AUTO_FD at = rc == 0 ? open(cachedir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (rc == 0)
        rc = at < 0 ? -errno : s_walk(&at, rel);
    if (rc < 0)
        return fail_set(err, rc, "cannot write %s: %s", place, strerror(-rc));
    *ret_dir = at;
    at = -1;
    *ret_place = STEAL(place);
    return 0;
}

char *
settle_cache_rel(const char *saltenv, const char *path)
{
    return xasprintf("files/%s/%s", saltenv, path);
}

static int
s_copy_bytes(int from, int to)
{
    off_t in = 0, out = 0;
    ssize_t n;
    while ((n = copy_file_range(from, &in, to, &out, COPY_STEP, 0)) > 0)
        continue;
    if (n == 0)
        return 0;
    /* Another file system, or one that can't: the kernel copies by its cache. */
    (void) lseek(to, out, SEEK_SET);
    while ((n = sendfile(to, from, &in, COPY_STEP)) > 0)
        continue;
    return n == 0 ? 0 : -errno;
}

int
settle_copy(int fd, const char *dest, fail_t *err)
{
    AUTO_FREE char *place = settle_place(dest);
    const char *slash = strrchr(place, '/');
    AUTO_FREE char *temp = xasprintf("%.*s.halite.XXXXXX", slash ? (int) (slash + 1 - place) : 0, place);
    AUTO_FD out = mkostemp(temp, O_CLOEXEC);
    if (out < 0)
        return fail_set(err, -errno, "cannot write %s: %s", place, strerror(errno));
    int rc = s_copy_bytes(fd, out);
    rc = rc < 0 ? fail_set(err, rc, "cannot write %s: %s", place, strerror(-rc))
                : settle(out, AT_FDCWD, temp, place, SETTLE_USUAL, err);
    if (rc < 0)
        (void) unlink(temp);
    return rc;
}
