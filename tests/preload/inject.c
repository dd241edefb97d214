/* inject.c - a library to preload: the n-th call of one kind fails, or the first one from one place in the
 * code.
 *
 *   INJECT=FILE       a page shared with the driver, tests/inject/inject.py: what is to fail, and what was seen
 *   INJECT_PROG=NAME  the program that is meant; those that it starts go undisturbed
 *
 * Calls count from main() on, in all processes and threads of the program that have the role asked for: main
 * (the first process), job (a child with a session of its own), net (a child with an epoll descriptor), child
 * (others). A place is a digest of the innermost callers, the same in each run of one build.
 *
 * A sanitizer has an allocator of its own. With INJECT_WRAP this is an object to link instead (make WRAP=1):
 * calls of malloc and the like in our own code go through it, and so does jansson (common/base/memory.c).
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PLACES 65536
#define FRAMES 12 /* of a place, without those in here */
#define OURS   3  /* the frames in here */
#define PARTS  256

enum { OFF, ALLOC, WRITE, SEND, SYNC, FORK, MAKE_FD, OPEN, NAME, EPOLL, META, READ };

/* The driver knows this layout: see Page in tests/inject/page.py. */
typedef struct page {
    uint32_t kind;  /* what is counted; 0: nothing */
    int32_t error;  /* the errno; 0: half of it is done; -1: kill -9 */
    uint64_t at;    /* the n-th fails; 0: none by its number */
    uint64_t again; /* and so many after it */
    uint64_t place; /* or the first call from here */
    uint32_t look;  /* places are computed and kept */
    uint32_t hits;
    uint64_t calls;
    int32_t pid; /* who was hit first */
    char who[12];
    char name[32];
    struct {
        uint64_t place, first;
    } seen[PLACES];
} page_t;

static page_t *page;
static const char *role = "main";
static __thread int inside __attribute__((tls_model("initial-exec")));
static struct {
    uintptr_t from, to;
    uint64_t part;
} parts[PARTS];
static size_t n_parts;

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                      int (*init)(int, char **, char **), void (*fini)(void), void (*rtld_fini)(void),
                      void *stack_end);

static int
part_of(struct dl_phdr_info *object, size_t size, void *cookie)
{
    for (int i = 0; i < object->dlpi_phnum && n_parts < PARTS; i++) {
        const ElfW(Phdr) *h = &object->dlpi_phdr[i];
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
            continue;
        parts[n_parts].from = object->dlpi_addr + h->p_vaddr;
        parts[n_parts].to = parts[n_parts].from + h->p_memsz;
        parts[n_parts].part = n_parts + 1;
        n_parts++;
    }
    return 0;
}

/* The same in each run: where a frame is in the file that it is of. */
static uint64_t
place_of(void *const *frames, int n)
{
    uint64_t place = 1469598103934665603ULL;
    for (int i = OURS; i < n; i++) {
        uintptr_t at = (uintptr_t) frames[i];
        uint64_t value = 0;
        for (size_t k = 0; k < n_parts; k++)
            if (at >= parts[k].from && at < parts[k].to)
                value = (at - parts[k].from) << 8 | parts[k].part;
        for (int b = 0; b < 64; b += 8)
            place = (place ^ (value >> b & 255)) * 1099511628211ULL;
    }
    return place;
}

