/* fault.c - a library to preload: of the calls that change something below FAULT_ROOT, the N-th fails, or is
 * the last thing that the process does before kill -9. With FAULT_OPENS=1 what only opens counts too.
 *
 *   FAULT=kill:N  or  FAULT=28:N (an errno)      FAULT_ROOT=DIR      FAULT_HIT=FILE, which the fault makes
 *   FAULT_STEPS=FILE, which gets the name of each call, a line each
 *
 * Children count for themselves, from where their parent was.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

static long calls;
static const char *step; /* the name of the call under way */

static void
note_step(void)
{
    const char *log = getenv("FAULT_STEPS");
    char line[64];
    int fd = log && step ? (int) syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;

    if (fd < 0)
        return;
    int len = snprintf(line, sizeof(line), "%s\n", step);
    (void) syscall(SYS_write, fd, line, len);
    (void) syscall(SYS_close, fd);
}

static int
below_root(const char *path)
{
    const char *root = getenv("FAULT_ROOT");
    size_t n = root ? strlen(root) : 0;

    return n > 0 && strncmp(path, root, n) == 0;
}

/* Whether the call on `path` must fail; errno is set. */
static int
fault_at(const char *path)
{
    const char *what = getenv("FAULT"), *hit = getenv("FAULT_HIT");
    const char *colon = what ? strchr(what, ':') : NULL;

    if (!colon || !below_root(path))
        return 0;
    note_step();
    if (++calls != atol(colon + 1))
        return 0;
    if (hit) {
        int fd = (int) syscall(SYS_openat, AT_FDCWD, hit, O_WRONLY | O_CREAT, 0600);
        if (fd >= 0)
            (void) syscall(SYS_close, fd);
    }
    if (strncmp(what, "kill", 4) == 0)
        (void) kill(getpid(), SIGKILL);
    errno = atoi(what);
    return 1;
}

static int
fault_of_fd(int dir, const char *path)
{
    char link[64], at[PATH_MAX], whole[2 * PATH_MAX];
    int fd, used = 0;

    /* Below a folder that is held. */
    if (path && sscanf(path, "/proc/self/fd/%d%n", &fd, &used) == 1)
        return fault_of_fd(fd, path + used + (path[used] == '/'));
    if (path && *path == '/')
        return fault_at(path);
    (void) snprintf(link, sizeof(link), dir == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", dir);
    ssize_t n = readlink(link, at, sizeof(at) - 1);
    if (n < 0)
        return 0;
    at[n] = '\0';
    (void) snprintf(whole, sizeof(whole), "%s/%s", at, path ? path : "");
    return fault_at(whole);
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name)) dlsym(RTLD_NEXT, #name)
#define ON(ret, name, params, fault, args)                                                                   \
    ret name params                                                                                          \
    {                                                                                                        \
        REAL(name);                                                                                          \
        step = #name;                                                                                        \
        return fault ? (ret) -1 : real args;                                                                 \
    }

ON(ssize_t, write, (int fd, const void *p, size_t n), fault_of_fd(fd, NULL), (fd, p, n))
ON(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), fault_of_fd(fd, NULL), (fd, p, n, at))
ON(ssize_t, writev, (int fd, const struct iovec *v, int n), fault_of_fd(fd, NULL), (fd, v, n))
ON(int, fsync, (int fd), fault_of_fd(fd, NULL), (fd))
ON(int, ftruncate, (int fd, off_t n), fault_of_fd(fd, NULL), (fd, n))
ON(int, fchmod, (int fd, mode_t mode), fault_of_fd(fd, NULL), (fd, mode))
ON(int, fchown, (int fd, uid_t u, gid_t g), fault_of_fd(fd, NULL), (fd, u, g))
ON(int, fsetxattr, (int fd, const char *k, const void *v, size_t n, int f), fault_of_fd(fd, NULL),
   (fd, k, v, n, f))
ON(int, futimens, (int fd, const struct timespec t[2]), fault_of_fd(fd, NULL), (fd, t))
ON(int, chmod, (const char *p, mode_t mode), fault_of_fd(AT_FDCWD, p), (p, mode))
ON(int, chown, (const char *p, uid_t u, gid_t g), fault_of_fd(AT_FDCWD, p), (p, u, g))
ON(int, lchown, (const char *p, uid_t u, gid_t g), fault_of_fd(AT_FDCWD, p), (p, u, g))
ON(int, setxattr, (const char *p, const char *k, const void *v, size_t n, int f), fault_of_fd(AT_FDCWD, p),
   (p, k, v, n, f))
ON(int, rename, (const char *from, const char *to), fault_of_fd(AT_FDCWD, to), (from, to))
ON(int, renameat, (int a, const char *from, int b, const char *to), fault_of_fd(b, to), (a, from, b, to))
ON(int, link, (const char *from, const char *to), fault_of_fd(AT_FDCWD, to), (from, to))
ON(int, linkat, (int a, const char *from, int b, const char *to, int f), fault_of_fd(b, to),
   (a, from, b, to, f))
ON(int, symlink, (const char *text, const char *to), fault_of_fd(AT_FDCWD, to), (text, to))
ON(int, symlinkat, (const char *text, int b, const char *to), fault_of_fd(b, to), (text, b, to))
ON(int, mkdir, (const char *p, mode_t mode), fault_of_fd(AT_FDCWD, p), (p, mode))
ON(int, mkdirat, (int d, const char *p, mode_t mode), fault_of_fd(d, p), (d, p, mode))
ON(int, unlink, (const char *p), fault_of_fd(AT_FDCWD, p), (p))
ON(int, unlinkat, (int d, const char *p, int f), fault_of_fd(d, p), (d, p, f))
ON(int, mkostemp, (char *p, int f), fault_of_fd(AT_FDCWD, p), (p, f))

static int
counts(int flags)
{
    return (flags & (O_CREAT | O_TRUNC)) || getenv("FAULT_OPENS");
}

int
open(const char *path, int flags, ...)
{
    REAL(open);
    va_list ap;
    va_start(ap, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    step = "open";
    if (counts(flags) && fault_of_fd(AT_FDCWD, path))
        return -1;
    return real(path, flags, mode);
}

int
openat(int dir, const char *path, int flags, ...)
{
    REAL(openat);
    va_list ap;
    va_start(ap, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    if (counts(flags) && fault_of_fd(dir, path))
        return -1;
    return real(dir, path, flags, mode);
}
