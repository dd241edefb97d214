/* proc.h - run one program: arguments, environment, user, input, output, time limit.
 *
 * Layer      common/host
 * Threads    any (fork + exec; the child touches no locks)
 * Errors     negative errno when the program could not be started; its own exit is data
 * Tests      tests/unit/common/test_proc.c
 */
#ifndef COMMON_HOST_PROC_H
#define COMMON_HOST_PROC_H

#include <signal.h>
#include <sys/types.h>

#include "common/base/buf.h"
#include "salt/base.h"

typedef struct proc_spec {
    char *const *argv;  /* ends with NULL; argv[0] is looked up on PATH (of `env` if given) */
    char *const *env;   /* ends with NULL, "NAME=value"; NULL inherits */
    const char *cwd;    /* NULL: stay */
    const char *run_as; /* user name; NULL: stay. Sets groups, gid, uid */
    const char *group;  /* group name; NULL: the user's */
    const char *in;     /* bytes for stdin; NULL: /dev/null */
    size_t in_len;
    int timeout_ms;    /* 0: none. The whole process group is killed */
    size_t out_limit;  /* per stream; 0: LIMIT_CMD_OUTPUT. The rest is dropped and counted */
    size_t file_limit; /* of each file it writes; 0: the host's. A write beyond it gets EFBIG, no signal */
    int umask;         /* -1: stay */
    bool merge_stderr; /* 2>&1, in order */
    bool background;   /* do not wait: pid is set, nothing is read; it is not a child of the caller */
} proc_spec_t;

typedef struct proc_result {
    pid_t pid;
    int status; /* exit code; 128+N never: a signal gives -N as Python's subprocess does */
    bool timed_out;
    buf_t out, errs; /* owned: proc_result_free */
    size_t dropped;  /* bytes over the limit */
} proc_result_t;

#define PROC_SPEC_INIT ROW(.umask = -1)

/* Run a program and wait for it. 0 with *res (free it with proc_result_free); a negative errno with *err when
 * it could not be started. Exit code and time limit are data in *res. */
int proc_run(const proc_spec_t *spec, proc_result_t *res, fail_t *err);
/* Kill all programs that proc_run waits for, with their groups, and start no more: for a process that ends
 * while its threads are still working. */
void proc_end_all(void);
/* In a child that `parent` forked: end by SIGKILL when the thread that forked it ends, and at once if it has
 * ended already. A change of the user undoes this. Async-signal-safe. */
void proc_end_with(pid_t parent);
/* Fork. The child calls `run`, which must not return, with all signals blocked. */
pid_t proc_fork(void (*run)(const void *cookie), const void *cookie);
/* In such a child: no handlers, and no signals blocked but those of `held` (NULL: none).
 * Async-signal-safe. */
void proc_fresh_signals(const sigset_t *held);
void proc_result_free(proc_result_t *res);
/* Run argv (NULL-terminated list of const char *) and append stdout to `out`. The exit code, or a negative
 * errno: -ETIMEDOUT at the time limit, -ECANCELED when a signal ended it. */
int proc_output(buf_t *out, int timeout_ms, const char *arg0, ...) __attribute__((sentinel));

#endif
