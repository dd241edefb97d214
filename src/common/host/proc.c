/* proc.c - run one program: fork, exec, feed and collect its streams, time limit.
 *
 * Everything that may lock or allocate happens before the fork; the child makes async-signal-safe calls only.
 * A close-on-exec pipe reports a failure before exec: end of file means that exec succeeded. Programs that
 * are waited for are in a list, so that proc_end_all() can kill them. */
#include "common/host/proc.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/host/passwd.h"
#include "common/base/str.h"
#include "salt/limits.h"

enum {
    REPORT_FD = 3, /* in the child: the pipe that tells the parent what went wrong before exec */
    MAX_GROUPS = 1024,
    READ_CHUNK = 64 * 1024,
    DRAIN_MS = 100,  /* for what a killed group has left in the pipes */
    WAIT_NAP_MS = 20 /* only on kernels without pidfd_open */
};

/* The child's steps before exec, for the error text. */
typedef enum step {
    STEP_APART, /* no failure */
    STEP_FORK,
    STEP_STREAMS,
    STEP_GROUPS,
    STEP_GROUP,
    STEP_USER,
    STEP_FOLDER,
    STEP_EXEC
} step_t;

typedef struct report {
    step_t step;
    int code; /* errno; for STEP_APART the program's pid */
} report_t;

/* All that the child needs, prepared by the parent. */
typedef struct plan {
    const proc_spec_t *spec;
    char *program; /* path for execve */
    bool switch_user;
    uid_t uid;
    gid_t gid;
    gid_t groups[MAX_GROUPS];
    int n_groups;
    int in, out, errs, report; /* the child's ends */
    pid_t parent;
    struct plan *next; /* of `waited` */
    pid_t pid;         /* while it is one of them */
} plan_t;

/* The parent's ends; -1 when closed or unused. */
typedef struct streams {
    int in, out, errs;
    size_t sent;
} streams_t;

/* Programs that this process waits for. */
static pthread_mutex_t waited_lock = PTHREAD_MUTEX_INITIALIZER;
static plan_t *waited;   /* guarded by it */
static bool waited_over; /* guarded by it: nothing is started any more */

static void
proc_close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- before the fork ------------------------------------------------------------------------- */

/* User, primary group and supplementary groups, as initgroups(3) would set them. */
static int
proc_find_user(const char *name, plan_t *plan, fail_t *err)
{
    passwd_space_auto_t space = { 0 };
    const struct passwd *pw = passwd_user(&space, name);

    if (pw == NULL)
        return fail_set(err, errno != 0 ? -errno : -ENOENT, "cannot run as '%s': %s", name,
                        errno != 0 ? strerror(errno) : "no such user on this host");
    plan->uid = pw->pw_uid;
    plan->gid = pw->pw_gid;
    plan->n_groups = MAX_GROUPS;
    if (getgrouplist(name, pw->pw_gid, plan->groups, &plan->n_groups) < 0)
        return fail_set(err, -E2BIG, "cannot run as '%s': member of more than %d groups", name, MAX_GROUPS);
    return 0;
}

/* Whom the program runs as. A group alone keeps the user and its supplementary groups. */
static int
plan_user(plan_t *plan, fail_t *err)
{
    const proc_spec_t *spec = plan->spec;
    int rc = 0;

    plan->uid = geteuid();
    plan->gid = getegid();
    plan->switch_user = spec->run_as != NULL || spec->group != NULL;
    if (spec->run_as != NULL)
        rc = proc_find_user(spec->run_as, plan, err);
    if (rc == 0 && spec->group != NULL) {
        passwd_space_auto_t space = { 0 };
        const struct group *gr = passwd_group(&space, spec->group);
        if (gr == NULL)
            return fail_set(err, errno != 0 ? -errno : -ENOENT, "cannot run with the group '%s': %s",
                            spec->group, errno != 0 ? strerror(errno) : "no such group on this host");
        plan->gid = gr->gr_gid;
    }
    if (rc == 0 && spec->run_as == NULL && plan->switch_user)
        plan->n_groups = getgroups(MAX_GROUPS, plan->groups);
    /* A process without the privilege to switch can still run as itself. */
    if (geteuid() != 0 && plan->uid == geteuid() && plan->gid == getegid())
        plan->switch_user = false;
    return rc;
}

static int
plan_program(plan_t *plan, fail_t *err)
{
    const char *name = plan->spec->argv[0];
    const char *search_path = NULL;

    /* The PATH that the program gets is searched, as by a shell. */
    for (char *const *env = plan->spec->env; env != NULL && *env != NULL && search_path == NULL; env++)
        search_path = str_starts(*env, "PATH=") ? *env + strlen("PATH=") : NULL;

    /* A name with a slash is left to exec: it is relative to the child's folder. */
    if (strchr(name, '/') != NULL)
        plan->program = xstrdup(name);
    else
        plan->program = search_path != NULL ? fs_which_on(search_path, name) : fs_which(name);
    if (plan->program == NULL)
        return fail_set(err, -ENOENT, "cannot run '%s': not found on PATH; is it installed?", name);
    return 0;
}

/* Move a descriptor above 2. The child's end must not be 0, 1 or 2: dup2 onto itself would leave it
 * close-on-exec. */
static int
lift(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int lifted = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int code = errno;
    close(fd);
    errno = code;
    return lifted;
}

static int
make_pipe(int *ret_read, int *ret_write)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC) != 0)
        return -errno;
    *ret_read = lift(fds[0]);
    *ret_write = lift(fds[1]);
    return *ret_read < 0 || *ret_write < 0 ? -errno : 0;
}

static int
open_null(int flags, int *ret_fd)
{
    *ret_fd = lift(open("/dev/null", flags | O_CLOEXEC));
    return *ret_fd < 0 ? -errno : 0;
}

static void
close_streams(streams_t *ends)
{
    proc_close_fd(&ends->in);
    proc_close_fd(&ends->out);
    proc_close_fd(&ends->errs);
}

/* ---- the child: async-signal-safe calls only ------------------------------------------------- */

/* Signals as a new program expects them: default actions, and none blocked but those of `held`. */
void
proc_fresh_signals(const sigset_t *held)
{
    struct sigaction dfl;
    sigset_t none;

    memset(&dfl, 0, sizeof(dfl));
    dfl.sa_handler = SIG_DFL;
    for (int sig = 1; sig < NSIG; sig++)
        sigaction(sig, &dfl, NULL); /* SIGKILL and the C library's own refuse */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, held != NULL ? held : &none, NULL);
}

/* Report errno and end. 126 if even the report failed. */
static NORETURN void
child_fail(int report_fd, step_t step)
{
    report_t report = { .step = step, .code = errno };

    if (write(report_fd, &report, sizeof(report)) < 0)
        _exit(126);
    _exit(127);
}

/* Raise the soft limit of address space to the hard one: a job's own limit is not meant for programs that it
 * runs. */
static void
lift_limits(void)
{
    struct rlimit lim;

    if (getrlimit(RLIMIT_AS, &lim) != 0 || lim.rlim_cur == lim.rlim_max)
        return;
    lim.rlim_cur = lim.rlim_max;
    setrlimit(RLIMIT_AS, &lim);
}

void
proc_end_with(pid_t parent)
{
    (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* The parent may have ended before prctl(). */
    if (getppid() != parent)
        _exit(127);
}

static NORETURN void
proc_child_run(const void *cookie)
{
    const plan_t *plan = cookie;
    const proc_spec_t *spec = plan->spec;

    if (spec->background) {
        /* Start a background program as a grandchild: the child ends at once, so that init adopts and
         * reaps the program. */
        pid_t pid = fork();
        if (pid > 0)
            _exit(0);
        report_t report = { .step = STEP_APART, .code = getpid() };
        if (pid < 0 || write(plan->report, &report, sizeof(report)) < 0)
            child_fail(plan->report, STEP_FORK);
    }
    setsid();
    proc_fresh_signals(NULL);
    lift_limits();
    if (spec->file_limit != 0) {
        /* Limit the size of files. SIGXFSZ stays ignored across exec, so that a write fails with EFBIG
         * instead of killing. */
        size_t limit = spec->file_limit;
        struct rlimit lim;
        fs_limit_is_failure();
        if (getrlimit(RLIMIT_FSIZE, &lim) == 0 && lim.rlim_cur > limit) {
            lim.rlim_cur = limit;
            setrlimit(RLIMIT_FSIZE, &lim);
        }
    }

    /* Puts the pipes and files in place of the three streams. */
    int errs = plan->errs >= 0 ? plan->errs : plan->out;
    if (dup2(plan->in, STDIN_FILENO) < 0 || dup2(plan->out, STDOUT_FILENO) < 0 ||
        dup2(errs, STDERR_FILENO) < 0)
        child_fail(plan->report, STEP_STREAMS);
    if (plan->report != REPORT_FD && dup3(plan->report, REPORT_FD, O_CLOEXEC) < 0)
        child_fail(plan->report, STEP_STREAMS);

    /* Close all descriptors but the streams and the report, also those that other threads opened without
     * close-on-exec. */
    struct rlimit lim;
    if (syscall(SYS_close_range, REPORT_FD + 1, ~0U, 0) != 0) {
        /* Before Linux 5.9. */
        rlim_t end = getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < 65536 ? lim.rlim_cur : 65536;
        for (int fd = REPORT_FD + 1; fd < (int) end; fd++)
            close(fd);
    }

    if (spec->umask >= 0)
        umask((mode_t) spec->umask);
    /* Change the folder as the caller, before the user changes: Python's subprocess does it in this order. */
    if (spec->cwd != NULL && chdir(spec->cwd) != 0)
        child_fail(REPORT_FD, STEP_FOLDER);
    if (plan->switch_user) {
        /* Groups before the user: afterwards the privilege is gone. All three ids, so that it can't be
         * regained. */
        if (setgroups((size_t) plan->n_groups, plan->groups) != 0)
            child_fail(REPORT_FD, STEP_GROUPS);
        if (setresgid(plan->gid, plan->gid, plan->gid) != 0)
            child_fail(REPORT_FD, STEP_GROUP);
        if (setresuid(plan->uid, plan->uid, plan->uid) != 0)
            child_fail(REPORT_FD, STEP_USER);
    }
    /* If the waiting parent is killed, it reports the program as ended: so the program must end too. */
    if (!spec->background)
        proc_end_with(plan->parent);
    execve(plan->program, spec->argv, spec->env != NULL ? spec->env : environ);
    child_fail(REPORT_FD, STEP_EXEC);
}

/* All signals are blocked around the fork, so that no handler of the parent runs in the child before the
 * reset. */
pid_t
proc_fork(void (*run)(const void *cookie), const void *cookie)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pid_t pid = fork();
    if (pid == 0)
        run(cookie);
    int code = errno;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = code;
    return pid;
}

/* ---- the parent ------------------------------------------------------------------------------ */

/* The error of a child that failed before exec; the report's step says where. */
static int
tell_report(const plan_t *plan, const report_t *report, fail_t *err)
{
    const proc_spec_t *spec = plan->spec;
    const char *why = strerror(report->code), *name = spec->argv[0];
    const char *user = spec->run_as != NULL ? spec->run_as : "this user";

    switch (report->step) {
    case STEP_FORK:
        return fail_set(err, -report->code, "cannot run '%s': %s", name, why);
    case STEP_STREAMS:
        return fail_set(err, -report->code, "cannot run '%s': its standard streams: %s", name, why);
    case STEP_GROUPS:
        return fail_set(err, -report->code, "cannot run '%s': setting the groups of '%s': %s", name, user,
                        why);
    case STEP_GROUP:
        return fail_set(err, -report->code, "cannot run '%s': switching to group '%s': %s", name,
                        spec->group != NULL ? spec->group : user, why);
    case STEP_USER:
        return fail_set(err, -report->code, "cannot run '%s': switching to user '%s': %s", name, user, why);
    case STEP_FOLDER:
        return fail_set(err, -report->code, "cannot run '%s': changing to the folder '%s': %s", name,
                        spec->cwd, why);
    case STEP_APART:
    case STEP_EXEC:
        break;
    }
    return fail_set(err, -report->code, "cannot run '%s': %s: %s", name, plan->program, why);
}

/* ---- what is waited for ---------------------------------------------------------------------- */

/* Unregister before reaping: until then the pid can't be reused by another process. */
static void
proc_leave(const plan_t *plan)
{
    pthread_mutex_lock(&waited_lock);
    for (plan_t **at = &waited; *at != NULL; at = &(*at)->next) {
        if (*at == plan) {
            *at = plan->next;
            break;
        }
    }
    pthread_mutex_unlock(&waited_lock);
}

void
proc_end_all(void)
{
    pthread_mutex_lock(&waited_lock);
    waited_over = true;
    for (const plan_t *plan = waited; plan != NULL; plan = plan->next) {
        /* The child may not have called setsid() yet: then kill it alone. */
        if (kill(-plan->pid, SIGKILL) != 0)
            kill(plan->pid, SIGKILL);
    }
    pthread_mutex_unlock(&waited_lock);
}

/* ---- the parent's work ----------------------------------------------------------------------- */

static bool
next_report(int fd, report_t *report)
{
    ssize_t n;

    do {
        n = read(fd, report, sizeof(*report));
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t) sizeof(*report);
}

/* Block until the child has called exec, which closes the pipe, or has reported a failure. *pid becomes that
 * of a background program, which is the child's child. */
static int
read_report(const plan_t *plan, int fd, pid_t *pid, fail_t *err)
{
    report_t report;
    bool any = next_report(fd, &report);

    if (any && report.step == STEP_APART) {
        *pid = report.code;
        any = next_report(fd, &report);
    }
    return any ? tell_report(plan, &report, err) : 0;
}

/* Writes as much input as the pipe takes, and closes it behind the last byte. */
static void
feed(const proc_spec_t *spec, streams_t *ends)
{
    ssize_t n = fs_write_nosig(ends->in, spec->in + ends->sent, spec->in_len - ends->sent);

    if (n > 0)
        ends->sent += (size_t) n;
    /* A program that does not read all its input is not a failure: the pipe is closed. */
    if ((n < 0 && n != -EAGAIN) || ends->sent == spec->in_len)
        proc_close_fd(&ends->in);
}

/* Reads a piece of output. Beyond the limit it is counted and dropped, so that the program does not block. */
static void
proc_collect(int *fd, buf_t *out, size_t limit, size_t *dropped)
{
    char chunk[READ_CHUNK];
    ssize_t n = read(*fd, chunk, sizeof(chunk));

    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        proc_close_fd(fd);
        return;
    }
    size_t room = limit - out->len, keep = (size_t) n < room ? (size_t) n : room;
    buf_add(out, chunk, keep);
    *dropped += (size_t) n - keep;
}

/* Milliseconds until `deadline` as poll()'s timeout: -1 when there is no deadline (0). */
static int
proc_left_ms(int64_t deadline)
{
    if (deadline == 0)
        return -1;
    int64_t left = deadline - clock_mono_ms();
    return left <= 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int) left;
}

/* Move bytes until both outputs are closed; false when the deadline has passed. */
static bool
proc_pump(const proc_spec_t *spec, streams_t *ends, proc_result_t *res, int64_t deadline)
{
    size_t limit = spec->out_limit != 0 ? spec->out_limit : LIMIT_CMD_OUTPUT;

    while (ends->out >= 0 || ends->errs >= 0) {
        struct pollfd fds[3] = {
            { .fd = ends->out, .events = POLLIN },
            { .fd = ends->errs, .events = POLLIN },
            { .fd = ends->in, .events = POLLOUT },
        };
        int wait = proc_left_ms(deadline);
        int n = poll(fds, NELEMS(fds), wait);
        if (n == 0 && wait == 0)
            return false;
        if (n <= 0)
            continue;
        if (fds[0].revents != 0)
            proc_collect(&ends->out, &res->out, limit, &res->dropped);
        if (fds[1].revents != 0)
            proc_collect(&ends->errs, &res->errs, limit, &res->dropped);
        if (fds[2].revents != 0)
            feed(spec, ends);
        if (deadline != 0 && proc_left_ms(deadline) == 0)
            return false;
    }
    return true;
}

/* Wait until the child has ended, without reaping it; false when the deadline has passed. A child that closed
 * its outputs may still read, so it is fed meanwhile. Other holders of the pipe's reading end are not waited
 * for. */
static bool
proc_wait_end(const proc_spec_t *spec, streams_t *ends, pid_t pid, int64_t deadline)
{
    AUTO_FD pidfd = (int) syscall(SYS_pidfd_open, pid, 0);
    siginfo_t info;

    for (;;) {
        struct pollfd fds[2] = { { .fd = pidfd, .events = POLLIN }, { .fd = ends->in, .events = POLLOUT } };
        int wait = proc_left_ms(deadline);
        memset(&info, 0, sizeof(info));
        int rc = waitid(P_PID, (id_t) pid, &info, WEXITED | WNOHANG | WNOWAIT);
        if ((rc == 0 && info.si_pid == pid) || (rc != 0 && errno != EINTR))
            return true;
        if (wait == 0)
            return false;
        int n = poll(fds, NELEMS(fds), pidfd < 0 && (wait < 0 || wait > WAIT_NAP_MS) ? WAIT_NAP_MS : wait);
        if (n > 0 && fds[1].revents != 0)
            feed(spec, ends);
    }
}

static pid_t
proc_wait_for(pid_t pid, int *status)
{
    pid_t got;

    do {
        got = waitpid(pid, status, 0);
    } while (got < 0 && errno == EINTR);
    return got;
}

/* Feed and collect until the end or the deadline, then reap. The process group is killed on a timeout. */
static int
supervise(const plan_t *plan, streams_t *ends, proc_result_t *res, fail_t *err)
{
    const proc_spec_t *spec = plan->spec;
    int64_t deadline = spec->timeout_ms > 0 ? clock_mono_ms() + spec->timeout_ms : 0;

    if (ends->in >= 0 && spec->in_len == 0)
        proc_close_fd(&ends->in);
    if (!proc_pump(spec, ends, res, deadline) || !proc_wait_end(spec, ends, res->pid, deadline)) {
        res->timed_out = true;
        /* Not reaped yet, so the number still names this group. */
        kill(-res->pid, SIGKILL);

        /* Read what the killed group wrote before its end. Bounded by DRAIN_MS, as a process that left the
         * group may keep the pipe open. */
        proc_close_fd(&ends->in);
        proc_pump(spec, ends, res, clock_mono_ms() + DRAIN_MS);
    }
    close_streams(ends);
    proc_leave(plan);

    /* Waits for the program's end. */
    int status;
    if (proc_wait_for(res->pid, &status) < 0)
        return fail_set(err, -errno, "cannot learn how '%s' ended: %s; is SIGCHLD ignored?",
                        plan->spec->argv[0], strerror(errno));
    res->status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    return 0;
}

/* Start the program. A background program's intermediate child is reaped here, and so is a child that
 * failed. */
