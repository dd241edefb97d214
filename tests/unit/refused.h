/* refused.h - the tests of a program once more, in a child that may not call openat2.
 *
 * The filter is one as systemd and containers install it: it goes by the call's number, and gives an errno
 * instead.
 */
#ifndef TESTS_REFUSED_H
#define TESTS_REFUSED_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/unit.h"

static inline void
refused_child(int code)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned) code),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { NELEMS(rules), rules };

    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0 ||
        syscall(SYS_openat2, -1, "", NULL, (size_t) 0) != -1 || errno != code)
        _exit(99);
    (void) execl("/proc/self/exe", "refused", "--run", "test_*", (char *) NULL);
    _exit(98);
}

/* Every test whose name begins with "test_", so the caller's does not. */
static inline void
refused_run(int code)
{
    int status = -1;

    if (unit_below_memcheck()) /* which knows no openat2 anyway */
        skip();
    (void) fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        refused_child(code);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static inline void
without_openat2(void **state)
{
    refused_run(ENOSYS);
}

#endif
