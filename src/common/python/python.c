/* python.c - starts the interpreter and exchanges lines of JSON with it; see python.h.
 *
 * The child has the socket as descriptor 3 and gets its program, host.py, as the first line. Its
 * standard output is redirected to standard error, so that a file's print() cannot disturb the protocol. A
 * deadline is enforced first by SIGXCPU, which the host turns into an exception, then by SIGKILL. */
#include "common/python/python.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/host/proc.h"
#include "salt/limits.h"
#include "salt/value.h"

enum {
    HOST_FD = 3,
    GRACE_MS = 2000, /* from SIGXCPU to SIGKILL */
    READ_SIZE = 64 * 1024
};

/* The bootstrap: the first line is the program. */
static const char boot[] = "import json; lines = open(3, 'rb'); exec(compile(json.loads(lines.readline()), "
                           "'host.py', 'exec'))";
static const char host[] =
#include "gen/python_host.inc"
    ;

extern char **environ;

struct python {
    pid_t pid, owner;
    int fd;
    buf_t in;
    bool told, failed; /* `told`: SIGXCPU was sent */
};

/* ---- starting ------------------------------------------------------------------------------------------ */

/* Arguments of the child. */
typedef struct plan {
    const char *path, *package;
    int fd, report; /* a pipe that exec closes; above HOST_FD */
    pid_t parent;
} plan_t;

/* Runs in the child, and does not return. The interpreter ends with the thread that started it, so that a
 * killed job leaves nothing behind. Only async-signal-safe calls. */
static NORETURN void
python_child_run(const void *cookie)
{
    const plan_t *plan = cookie;
    /* By its own name: Python looks for its libraries beside the first of that name in PATH otherwise. */
    char *argv[] = { (char *) plan->path, (char *) "-Iu",         (char *) "-c",
                     (char *) boot,       (char *) plan->package, NULL };
    sigset_t held;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    sigemptyset(&held);
    sigaddset(&held, SIGXCPU); /* blocked until the host installs its handler: the default would end it */
    proc_fresh_signals(&held);
    /* A file's output must not mix with the answers. */
    if (dup2(null, STDIN_FILENO) >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 &&
        (plan->fd == HOST_FD ? fcntl(HOST_FD, F_SETFD, 0) : dup2(plan->fd, HOST_FD)) >= 0) {
        proc_end_with(plan->parent);
        execve(plan->path, argv, environ);
    }
    int code = errno;
    (void) !write(plan->report, &code, sizeof(code));
    _exit(127);
}

/* The folder of the package `salt` that files import where no Salt is installed: beside this program, as `make` or `make
 * install` puts it. NEW; "" where it is not. */
static char *
package_folder(void)
{
    static const char *const places[] = { "../lib/halite/python", "../python" };
    char exe[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe));
    const char *slash = len > 0 && (size_t) len < sizeof(exe) ? memrchr(exe, '/', (size_t) len) : NULL;

    for (size_t i = 0; slash != NULL && i < NELEMS(places); i++) {
        AUTO_FREE char *folder = xasprintf("%.*s/%s", (int) (slash - exe), exe, places[i]);
        AUTO_FREE char *inside = fs_join(folder, "salt/__init__.py");
        if (fs_look(inside, NULL) > 0)
            return STEAL(folder);
    }
    return xstrdup("");
}

/* Forks and waits for exec: `report` is closed by it, or carries its errno. 0 or a negative errno. */
static int
spawn(const char *path, int fd, pid_t *ret_pid)
{
    AUTO_FREE char *package = package_folder();
    int ends[2], code = 0;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    AUTO_FD told = ends[0];
    const plan_t plan = { path, package, fd, fcntl(ends[1], F_DUPFD_CLOEXEC, HOST_FD + 1), getpid() };
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
python_start(python_t *self, const char *program, fail_t *err)
{
    AUTO_FREE char *path = *program != '\0' ? xstrdup(program) : fs_which("python3");
    int fds[2];

    if (path == NULL)
        return fail_set(
            err, -ENOENT,
            "files in Python need the program python3, which is not on this host: install the package python3");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return fail_set(err, -errno, "cannot make a socket for python3: %s", strerror(errno));
    int rc = spawn(path, fds[1], &self->pid);
    close(fds[1]);
    self->fd = fds[0];
    if (rc != 0)
        return fail_set(err, rc, "cannot run %s: %s", path, strerror(-rc));
    json_auto_t *text = json_string(host);
    return python_send(self, text, err);
}

python_t *
python_new(const char *program, fail_t *err)
{
    python_t *self = xcalloc(1, sizeof(*self));

    self->owner = getpid();
    self->fd = -1;
    if (python_start(self, program, err) < 0)
        python_destroy(&self);
    return self;
}

/* In a forked child only the descriptor is closed: the process belongs to the parent. */
void
python_destroy(python_t **self_p)
{
    python_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    if (self->fd >= 0)
        close(self->fd);
    if (self->pid > 0 && self->owner == getpid()) {
        kill(self->pid, SIGKILL);
        while (waitpid(self->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    buf_free(&self->in);
    free(self);
}

bool
python_usable(const python_t *self)
{
    return self->owner == getpid() && !self->failed;
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
        ssize_t n = fs_write_nosig(self->fd, text + sent, len - sent);
        if (n < 0)
            return python_ended(self, err);
        sent += (size_t) n;
    }
    return 0;
}

/* Timeout of poll() in milliseconds, -1 for none. */
static int
python_patience(const python_t *self, int64_t deadline_ms)
{
    if (deadline_ms == 0)
        return -1;
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
    int n = poll(&pfd, 1, python_patience(self, deadline_ms));

    if (n < 0 && errno != EINTR)
        return python_ended(self, err);
    if (n == 0) {
        /* First call: sends SIGXCPU and goes on waiting. Second: kills, -ETIMEDOUT. */
        if (!self->told) {
            self->told = true;
            kill(self->pid, SIGXCPU);
            return 0;
        }
        self->failed = true;
        kill(self->pid, SIGKILL);
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
