/* beneath.c - see beneath.h. */
#include "common/base/beneath.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/steps.h"
#include "common/base/str.h"
#include "salt/limits.h"

#define AGAIN_MAX 16 /* attempts at a path that changes while it is walked */
#define TEMP_NAME 32

/* ---- names --------------------------------------------------------------------------------------------- */

static int
check_part(const char *part, size_t len)
{
    if (len == 0 || (len == 1 && part[0] == '.') || (len == 2 && part[0] == '.' && part[1] == '.'))
        return -EINVAL;
    return len <= NAME_MAX ? 0 : -ENAMETOOLONG;
}

int
beneath_check(const char *path)
{
    size_t depth = 0;

    if (strlen(path) >= PATH_MAX)
        return -ENAMETOOLONG;
    for (const char *at = path;; depth++) {
        size_t len = strcspn(at, "/");
        int rc = check_part(at, len);
        if (rc < 0 || at[len] == '\0')
            return rc < 0 ? rc : depth < LIMIT_FILE_DEPTH ? 0 : -ENAMETOOLONG;
        at += len + 1;
    }
}

bool
beneath_is_name(const char *name)
{
    return strchr(name, '/') == NULL && check_part(name, strlen(name)) == 0;
}

/* ---- opening ------------------------------------------------------------------------------------------- */

/* True when openat2 failed because this process may not call it: an old kernel lacks it, and a seccomp filter
 * cannot look at its flags and so denies it whole, with an errno of its author's choice. An empty call tells
 * the cases apart: the kernel itself answers EINVAL. */
static bool
is_denied(int code)
{
    if (code != -ENOSYS && code != -EPERM && code != -EACCES)
        return false;
    return syscall(SYS_openat2, -1, "", NULL, (size_t) 0) != 0 && errno != EINVAL;
}

/* Opens by openat2. The kernel gives -EAGAIN when something on the way was renamed meanwhile, because it
 * can't be sure then that the path stays inside; the call is repeated. */
static int
open_how(int dir, const char *path, beneath_t how, int flags, mode_t mode)
{
    static const uint64_t resolve[] = { [BENEATH_NO_LINKS] = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
                                        [BENEATH_LINKS] = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
                                        [BENEATH_OUT] = RESOLVE_NO_MAGICLINKS };
    struct open_how to = { .flags = (unsigned) (flags | O_CLOEXEC), .resolve = resolve[how] };
    long fd = -EAGAIN;

    to.mode = (flags & O_CREAT) != 0 ? mode : 0;
    for (int i = 0; i < AGAIN_MAX && fd == -EAGAIN; i++) {
        fd = syscall(SYS_openat2, dir, path, &to, sizeof(to));
        fd = fd < 0 ? -errno : fd;
    }
    return is_denied((int) fd) ? steps_open(dir, path, how, flags, mode) : (int) fd;
}

int
beneath_open(int dir, const char *path, beneath_t how, int flags, mode_t mode)
{
    int rc = beneath_check(path);

    return rc < 0 ? rc : open_how(dir, path, how, flags, mode);
}

/* Opens the first `len` bytes of a checked path as a folder. Each step is looked up from `dir` again, because
 * a link on the way may lead back up and still stay inside. */
static int
beneath_walk(int dir, const char *path, size_t len, beneath_t how, mode_t mode)
{
    AUTO_FREE char *way = xstrndup(path, len);
    int at = open_how(dir, ".", how, O_RDONLY | O_DIRECTORY, 0);

    for (char *name = way, *end; at >= 0 && *name != '\0'; name = end) {
        end = name + strcspn(name, "/");
        char cut = *end;
        *end = '\0';
        int rc = mode != 0 && mkdirat(at, name, mode) != 0 && errno != EEXIST ? -errno : 0;
        (void) close(at);
        at = rc < 0 ? rc : open_how(dir, way, how, O_RDONLY | O_DIRECTORY, 0);
        *end = cut;
        end += cut == '/';
    }
    return at;
}

int
beneath_folder(int dir, const char *path, beneath_t how, mode_t mode)
{
    int rc = *path == '\0' ? 0 : beneath_check(path);

    return rc < 0 ? rc : beneath_walk(dir, path, strlen(path), how, mode);
}

int
beneath_parent(int dir, const char *path, beneath_t how, mode_t mode, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    int rc = beneath_check(path);

    *ret_name = slash != NULL ? slash + 1 : path;
    return rc < 0 ? rc : beneath_walk(dir, path, slash != NULL ? (size_t) (slash - path) : 0, how, mode);
}

/* ---- files --------------------------------------------------------------------------------------------- */

int
beneath_read(int dir, const char *path, size_t limit, buf_t *out)
{
    AUTO_FD fd = beneath_open(dir, path, BENEATH_NO_LINKS, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    struct stat st;

    if (fd < 0)
        return fd;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return -EINVAL;
    return fs_read_fd(fd, limit, out);
}

int
beneath_put(int folder, const char *name, const void *data, size_t len, mode_t mode, bool sync)
{
    char temp[TEMP_NAME];

    if (!beneath_is_name(name))
        return -EINVAL;

    /* Makes a name for a temporary file. It begins with a dot, as no other name of ours does, and is
     * random: a counter would meet the leftovers of killed processes. */
    uint64_t chance;
    salt_assert(getrandom(&chance, sizeof(chance), 0) == (ssize_t) sizeof(chance));
    (void) snprintf(temp, TEMP_NAME, ".new.%016llx", (unsigned long long) chance);

    AUTO_FD fd = openat(folder, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    int rc = fs_write_all(fd, data, len);
    if (rc == 0 && fchmod(fd, mode) != 0)
        rc = -errno;
    if (rc == 0 && sync && fsync(fd) != 0)
        rc = -errno;
    if (rc == 0 && renameat(folder, temp, folder, name) != 0)
        rc = -errno;
    if (rc < 0)
        (void) unlinkat(folder, temp, 0);
    else if (sync && fsync(folder) != 0)
        rc = -errno;
    return rc;
}

int
beneath_remove(int dir, const char *path)
{
    const char *name;
    AUTO_FD folder = beneath_parent(dir, path, BENEATH_NO_LINKS, 0, &name);

    if (folder < 0)
        return fs_is_absence(folder) ? 0 : folder;
    return fs_remove_at(folder, name);
}

bool
beneath_absent(int dir, const char *path)
{
    struct stat st;
    const char *name;
    AUTO_FD folder = beneath_parent(dir, path, BENEATH_NO_LINKS, 0, &name);
    int rc = folder >= 0 && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ? -errno : folder;

    return fs_is_absence(rc);
}
