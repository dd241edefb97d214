/* memcheck.c - a library to preload below valgrind's memcheck: a process has its program's name, not
 * memcheck's. */
#define _GNU_SOURCE
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

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
