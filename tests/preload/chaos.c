/* chaos.c - a library to preload: a page shared with tests/chaos says when a daemon dies or stops, how far
 * off its clock is, how slow its disk and whether it can be written.
 *
 *   CHAOS_PAGE=FILE   the page; programs that a daemon starts go undisturbed, but for the daemon's own children
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The program knows this layout: see Page in tests/chaos/world.py. */
typedef struct page {
    int32_t left;       /* at the n-th call that fits it happens; 0: never */
    int32_t signal;     /* what the process sends */
    int32_t hit;        /* who it was */
    int32_t first;      /* the daemon's first process */
    int32_t to_first;   /* it is sent to that, not to itself */
    int32_t after;      /* when the call is done, not before */
    int32_t sync_ms;    /* fsync takes longer by so much */
    int32_t write_ms;   /* a write to a file, too */
    int32_t disk_errno; /* below `root` nothing can be written */
    int32_t unused;
    int64_t shift_s; /* of the clock */
    char call[16];   /* "": none */
    char of[32];     /* "tcp", "unix", or how the file's path ends; "": any */
    char role[16];   /* "first", "net", "job" or "": any */
    char thread[16]; /* "": any */
    char root[256];
} page_t;

static page_t *page;
static pid_t known_pid;
static const char *known_role;