static int
proc_start(plan_t *plan, streams_t *ends, proc_result_t *res, fail_t *err)
{
    AUTO_FD report = -1;
    pid_t child = -1;

    /* Only the parent's writing end is non-blocking: reads are done after poll() said so, writes may be
     * partial. */
    const proc_spec_t *spec = plan->spec;
    int rc = make_pipe(&report, &plan->report);

    if (rc == 0)
        rc = spec->in != NULL && !spec->background ? make_pipe(&plan->in, &ends->in)
                                                   : open_null(O_RDONLY, &plan->in);
    if (rc == 0)
        rc = spec->background ? open_null(O_WRONLY, &plan->out) : make_pipe(&ends->out, &plan->out);
    if (rc == 0 && (spec->background || !spec->merge_stderr))
        rc = spec->background ? open_null(O_WRONLY, &plan->errs) : make_pipe(&ends->errs, &plan->errs);
    if (rc == 0 && ends->in >= 0 && fcntl(ends->in, F_SETFL, O_NONBLOCK) != 0)
        rc = -errno;

    if (rc == 0) {
        /* Fork and register the program in one step under the lock, so that proc_end_all() misses none. */
        pthread_mutex_lock(&waited_lock);
        pid_t pid = waited_over ? -1 : proc_fork(proc_child_run, plan);
        rc = pid >= 0 ? 0 : waited_over ? -ECANCELED : -errno;
        if (rc == 0 && !plan->spec->background) {
            plan->pid = pid;
            plan->next = waited;
            waited = plan;
        }
        pthread_mutex_unlock(&waited_lock);
        child = pid;
    }

    proc_close_fd(&plan->in);
    proc_close_fd(&plan->out);
    proc_close_fd(&plan->errs);
    proc_close_fd(&plan->report);

    if (rc != 0)
        return fail_set(err, rc, "cannot run '%s': %s", plan->spec->argv[0], strerror(-rc));
    res->pid = child;
    rc = read_report(plan, report, &res->pid, err);
    if (rc != 0)
        proc_leave(plan);
    if (rc != 0 || plan->spec->background)
        (void) proc_wait_for(child, NULL);
    return rc;
}

int
proc_run(const proc_spec_t *spec, proc_result_t *res, fail_t *err)
{
    plan_t plan = { .spec = spec, .in = -1, .out = -1, .errs = -1, .report = -1, .parent = getpid() };
    streams_t ends = { .in = -1, .out = -1, .errs = -1 };

    *res = (proc_result_t){ .pid = -1 };
    int rc = plan_user(&plan, err);
    if (rc == 0)
        rc = plan_program(&plan, err);
    if (rc == 0)
        rc = proc_start(&plan, &ends, res, err);
    if (rc == 0 && !spec->background)
        rc = supervise(&plan, &ends, res, err);
    close_streams(&ends);
    free(plan.program);
    return rc;
}

void
proc_result_free(proc_result_t *res)
{
    buf_free(&res->out);
    buf_free(&res->errs);
}

int
proc_output(buf_t *out, int timeout_ms, const char *arg0, ...)
{
    proc_result_t res;
    size_t n = 1;
    va_list ap;

    va_start(ap, arg0);
    while (va_arg(ap, char *) != NULL)
        n++;
    va_end(ap);
    AUTO_FREE const char **argv = xcalloc(n + 1, sizeof(*argv));
    argv[0] = arg0;
    va_start(ap, arg0);
    for (size_t i = 1; i < n; i++)
        argv[i] = va_arg(ap, const char *);
    va_end(ap);
    /* execve's prototype has no const for history's sake. */
    proc_spec_t spec = { .argv = (char *const *) argv, .timeout_ms = timeout_ms, .umask = -1 };
    int rc = proc_run(&spec, &res, NULL);
    if (rc == 0) {
        buf_add(out, buf_str(&res.out), res.out.len);
        rc = res.timed_out ? -ETIMEDOUT : res.status < 0 ? -ECANCELED : res.status;
    }
    proc_result_free(&res);
    return rc;
}
