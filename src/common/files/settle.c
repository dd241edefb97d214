/* settle.c - see settle.h. */
#include "common/files/settle.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"

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

/* A file that is replaced keeps its owner and permissions; a new one has the usual ones. */
static int
s_dress(int fd, const char *place)
{
    struct stat st;
    if (stat(place, &st) == 0) {
        if (fchown(fd, st.st_uid, st.st_gid) != 0 && errno != EPERM)
            return -errno;
        return fchmod(fd, st.st_mode & 07777) == 0 ? 0 : -errno;
    }
    mode_t mask = umask(022);
    (void) umask(mask);
    return fchmod(fd, 0666 & ~mask) == 0 ? 0 : -errno;
}

int
settle(int fd, const char *temp, const char *place, fail_t *err)
{
    int rc = s_dress(fd, place);
    if (rc == 0 && rename(temp, place) != 0)
        rc = -errno;
    return rc < 0 ? fail_set(err, rc, "cannot write %s: %s", place, strerror(-rc)) : 0;
}

/* What was a file is a folder now, or the other way round. */
static int
s_clear_way(const char *place, size_t below, fail_t *err)
{
    AUTO_FREE char *at = xstrdup(place);
    for (char *p = at + below; (p = strchr(p, '/')); p++) {
        struct stat st;
        *p = '\0';
        if (lstat(at, &st) == 0 && !S_ISDIR(st.st_mode) && unlink(at) != 0)
            return fail_set(err, -errno, "cannot remove %s: %s", at, strerror(errno));
        *p = '/';
    }
    return fs_is_dir(place) ? fs_remove_tree(place, err) : 0;
}

int
settle_cache_place(const char *cachedir, const char *saltenv, const char *path, char **ret_place, fail_t *err)
{
    AUTO_FREE char *base = xasprintf("%s/files/", cachedir);
    AUTO_FREE char *place = xasprintf("%s%s/%s", base, saltenv, path);
    AUTO_FREE char *folder = xstrdup(place);
    *strrchr(folder, '/') = '\0';
    int rc = s_clear_way(place, strlen(base), err);
    if (rc == 0)
        rc = fs_mkdirs(folder, 0700, err);
    if (rc == 0)
        *ret_place = STEAL(place);
    return rc;
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
                : settle(out, temp, place, err);
    if (rc < 0)
        (void) unlink(temp);
    return rc;
}
