/* daemon.c - see daemon.h. */
#include "common/base/daemon.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/notify.h"
#include "common/base/str.h"
#include "salt/log.h"

#define PID_FILE_LIMIT 64

static int ready_fd = -1; /* the pipe to the waiting parent; a process has one at most */

void
daemon_stdio(void)
{
    /* open() takes the lowest free number, which is the missing one. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            _exit(1);
}

void
daemon_hide(void)
{
#if !SANITIZED /* sanitizers trace their own process, which this would forbid */
    (void) prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

/* The parent stays until the child says that it is ready, and exits with 1 when the child ends without a
 * word: so a script that starts the daemon learns of its failure. */
int
daemon_background(fail_t *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail_set(err, -errno, "pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0)
        return fail_set(err, -errno, "fork: %s", strerror(errno));
    if (pid > 0) {
        char ok = 0;
        (void) close(ends[1]);
        ssize_t n;
        while ((n = read(ends[0], &ok, 1)) < 0 && errno == EINTR)
            ;
        _exit(n == 1 ? 0 : 1);
    }
    (void) close(ends[0]);
    (void) setsid();
    ready_fd = ends[1];
    return 0;
}

void
daemon_ready(void)
{
    notify_ready();
    if (ready_fd < 0)
        return;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        (void) dup2(null, fd);
    if (null > 2)
        (void) close(null);
    log_console(LEVEL_QUIET);
    (void) fs_write_all(ready_fd, "+", 1);
    (void) close(ready_fd);
    ready_fd = -1;
}

/* The length of a program's path without the " (deleted)" that the kernel appends when an upgrade has
 * replaced the file. */
static ssize_t
exe(const char *link, char *out, size_t cap)
{
    static const char gone[] = " (deleted)";
    ssize_t n = readlink(link, out, cap), tail = (ssize_t) strlen(gone);
    return n > tail && memcmp(out + n - tail, gone, (size_t) tail) == 0 ? n - tail : n;
}

/* True when the pid is alive and runs this very program. */
static bool
same_program(long pid)
{
    char ours[4096], theirs[4096];
    AUTO_FREE char *link = xasprintf("/proc/%ld/exe", pid);
    ssize_t a = exe("/proc/self/exe", ours, sizeof(ours)), b = exe(link, theirs, sizeof(theirs));
    if (b < 0 && errno == EACCES) {
        /* Another user's link can't be read; the process's name can, by all. */
        AUTO_FREE char *comm = xasprintf("/proc/%ld/comm", pid);
        buf_auto_t our_name = BUF_INIT, its_name = BUF_INIT;
        return fs_read("/proc/self/comm", PID_FILE_LIMIT, &our_name, NULL) == 0 &&
               fs_read(comm, PID_FILE_LIMIT, &its_name, NULL) == 0 &&
               str_eq(buf_str(&our_name), buf_str(&its_name));
    }
    return a > 0 && a == b && memcmp(ours, theirs, (size_t) a) == 0;
}

int
daemon_pid_file(const char *path, fail_t *err)
{
    buf_auto_t old = BUF_INIT;
    long long pid = 0;
    if (fs_read(path, PID_FILE_LIMIT, &old, NULL) == 0 && old.data != NULL &&
        str_to_int(str_trim(old.data), 1, INT32_MAX, &pid) && pid != getpid() && same_program((long) pid))
        return fail_set(err, -EEXIST,
                        "%s: process %lld already runs with this pid file; stop it first, or give --pid-file",
                        path, pid);
    AUTO_FREE char *text = xasprintf("%ld\n", (long) getpid());
    int rc = fs_own_parent(path, err);
    return rc < 0 ? rc : fs_write_quick(path, text, strlen(text), 0644, err);
}

/* A process that gave up root's rights may not remove the file in a folder of root's: it is emptied then. */
void
daemon_pid_remove(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT)
        (void) !truncate(path, 0);
}

int
daemon_user_ids(const char *user, uid_t *ret_uid, gid_t *ret_gid, fail_t *err)
{
    char space[16384];
    struct passwd pw, *found = NULL;
    int code = getpwnam_r(user, &pw, space, sizeof(space), &found);
    if (code != 0 && code != ENOENT)
        return fail_set(err, -code, "user: '%s' can't be looked up (getpwnam_r): %s", user, strerror(code));
    if (found == NULL)
        return fail_set(err, -ENOENT, "user: there is no user '%s' on this machine", user);
    *ret_uid = pw.pw_uid;
    *ret_gid = pw.pw_gid;
    return 0;
}

/* Groups before the user: afterwards the privilege to set them is gone. */
int
daemon_user(const char *user, fail_t *err)
{
    uid_t uid;
    gid_t gid;
    if (str_empty(user))
        return 0;
    int rc = daemon_user_ids(user, &uid, &gid, err);
    if (rc < 0 || uid == geteuid())
        return rc;
    if (geteuid() != 0)
        return fail_set(
            err, -EPERM,
            "user: only root can run as '%s'; start it as that user, or set user: to your own name", user);
    if (initgroups(user, gid) != 0 || setgid(gid) != 0 || setuid(uid) != 0)
        return fail_set(err, -errno, "user: can't become '%s': %s", user, strerror(errno));
    return 0;
}

/* Signals are blocked and read from the descriptor, so that no handler interrupts anything. A closed pipe is
 * told by write(), not by SIGPIPE. */
int
daemon_signals(bool with_child, fail_t *err)
{
    sigset_t set;
    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGTERM);
    (void) sigaddset(&set, SIGINT);
    (void) sigaddset(&set, SIGHUP);
    (void) sigaddset(&set, SIGUSR1);
    (void) sigaddset(&set, SIGUSR2);
    if (with_child)
        (void) sigaddset(&set, SIGCHLD);
    (void) signal(SIGPIPE, SIG_IGN);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return fail_set(err, -errno, "sigprocmask: %s", strerror(errno));
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd >= 0 ? fd : fail_set(err, -errno, "signalfd: %s", strerror(errno));
}

int
daemon_next_signal(int fd)
{
    struct signalfd_siginfo info;
    return read(fd, &info, sizeof(info)) == (ssize_t) sizeof(info) ? (int) info.ssi_signo : 0;
}

/* Raises the soft limit as far as the hard one allows. Returns the limit that is in force; -1: unknown. */
long
daemon_raise_files(long want)
{
    struct rlimit rl;
    if (getrlimit(RLIMIT_NOFILE, &rl) != 0)
        return -1;
    if (rl.rlim_cur < (rlim_t) want) {
        rl.rlim_cur = rl.rlim_max < (rlim_t) want ? rl.rlim_max : (rlim_t) want;
        (void) setrlimit(RLIMIT_NOFILE, &rl);
        (void) getrlimit(RLIMIT_NOFILE, &rl);
    }
    return (long) rl.rlim_cur;
}

int
daemon_need_files(long least, fail_t *err)
{
    struct rlimit rl;
    if (getrlimit(RLIMIT_NOFILE, &rl) != 0 || rl.rlim_cur >= (rlim_t) least)
        return 0;
    return fail_set(
        err, -EMFILE,
        "the limit of open files is %lu, and at least %ld are needed: raise it (LimitNOFILE of the unit, "
        "ulimit -n)",
        (unsigned long) rl.rlim_cur, least);
}