__attribute__((constructor)) static void
begin(void)
{
    const char *path = getenv("CHAOS_PAGE");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at = fd >= 0 ? mmap(NULL, sizeof(page_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        (void) close(fd);
    (void) unsetenv("LD_PRELOAD");
    if (at == MAP_FAILED)
        return;
    page = at;
    page->first = getpid();
}

/* The first process, a job (it has a session of its own), or another child. */
static const char *
role(void)
{
    pid_t pid = getpid();
    if (pid == page->first)
        return "first";
    if (pid != known_pid || strcmp(known_role, "net") == 0) {
        known_role = getsid(0) == pid ? "job" : "net";
        known_pid = pid;
    }
    return known_role;
}

static int
is_socket(int fd, int domain)
{
    int got = 0;
    socklen_t n = sizeof(got);
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &got, &n) == 0 && got == domain;
}

static int
path_of(int dir, const char *path, char out[PATH_MAX])
{
    char link[64];
    if (path && *path == '/')
        return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
    (void) snprintf(link, sizeof(link), dir == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", dir);
    ssize_t n = readlink(link, out, PATH_MAX - 1);
    if (n < 0)
        return 0;
    out[n] = '\0';
    return !path || snprintf(out + n, (size_t) (PATH_MAX - n), "/%s", path) < PATH_MAX - n;
}

static int
ends(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static int
fits(const char *call, int dir, const char *path)
{
    char name[16] = "", at[PATH_MAX];
    if (strcmp(page->call, call) != 0 || (page->role[0] && strcmp(page->role, role()) != 0))
        return 0;
    if (page->thread[0] && (prctl(PR_GET_NAME, name) != 0 || strcmp(name, page->thread) != 0))
        return 0;
    if (!page->of[0])
        return 1;
    if (strcmp(page->of, "tcp") == 0)
        return !path && is_socket(dir, AF_INET);
    if (strcmp(page->of, "unix") == 0)
        return !path && is_socket(dir, AF_UNIX);
    return path_of(dir, path, at) && ends(at, page->of);
}

static void
point(const char *call, int after, int dir, const char *path)
{
    int code = errno;
    if (page && page->left > 0 && page->after == after && fits(call, dir, path) &&
        __atomic_sub_fetch(&page->left, 1, __ATOMIC_SEQ_CST) == 0) {
        page->hit = getpid();
        (void) kill(page->to_first ? page->first : getpid(), page->signal);
    }
    errno = code;
}

static void
pause_ms(int ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000L };
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        continue;
}

/* Whether the disk refuses; errno is set. */
static int
refused(int dir, const char *path)
{
    char at[PATH_MAX];
    if (!page || page->disk_errno == 0 || !path_of(dir, path, at) ||
        strncmp(at, page->root, strlen(page->root)) != 0)
        return 0;
    errno = page->disk_errno;
    return 1;
}

static int
is_file(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static int
write_refused(int fd)
{
    if (!page || (page->write_ms == 0 && page->disk_errno == 0) || !is_file(fd))
        return 0;
    pause_ms(page->write_ms);
    return refused(fd, NULL);
}

static int
sync_refused(int fd)
{
    if (page && page->sync_ms > 0)
        pause_ms(page->sync_ms);
    return refused(fd, NULL);
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name)) dlsym(RTLD_NEXT, #name)
/* A call that may be a point, and that the disk may refuse. */
#define ON(ret, call, name, params, fd, path, no, args)                                                      \
    ret name params                                                                                          \
    {                                                                                                        \
        REAL(name);                                                                                          \
        point(call, 0, fd, path);                                                                            \
        ret rc = (no) ? (ret) -1 : real args;                                                                \
        point(call, 1, fd, path);                                                                            \
        return rc;                                                                                           \
    }

ON(ssize_t, "write", write, (int fd, const void *p, size_t n), fd, NULL, write_refused(fd), (fd, p, n))
ON(ssize_t, "write", pwrite, (int fd, const void *p, size_t n, off_t at), fd, NULL, write_refused(fd),
   (fd, p, n, at))
ON(ssize_t, "write", pwrite64, (int fd, const void *p, size_t n, off64_t at), fd, NULL, write_refused(fd),
   (fd, p, n, at))
ON(ssize_t, "write", writev, (int fd, const struct iovec *v, int n), fd, NULL, write_refused(fd), (fd, v, n))
ON(ssize_t, "send", send, (int fd, const void *p, size_t n, int f), fd, NULL, 0, (fd, p, n, f))
ON(ssize_t, "send", sendmsg, (int fd, const struct msghdr *m, int f), fd, NULL, 0, (fd, m, f))
ON(int, "sync", fsync, (int fd), fd, NULL, sync_refused(fd), (fd))
ON(int, "sync", fdatasync, (int fd), fd, NULL, sync_refused(fd), (fd))
ON(int, "truncate", ftruncate, (int fd, off_t n), fd, NULL, refused(fd, NULL), (fd, n))
ON(int, "truncate", ftruncate64, (int fd, off64_t n), fd, NULL, refused(fd, NULL), (fd, n))
ON(int, "rename", rename, (const char *from, const char *to), AT_FDCWD, to, refused(AT_FDCWD, to), (from, to))
ON(int, "rename", renameat, (int a, const char *from, int b, const char *to), b, to, refused(b, to),
   (a, from, b, to))
ON(int, "mkdir", mkdir, (const char *p, mode_t mode), AT_FDCWD, p, refused(AT_FDCWD, p), (p, mode))
ON(int, "mkdir", mkdirat, (int d, const char *p, mode_t mode), d, p, refused(d, p), (d, p, mode))
ON(int, "unlink", unlink, (const char *p), AT_FDCWD, p, refused(AT_FDCWD, p), (p))
ON(int, "unlink", unlinkat, (int d, const char *p, int f), d, p, refused(d, p), (d, p, f))
ON(int, "open", mkostemp, (char *p, int f), AT_FDCWD, p, refused(AT_FDCWD, p), (p, f))
ON(int, "open", mkostemp64, (char *p, int f), AT_FDCWD, p, refused(AT_FDCWD, p), (p, f))

#define MODE(flags)                                                                                          \
    va_list ap;                                                                                              \
    va_start(ap, flags);                                                                                     \
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(ap, mode_t) : 0;                                  \
    va_end(ap)
#define OPEN(name, params, dir, args)                                                                        \
    int name params                                                                                          \
    {                                                                                                        \
        MODE(flags);                                                                                         \
        REAL(name);                                                                                          \
        if ((flags & O_ACCMODE) == O_RDONLY)                                                                 \
            return real args;                                                                                \
        point("open", 0, dir, path);                                                                         \
        int fd = refused(dir, path) ? -1 : real args;                                                        \
        point("open", 1, dir, path);                                                                         \
        return fd;                                                                                           \
    }
OPEN(open, (const char *path, int flags, ...), AT_FDCWD, (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD, (path, flags, mode))
OPEN(openat, (int dir, const char *path, int flags, ...), dir, (dir, path, flags, mode))
OPEN(openat64, (int dir, const char *path, int flags, ...), dir, (dir, path, flags, mode))

/* What was received is a point only when something was. */
ssize_t
recv(int fd, void *p, size_t n, int flags)
{
    REAL(recv);
    ssize_t got = real(fd, p, n, flags);
    if (got > 0)
        point("recv", 1, fd, NULL);
    return got;
}

ssize_t
__recv_chk(int fd, void *p, size_t n, size_t room, int flags)
{
    return recv(fd, p, n, flags);
}

pid_t
fork(void)
{
    REAL(fork);
    point("fork", 0, -1, NULL);
    pid_t pid = real();
    if (pid > 0)
        point("fork", 1, -1, NULL);
    return pid;
}

pid_t
setsid(void)
{
    REAL(setsid);
    pid_t rc = real();
    point("setsid", 1, -1, NULL);
    return rc;
}

int
clock_gettime(clockid_t id, struct timespec *t)
{
    REAL(clock_gettime);
    int rc = real(id, t);
    if (page && rc == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        t->tv_sec += page->shift_s;
    return rc;
}

time_t
time(time_t *ret)
{
    struct timespec t;
    (void) clock_gettime(CLOCK_REALTIME, &t);
    if (ret)
        *ret = t.tv_sec;
    return t.tv_sec;
}

int
gettimeofday(struct timeval *t, void *zone)
{
    struct timespec now;
    (void) clock_gettime(CLOCK_REALTIME, &now);
    *t = (struct timeval){ now.tv_sec, now.tv_nsec / 1000 };
    return 0;
}
