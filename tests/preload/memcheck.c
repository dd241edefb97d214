/* memcheck.c - a library to preload below valgrind's memcheck, which does not know openat2 and answers ENOSYS: does what the
 * call does, but in more than one step, so without the promise that nobody changes a link in between. And a process has its
 * program's name, not memcheck's. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/openat2.h>

__attribute__((constructor)) static void
name_process(void)
{
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (n <= 0)
        return;
    program[n] = '\0';
    const char *slash = strrchr(program, '/');
    (void) prctl(PR_SET_NAME, slash != NULL ? slash + 1 : program, 0, 0, 0);
}

/* 0, or -1 with errno: a part of the path is a link. */
static int
no_links(int dir, const char *path)
{
    char part[PATH_MAX];
    struct stat st;
    size_t n = strlen(path);

    for (size_t i = 1; i <= n; i++) {
        if (i < n && path[i] != '/')
            continue;
        (void) snprintf(part, sizeof(part), "%.*s", (int) i, path);
        if (fstatat(dir, part, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) {
            errno = ELOOP;
            return -1;
        }
    }
    return 0;
}

/* The same: it leads out of the folder. What does not exist yet lies where its folder lies. */
static int
inside(int dir, const char *path)
{
    char link[64], base[PATH_MAX], whole[2 * PATH_MAX], real[PATH_MAX];

    (void) snprintf(link, sizeof(link), "/proc/self/fd/%d", dir);
    if (realpath(dir == AT_FDCWD ? "." : link, base) == NULL)
        return -1;
    (void) snprintf(whole, sizeof(whole), "%s/%s", base, path);
    if (realpath(whole, real) == NULL) {
        char *slash = strrchr(whole, '/');
        if (errno != ENOENT || slash == NULL)
            return -1;
        *slash = '\0';
        if (realpath(whole, real) == NULL)
            return -1;
    }
    size_t n = strlen(base);
    if (path[0] == '/' || strncmp(real, base, n) != 0 || (real[n] != '/' && real[n] != '\0' && n > 1)) {
        errno = EXDEV;
        return -1;
    }
    return 0;
}

static long
openat2(int dir, const char *path, const struct open_how *how)
{
    if ((how->resolve & RESOLVE_NO_SYMLINKS) && no_links(dir, path) != 0)
        return -1;
    if ((how->resolve & RESOLVE_BENEATH) && inside(dir, path) != 0)
        return -1;
    return openat(dir, path, (int) how->flags, (mode_t) how->mode);
}

long
syscall(long number, ...)
{
    static long (*real)(long, ...);
    long a[6];
    va_list ap;

    va_start(ap, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    if (number == SYS_openat2)
        return openat2((int) a[0], (const char *) a[1], (const struct open_how *) a[2]);
    if (real == NULL)
        *(void **) &real = dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