static void
keep_place(uint64_t place, uint64_t n)
{
    for (uint64_t i = place % PLACES, k = 0; k < PLACES; i = (i + 1) % PLACES, k++) {
        uint64_t none = 0;
        if (__atomic_load_n(&page->seen[i].place, __ATOMIC_ACQUIRE) == place)
            return;
        if (__atomic_compare_exchange_n(&page->seen[i].place, &none, place, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            page->seen[i].first = n;
            return;
        }
        if (none == place)
            return;
    }
}

static void
tell(const char *name, void *const *frames, int n)
{
    char path[4096];
    page->pid = getpid();
    (void) snprintf(page->name, sizeof(page->name), "%s", name);
    (void) snprintf(path, sizeof(path), "%s.hit", getenv("INJECT"));
    int fd = (int) syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    backtrace_symbols_fd(frames, n, fd);
    (void) syscall(SYS_close, fd);
}

/* Whether this call has to fail. errno is set. */
static __attribute__((noinline)) int
fault(uint32_t kind, const char *name)
{
    if (!page || inside || page->kind != kind || (page->who[0] && strcmp(page->who, role) != 0))
        return 0;
    int saved = errno, frames_n = 0;
    void *frames[OURS + FRAMES];
    uint64_t place = 0;
    inside = 1;
    uint64_t n = __atomic_add_fetch(&page->calls, 1, __ATOMIC_ACQ_REL);
    if (page->look || page->place) {
        frames_n = backtrace(frames, OURS + FRAMES);
        place = place_of(frames, frames_n);
        if (page->look)
            keep_place(place, n);
    }
    int fails = page->at ? n >= page->at && n - page->at <= page->again : 0;
    uint32_t none = 0;
    if (page->place && place == page->place)
        fails = __atomic_compare_exchange_n(&page->hits, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    else if (fails && __atomic_fetch_add(&page->hits, 1, __ATOMIC_ACQ_REL) > 0)
        none = 1;
    if (fails && none == 0) {
        void *all[64];
        tell(name, all, backtrace(all, 64));
    }
    inside = 0;
    errno = saved;
    if (!fails)
        return 0;
    if (page->error < 0)
        (void) kill(getpid(), SIGKILL);
    errno = page->error;
    return 1;
}

/* ---- from main() on -------------------------------------------------------------------------- */

static int (*real_main)(int, char **, char **);

static int
armed_main(int argc, char **argv, char **env)
{
    const char *path = getenv("INJECT"), *prog = getenv("INJECT_PROG");
    void *warm[4];
    int fd = path && prog && strcmp(prog, program_invocation_short_name) == 0
                 ? (int) syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC)
                 : -1;
    if (fd >= 0) {
        void *at = mmap(NULL, sizeof(page_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        (void) syscall(SYS_close, fd);
        (void) dl_iterate_phdr(part_of, NULL);
        (void) backtrace(warm, 4); /* it loads a library when it is first called */
        page = at != MAP_FAILED ? at : NULL;
    }
    return real_main(argc, argv, env);
}

#ifdef INJECT_WRAP
int __real_main(int argc, char **argv, char **env);
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
char *__real_strndup(const char *s, size_t n);
int __real_vasprintf(char **ret_text, const char *fmt, va_list ap);
pid_t __real_fork(void);

int
__wrap_main(int argc, char **argv, char **env)
{
    real_main = __real_main;
    return armed_main(argc, argv, env);
}

void *
__wrap_malloc(size_t n)
{
    return fault(ALLOC, "malloc") ? NULL : __real_malloc(n);
}

void *
__wrap_calloc(size_t n, size_t size)
{
    return fault(ALLOC, "calloc") ? NULL : __real_calloc(n, size);
}

void *
__wrap_realloc(void *p, size_t n)
{
    return fault(ALLOC, "realloc") ? NULL : __real_realloc(p, n);
}

char *
__wrap_strndup(const char *s, size_t n)
{
    return fault(ALLOC, "strndup") ? NULL : __real_strndup(s, n);
}

int
__wrap_vasprintf(char **ret_text, const char *fmt, va_list ap)
{
    return fault(ALLOC, "vasprintf") ? -1 : __real_vasprintf(ret_text, fmt, ap);
}

pid_t
__wrap_fork(void)
{
    pid_t pid = __real_fork();
    if (pid == 0)
        role = "child";
    return pid;
}

pid_t
__wrap_setsid(void)
{
    if (strcmp(role, "child") == 0)
        role = "job";
    return (pid_t) syscall(SYS_setsid);
}
#else

#define REAL(name) __typeof__(&name) real = (__typeof__(&name)) dlsym(RTLD_NEXT, #name)

int
__libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                  int (*init)(int, char **, char **), void (*fini)(void), void (*rtld_fini)(void),
                  void *stack_end)
{
    REAL(__libc_start_main);
    real_main = main;
    return real(armed_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *
malloc(size_t n)
{
    return fault(ALLOC, "malloc") ? NULL : __libc_malloc(n);
}

void *
calloc(size_t n, size_t size)
{
    return fault(ALLOC, "calloc") ? NULL : __libc_calloc(n, size);
}

void *
realloc(void *p, size_t n)
{
    return fault(ALLOC, "realloc") ? NULL : __libc_realloc(p, n);
}

void *
reallocarray(void *p, size_t n, size_t size)
{
    return fault(ALLOC, "reallocarray") ? NULL : __libc_realloc(p, n * size);
}

void *
aligned_alloc(size_t align, size_t n)
{
    return fault(ALLOC, "aligned_alloc") ? NULL : __libc_memalign(align, n);
}

int
posix_memalign(void **ret_p, size_t align, size_t n)
{
    if (fault(ALLOC, "posix_memalign"))
        return ENOMEM;
    *ret_p = __libc_memalign(align, n);
    return *ret_p ? 0 : ENOMEM;
}

/* A connection of TCP to which nothing can be sent is over: the kernel knows no other failure but "not now". */
static void
as_the_kernel(int fd)
{
    struct sockaddr_storage own;
    socklen_t n = sizeof(own);
    int code = errno;
    if (page->error > 0 && page->error != EAGAIN && page->error != EINTR &&
        getsockname(fd, (struct sockaddr *) &own, &n) == 0 && own.ss_family != AF_UNIX)
        (void) shutdown(fd, SHUT_RDWR);
    errno = code;
}

/* ---- bytes: an error of 0 means half of them ---------------------------------------------------- */

#define HALF(n) (page->error == 0 && (n) > 1 ? ((n) + 1) / 2 : 0)
/* Nothing but a full counter stops a write to an eventfd. */
static int
is_eventfd(int fd, size_t n)
{
    static const char name[] = "anon_inode:[eventfd]";
    char link[64], at[64] = "";
    if (n != sizeof(uint64_t))
        return 0;
    (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    return readlink(link, at, sizeof(at)) == (ssize_t) strlen(name) && memcmp(at, name, strlen(name)) == 0;
}

#define BYTES(what, on, name, params, n, whole, half)                                                        \
    ssize_t name params                                                                                      \
    {                                                                                                        \
        REAL(name);                                                                                          \
        if ((page && page->kind == what && is_eventfd(on, n)) || !fault(what, #name))                        \
            return real whole;                                                                               \
        size_t some = HALF(n);                                                                               \
        if (what == SEND)                                                                                    \
            as_the_kernel(on);                                                                               \
        if (page->error != 0)                                                                                \
            return -1;                                                                                       \
        return some ? real half : real whole;                                                                \
    }

BYTES(WRITE, fd, write, (int fd, const void *p, size_t n), n, (fd, p, n), (fd, p, some))
BYTES(WRITE, fd, pwrite, (int fd, const void *p, size_t n, off_t at), n, (fd, p, n, at), (fd, p, some, at))
BYTES(WRITE, fd, pwrite64, (int fd, const void *p, size_t n, off_t at), n, (fd, p, n, at), (fd, p, some, at))
BYTES(WRITE, fd, writev, (int fd, const struct iovec *v, int k), (size_t) k, (fd, v, k), (fd, v, (int) some))
BYTES(WRITE, to, sendfile, (int to, int from, off_t *at, size_t n), n, (to, from, at, n),
      (to, from, at, some))
BYTES(WRITE, from, copy_file_range, (int from, off64_t *a, int to, off64_t *b, size_t n, unsigned f), n,
      (from, a, to, b, n, f), (from, a, to, b, some, f))
BYTES(SEND, fd, send, (int fd, const void *p, size_t n, int f), n, (fd, p, n, f), (fd, p, some, f))
BYTES(SEND, fd, sendto, (int fd, const void *p, size_t n, int f, const struct sockaddr *to, socklen_t l), n,
      (fd, p, n, f, to, l), (fd, p, some, f, to, l))
BYTES(READ, fd, read, (int fd, void *p, size_t n), n, (fd, p, n), (fd, p, some))
BYTES(READ, fd, pread, (int fd, void *p, size_t n, off_t at), n, (fd, p, n, at), (fd, p, some, at))
BYTES(READ, fd, pread64, (int fd, void *p, size_t n, off_t at), n, (fd, p, n, at), (fd, p, some, at))
BYTES(READ, fd, recv, (int fd, void *p, size_t n, int f), n, (fd, p, n, f), (fd, p, some, f))

/* ---- calls that answer -1 -------------------------------------------------------------------- */

#define ON(kind, ret, name, params, args)                                                                    \
    ret name params                                                                                          \
    {                                                                                                        \
        REAL(name);                                                                                          \
        return fault(kind, #name) ? (ret) -1 : real args;                                                    \
    }
#define ON_POINTER(kind, ret, name, params, args)                                                            \
    ret name params                                                                                          \
    {                                                                                                        \
        REAL(name);                                                                                          \
        return fault(kind, #name) ? NULL : real args;                                                        \
    }

ON(SYNC, int, fsync, (int fd), (fd))
ON(SYNC, int, fdatasync, (int fd), (fd))
ON(MAKE_FD, int, pipe, (int fds[2]), (fds))
ON(MAKE_FD, int, pipe2, (int fds[2], int f), (fds, f))
ON(MAKE_FD, int, socketpair, (int d, int t, int p, int fds[2]), (d, t, p, fds))
ON(MAKE_FD, int, socket, (int d, int t, int p), (d, t, p))
ON(MAKE_FD, int, accept, (int fd, struct sockaddr *a, socklen_t *l), (fd, a, l))
ON(MAKE_FD, int, accept4, (int fd, struct sockaddr *a, socklen_t *l, int f), (fd, a, l, f))
ON(MAKE_FD, int, eventfd, (unsigned n, int f), (n, f))
ON(MAKE_FD, int, signalfd, (int fd, const sigset_t *s, int f), (fd, s, f))
ON(MAKE_FD, int, dup, (int fd), (fd))
ON(MAKE_FD, int, dup3, (int fd, int to, int f), (fd, to, f))
ON(OPEN, int, mkostemp, (char *p, int f), (p, f))
ON(OPEN, int, mkostemps, (char *p, int n, int f), (p, n, f))
ON(OPEN, int, mkostemp64, (char *p, int f), (p, f))
ON_POINTER(OPEN, char *, mkdtemp, (char *p), (p))
ON_POINTER(OPEN, FILE *, fopen, (const char *p, const char *how), (p, how))
ON_POINTER(OPEN, FILE *, fopen64, (const char *p, const char *how), (p, how))
ON_POINTER(OPEN, DIR *, opendir, (const char *p), (p))
ON_POINTER(OPEN, DIR *, fdopendir, (int fd), (fd))
ON(NAME, int, rename, (const char *a, const char *b), (a, b))
ON(NAME, int, renameat, (int x, const char *a, int y, const char *b), (x, a, y, b))
ON(NAME, int, renameat2, (int x, const char *a, int y, const char *b, unsigned f), (x, a, y, b, f))
ON(NAME, int, link, (const char *a, const char *b), (a, b))
ON(NAME, int, linkat, (int x, const char *a, int y, const char *b, int f), (x, a, y, b, f))
ON(NAME, int, symlink, (const char *a, const char *b), (a, b))
ON(NAME, int, unlink, (const char *p), (p))
ON(NAME, int, unlinkat, (int d, const char *p, int f), (d, p, f))
ON(NAME, int, mkdir, (const char *p, mode_t m), (p, m))
ON(NAME, int, mkdirat, (int d, const char *p, mode_t m), (d, p, m))
ON(NAME, int, ftruncate, (int fd, off_t n), (fd, n))
ON(NAME, int, ftruncate64, (int fd, off_t n), (fd, n))
ON(META, int, fchmod, (int fd, mode_t m), (fd, m))
ON(META, int, chmod, (const char *p, mode_t m), (p, m))
ON(META, int, fchown, (int fd, uid_t u, gid_t g), (fd, u, g))
ON(META, int, chown, (const char *p, uid_t u, gid_t g), (p, u, g))
ON(META, int, lchown, (const char *p, uid_t u, gid_t g), (p, u, g))
ON(META, int, fchownat, (int d, const char *p, uid_t u, gid_t g, int f), (d, p, u, g, f))
ON(META, int, fsetxattr, (int fd, const char *k, const void *v, size_t n, int f), (fd, k, v, n, f))
ON(META, int, utimensat, (int d, const char *p, const struct timespec t[2], int f), (d, p, t, f))
ON(META, int, fstatat, (int d, const char *p, struct stat *st, int f), (d, p, st, f))
ON(META, int, futimens, (int fd, const struct timespec t[2]), (fd, t))
ON(META, int, fstat, (int fd, struct stat *st), (fd, st))
ON(META, int, stat, (const char *p, struct stat *st), (p, st))
ON(META, int, lstat, (const char *p, struct stat *st), (p, st))
ON(EPOLL, int, epoll_ctl, (int e, int op, int fd, struct epoll_event *ev), (e, op, fd, ev))

/* ---- those with something of their own ----------------------------------------------------------- */

ssize_t
sendmsg(int fd, const struct msghdr *m, int f)
{
    REAL(sendmsg);
    if (!fault(SEND, "sendmsg"))
        return real(fd, m, f);
    as_the_kernel(fd);
    return page->error != 0 ? -1 : real(fd, m, f);
}

pid_t
fork(void)
{
    REAL(fork);
    if (fault(FORK, "fork"))
        return -1;
    pid_t pid = real();
    if (pid == 0)
        role = "child";
    return pid;
}

int
pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
{
    REAL(pthread_create);
    return fault(FORK, "pthread_create") ? page->error : real(t, a, fn, arg);
}

pid_t
setsid(void)
{
    REAL(setsid);
    if (strcmp(role, "child") == 0)
        role = "job";
    return real();
}

int
epoll_create1(int flags)
{
    REAL(epoll_create1);
    if (strcmp(role, "child") == 0)
        role = "net";
    return fault(MAKE_FD, "epoll_create1") ? -1 : real(flags);
}

int
epoll_create(int size)
{
    REAL(epoll_create);
    if (strcmp(role, "child") == 0)
        role = "net";
    return fault(MAKE_FD, "epoll_create") ? -1 : real(size);
}

#define OPENS(name, params, args)                                                                            \
    int name params                                                                                          \
    {                                                                                                        \
        REAL(name);                                                                                          \
        va_list ap;                                                                                          \
        va_start(ap, flags);                                                                                 \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;                                \
        va_end(ap);                                                                                          \
        return fault(OPEN, #name) ? -1 : real args;                                                          \
    }
OPENS(open, (const char *path, int flags, ...), (path, flags, mode))
OPENS(open64, (const char *path, int flags, ...), (path, flags, mode))
OPENS(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPENS(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))

int
posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *acts,
            const posix_spawnattr_t *attr, char *const argv[], char *const env[])
{
    REAL(posix_spawn);
    return fault(FORK, "posix_spawn") ? page->error : real(pid, path, acts, attr, argv, env);
}

ssize_t
__pread_chk(int fd, void *p, size_t n, off_t at, size_t room)
{
    return n > room ? -1 : pread(fd, p, n, at);
}

/* openat2 has no function of its own. */
long
syscall(long number, ...)
{
    REAL(syscall);
    long a[6];
    va_list ap;
    va_start(ap, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    return number == SYS_openat2 && fault(OPEN, "openat2") ? -1
                                                           : real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif
