/* python.c - starts the interpreter, or has the zygote fork one, and exchanges lines of JSON with it; see
 * python.h.
 *
 * The child has the socket as descriptor 3 and gets its program, host.py, as the first line, which the
 * zygote's children have already. Its standard output is redirected to standard error, so that a file's
 * print() cannot disturb the protocol. A deadline is enforced first by SIGXCPU, which the host turns into an
 * exception, then by SIGKILL. */
#include "common/python/python.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/base64.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/host/proc.h"
#include "common/host/pyinstall.h"
#include "common/python/door.h"
#include "salt/limits.h"
#include "salt/value.h"

enum {
    HOST_FD = 3,
    FREE_FD = DOOR_FD + 1, /* the first descriptor that is not for the interpreter */
    GRACE_MS = 2000,       /* from SIGXCPU to SIGKILL */
    FORK_MS = 5000,        /* for the zygote to fork */
    LEAVE_MS = 1000,       /* for an idle interpreter to end */
    READ_SIZE = 64 * 1024
};

static const char boot[] =
#include "gen/python_boot.inc"
    ;
static const char host[] =
#include "gen/python_host.inc"
    ;

extern char **environ;

struct python {
    pid_t pid, owner;    /* pid -1: the zygote's child, which only pidfd names safely */
    int fd, pidfd, life; /* life: -1, or the pipe with which the zygote's child ends */
    buf_t in;
    bool told, failed;               /* `told`: SIGXCPU was sent */
    char *program, *salt, *cachedir; /* owned: as python_how_t */
};

static void
python_signal(const python_t *self, int sig)
{
    if (self->pidfd >= 0)
        (void) syscall(SYS_pidfd_send_signal, self->pidfd, sig, NULL, 0);
    else if (self->pid > 0)
        (void) kill(self->pid, sig);
}

static python_how_t
python_how(const python_t *self)
{
    return (python_how_t){ self->program, self->salt, self->cachedir };
}

/* ---- starting ------------------------------------------------------------------------------------------ */

/* Arguments of the child. */
typedef struct plan {
    const char *path, *package, *cachedir;
    int fd, door; /* door: -1, or its DOOR_FD */
    int report;   /* a pipe that exec closes; FREE_FD or above */
    pid_t parent;
} plan_t;

/* Runs in the child, and does not return. The interpreter ends with the thread that started it, so that a
 * killed job leaves nothing behind. Only async-signal-safe calls. */
static NORETURN void
python_child_run(const void *cookie)
{
    const plan_t *plan = cookie;
    /* By its own name: Python looks for its libraries beside the first of that name in PATH otherwise. */
    char *argv[] = { (char *) plan->path,    (char *) "-Iu",          (char *) "-c", (char *) boot,
                     (char *) plan->package, (char *) plan->cachedir, NULL };
    sigset_t held;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    sigemptyset(&held);
    sigaddset(&held, SIGXCPU); /* blocked until the host installs its handler: the default would end it */
    proc_fresh_signals(&held);
    /* Out of the way of the numbers that they get. */
    int talk = fcntl(plan->fd, F_DUPFD_CLOEXEC, FREE_FD);
    int door = plan->door >= 0 ? fcntl(plan->door, F_DUPFD_CLOEXEC, FREE_FD) : -1;
    /* A file's output must not mix with the answers. */
    if (dup2(null, STDIN_FILENO) >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 &&
        dup2(talk, HOST_FD) >= 0 && (plan->door < 0 || dup2(door, DOOR_FD) >= 0)) {
        proc_end_with(plan->parent);
        execve(plan->path, argv, environ);
    }
    int code = errno;
    (void) !write(plan->report, &code, sizeof(code));
    _exit(127);
}

/* Forks and waits for exec: `report` is closed by it, or carries its errno. 0 or a negative errno. */
static int
spawn(const python_t *self, const char *path, int fd, int door, pid_t *ret_pid)
{
    AUTO_FREE char *package = pyinstall_own();
    int ends[2], code = 0;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    AUTO_FD told = ends[0];
    const plan_t plan = { path,    package, self->cachedir,
                          fd,      door,    fcntl(ends[1], F_DUPFD_CLOEXEC, FREE_FD),
                          getpid() };
    pid_t pid = plan.report < 0 ? -1 : proc_fork(python_child_run, &plan);
    int rc = pid < 0 ? -errno : 0;
    close(ends[1]);
    if (plan.report >= 0)
        close(plan.report);
    if (rc < 0)
        return rc;
    *ret_pid = pid;
    while (read(told, &code, sizeof(code)) < 0 && errno == EINTR)
        continue;
    return -code;
}

static int
python_start(python_t *self, int door, fail_t *err)
{
    AUTO_FREE char *path = *self->program != '\0' ? xstrdup(self->program) : fs_which("python3");
    int fds[2];

    if (path == NULL)
        return fail_set(
            err, -ENOENT,
            "files in Python need the program python3, which is not on this host: install the package python3");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return fail_set(err, -errno, "cannot make a socket for python3: %s", strerror(errno));
    int rc = spawn(self, path, fds[1], door, &self->pid);
    close(fds[1]);
    self->fd = fds[0];
    if (rc != 0)
        return fail_set(err, rc, "cannot run %s: %s", path, strerror(-rc));
    /* Another part of a daemon may reap it, and its number may then be another process's. */
    self->pidfd = (int) syscall(SYS_pidfd_open, self->pid, 0);
    json_auto_t *text = json_string(host);
    return python_send(self, text, err);
}

/* ---- talking ------------------------------------------------------------------------------------------- */

/* Marks the interpreter as unusable; -EPIPE. */
static int
python_ended(python_t *self, fail_t *err)
{
    self->failed = true;
    return fail_set(err, -EPIPE, "python3 has ended before it answered");
}

int
python_send(python_t *self, const json_t *message, fail_t *err)
{
    AUTO_FREE char *text = value_dump(message);
    size_t len = strlen(text), sent = 0;

    text[len++] = '\n';
    while (sent < len) {
        ssize_t n = send(self->fd, text + sent, len - sent, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return python_ended(self, err);
        sent += n > 0 ? (size_t) n : 0;
    }
    return 0;
}

/* Timeout of poll() in milliseconds. */
static int
python_patience(const python_t *self, int64_t deadline_ms)
{
    int64_t left = deadline_ms + (self->told ? GRACE_MS : 0) - clock_mono_ms();
    return left < 0 ? 0 : left > INT32_MAX ? INT32_MAX : (int) left;
}

static int
read_more(python_t *self, fail_t *err)
{
    buf_reserve(&self->in, READ_SIZE);
    ssize_t n = read(self->fd, self->in.data + self->in.len, READ_SIZE);

    if (n < 0 && errno == EINTR)
        return 0;
    if (n <= 0)
        return python_ended(self, err);
    self->in.len += (size_t) n;
    if (self->in.len <= LIMIT_PYTHON_MESSAGE)
        return 0;
    self->failed = true;
    return fail_set(err, -EMSGSIZE, "python3 said more than %d bytes at once", LIMIT_PYTHON_MESSAGE);
}

static int
wait_more(python_t *self, int64_t deadline_ms, fail_t *err)
{
    struct pollfd pfd = { .fd = self->fd, .events = POLLIN };

    if (deadline_ms == 0)
        return read_more(self, err);
    int n = poll(&pfd, 1, python_patience(self, deadline_ms));
    if (n < 0 && errno != EINTR)
        return python_ended(self, err);
    if (n == 0) {
        /* First call: sends SIGXCPU and goes on waiting. Second: kills, -ETIMEDOUT. */
        if (!self->told) {
            self->told = true;
            python_signal(self, SIGXCPU);
            return 0;
        }
        self->failed = true;
        python_signal(self, SIGKILL);
        return fail_set(err, -ETIMEDOUT, "python3 did not end in time, and was killed");
    }
    return n > 0 ? read_more(self, err) : 0;
}

json_t *
python_receive(python_t *self, int64_t deadline_ms, fail_t *err)
{
    size_t seen = 0;
    const char *nl = NULL;

    self->told = self->failed; /* lines of the log may come between the signal and the end */
    while (self->in.len == seen || (nl = memchr(self->in.data + seen, '\n', self->in.len - seen)) == NULL) {
        seen = self->in.len;
        if (wait_more(self, deadline_ms, err) < 0)
            return NULL;
    }
    size_t len = (size_t) (nl - self->in.data);
    /* A SIGXCPU may still be pending and would hit the next run, so the interpreter is not used again. */
    self->failed = self->told;
    json_t *message = value_parse(self->in.data, len, LIMIT_PYTHON_MESSAGE, "what python3 said", err);
    buf_consume(&self->in, len + 1);
    return message;
}

/* ---- forked by the zygote ------------------------------------------------------------------------------ */

/* NEW ["base64 of NAME=value", ...]: this process's environment, whose texts are any bytes. */
static json_t *
python_environment(void)
{
    json_t *all = json_array();

    for (char **e = environ; *e != NULL; e++) {
        AUTO_FREE char *text = base64_encode(*e, strlen(*e), 0);
        if (**e != '=' && strchr(*e, '=') != NULL)
            json_array_append_new(all, json_string(text));
    }
    return all;
}

/* The interpreter gets the limits of this process, and may then begin. */
static int
python_adopt(python_t *self, pid_t pid, fail_t *err)
{
    struct rlimit lim;

    self->pidfd = (int) syscall(SYS_pidfd_open, pid, 0);
    if (self->pidfd < 0)
        return fail_set(err, -errno, "the interpreter is not there");
    for (int what = 0; what < (int) RLIM_NLIMITS; what++) {
        if (getrlimit((__rlimit_resource_t) what, &lim) == 0 &&
            prlimit(pid, (enum __rlimit_resource) what, &lim, NULL) != 0)
            return fail_set(err, -errno, "its limits can't be set");
    }
    json_auto_t *begin = json_pack("{s:{s:o}}", "adopt", "environ", python_environment());
    return python_send(self, begin, err);
}

/* 0, or negative: there is none, and one is to be started. */
static int
python_fork(python_t *self, fail_t *err)
{
    const python_how_t how = python_how(self);
    AUTO_FD probe = (int) syscall(SYS_pidfd_open, getpid(), 0); /* before Linux 5.3 there is none */
    AUTO_FD folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fds[2], life[2];

    if (probe < 0 || folder < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return fail_set(err, -errno, "no descriptors");
    self->fd = fds[0];
    int rc = pipe2(life, O_CLOEXEC) == 0 ? 0 : -errno;
    if (rc == 0) {
        self->life = life[1];
        rc = door_fork(&how, fds[1], life[0], folder);
        close(life[0]);
    }
    close(fds[1]);
    if (rc < 0)
        return fail_set(err, rc, "no zygote");
    json_auto_t *said = python_receive(self, clock_mono_ms() + FORK_MS, err);
    pid_t pid = (pid_t) value_int(said, "pid", 0);
    return pid > 0 ? python_adopt(self, pid, err) : -EPIPE;
}

/* ---- life ---------------------------------------------------------------------------------------------- */

static python_t *
python_alloc(const python_how_t *how)
{
    python_t *self = xcalloc(1, sizeof(*self));

    self->owner = getpid();
    self->pid = self->fd = self->pidfd = self->life = -1;
    self->program = xstrdup(how->program);
    self->salt = how->salt != NULL ? xstrdup(how->salt) : NULL;
    self->cachedir = xstrdup(how->cachedir);
    return self;
}

python_t *
python_new(const python_how_t *how, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    python_t *self = python_alloc(how);

    if (door_is_served() && python_fork(self, &why) == 0)
        return self;
    self->failed = true;
    python_destroy(&self);
    return python_new_at(how, -1, err);
}

python_t *
python_new_at(const python_how_t *how, int door, fail_t *err)
{
    python_t *self = python_alloc(how);

    if (python_start(self, door, err) < 0) {
        self->failed = true;
        python_destroy(&self);
    }
    return self;
}

/* Has an idle interpreter end by itself: it leaves processes that a file started in the background. The
 * daemon is told what it imported. */
static void
python_leave(python_t *self)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *leave = json_pack("{s:b}", "leave", true);
    const python_how_t how = python_how(self);

    if (self->failed || !door_is_open() || python_send(self, leave, &err) < 0)
        return;
    json_auto_t *said = python_receive(self, clock_mono_ms() + LEAVE_MS, &err);
    door_used(&how, value_get(said, "used"));
}

/* In a forked child only the descriptors are closed: the process belongs to the parent. */
void
python_destroy(python_t **self_p)
{
    python_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    if (self->owner == getpid()) {
        python_leave(self);
        python_signal(self, SIGKILL); /* alone, not its group: a file may have replaced what ends it */
    }
    const int fds[] = { self->fd, self->pidfd, self->life };
    for (size_t i = 0; i < NELEMS(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (self->pid > 0 && self->owner == getpid())
        while (waitpid(self->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    buf_free(&self->in);
    free(self->program);
    free(self->salt);
    free(self->cachedir);
    free(self);
}

bool
python_is_forked(const python_t *self)
{
    return self->life >= 0;
}

int
python_fd(const python_t *self)
{
    return self->fd;
}

bool
python_usable(const python_t *self)
{
    return self->owner == getpid() && !self->failed;
}
