/* authline.c - see authline.h. The program stands beside the master's, or where `make install` puts it. */
#include "master/operators/authline.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/proc.h"
#include "salt/log.h"
#include "salt/value.h"

#define END_MS      1000 /* for a program to end what it has begun */
#define END_STEP_MS 10
#define AUTH_FD     3 /* the program's end of the line, in the program */
enum { ENDING = 4 };

/* A program that was asked to end. */
typedef struct ending {
    pid_t pid;       /* 0: free */
    int64_t kill_ms; /* monotonic */
} ending_t;

struct authline {
    zloop_t *loop;
    authline_fn *fn;
    void *cookie;
    zmq_pollitem_t item; /* fd -1: the program does not run */
    pid_t pid;
    ending_t ending[ENDING];
};

typedef struct auth_plan {
    const char *path;
    int fd;
    pid_t parent;
} auth_plan_t;

/* The program is started by the first question: a master without external logins never runs it. */
authline_t *
authline_new(zloop_t *loop, authline_fn *fn, void *cookie)
{
    authline_t *self = xcalloc(1, sizeof(*self));

    self->loop = loop;
    self->fn = fn;
    self->cookie = cookie;
    self->item = (zmq_pollitem_t){ NULL, -1, ZMQ_POLLIN, 0 };
    return self;
}

/* NULL: so many programs have been given up that none may be begun. */
static ending_t *
authline_room(authline_t *self)
{
    for (size_t i = 0; i < NELEMS(self->ending); i++)
        if (self->ending[i].pid == 0)
            return &self->ending[i];
    return NULL;
}

/* Asked to end, the program ends what it has begun as well. Nobody waits for that: it may hang. */
static void
authline_close(authline_t *self)
{
    if (self->item.fd < 0)
        return;
    zloop_poller_end(self->loop, &self->item);
    (void) close(self->item.fd);
    self->item.fd = -1;
    (void) kill(self->pid, SIGTERM);
    *authline_room(self) = (ending_t){ self->pid, clock_mono_ms() + END_MS };
}

/* Reaps programs that were given up, and kills those that do not end in time, as a system's library may hang.
 */
void
authline_tick(authline_t *self, int64_t now_ms)
{
    for (size_t i = 0; i < NELEMS(self->ending); i++) {
        ending_t *one = &self->ending[i];
        if (one->pid != 0 && waitpid(one->pid, NULL, WNOHANG) != 0)
            one->pid = 0;
        else if (one->pid != 0 && now_ms >= one->kill_ms)
            (void) kill(one->pid, SIGKILL);
    }
}

/* The master ends: for so long as a program may take to end. */
void
authline_destroy(authline_t **self_p)
{
    authline_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    authline_close(self);
    for (size_t i = 0; i < NELEMS(self->ending); i++)
        while (self->ending[i].pid != 0) {
            authline_tick(self, clock_mono_ms());
            (void) poll(NULL, 0, self->ending[i].pid != 0 ? END_STEP_MS : 0);
        }
    free(self);
}

/* One packet is one answer. An end, or what is no answer, fails all logins under way: `fn` is told so by
 * NULL. */
static int
authline_readable(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    authline_t *self = arg;
    AUTO_FREE char *text = xcalloc(1, LIMIT_AUTH_MSG);
    fail_auto_t err = FAIL_INIT;
    ssize_t n = recv(self->item.fd, text, LIMIT_AUTH_MSG, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    json_auto_t *answer = n > 0 ? value_parse(text, (size_t) n, LIMIT_AUTH_MSG, "salt-auth", &err) : NULL;
    if (answer == NULL) {
        log_error("salt-auth has ended%s%s: logins under way have failed; the next one starts it again",
                  n > 0 ? ", as it said what is no answer: " : "", n > 0 ? fail_text(&err) : "");
        authline_close(self);
    }
    self->fn(self->cookie, answer);
    return 0;
}

/* ---- starting it ---------------------------------------------------------------------------------- */

/* In the forked child, where only async-signal-safe calls are allowed: no output, AUTH_FD, and an end with
 * the master's. */
static void
authline_child(const void *cookie)
{
    const auth_plan_t *plan = cookie;
    char *argv[] = { (char *) plan->path, NULL };
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
        dup2(plan->fd, AUTH_FD) >= 0 && fcntl(AUTH_FD, F_SETFD, 0) == 0) {
        proc_fresh_signals(NULL);
        proc_end_with(plan->parent);
        execv(plan->path, argv);
    }
    _exit(127);
}

/* NEW; NULL where it is not. */
static char *
authline_program(void)
{
    static const char *const places[] = { "../lib/halite/salt-auth", "salt-auth" };
    char exe[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe));
    const char *slash = len > 0 && (size_t) len < sizeof(exe) ? memrchr(exe, '/', (size_t) len) : NULL;

    for (size_t i = 0; slash != NULL && i < NELEMS(places); i++) {
        AUTO_FREE char *path = xasprintf("%.*s/%s", (int) (slash - exe), exe, places[i]);
        if (fs_look_file(path, NULL) > 0)
            return STEAL(path);
    }
    return NULL;
}

/* SOCK_SEQPACKET keeps questions apart, so that neither side needs frames. */
static int
authline_start(authline_t *self, fail_t *err)
{
    AUTO_FREE char *path = authline_program();
    int ends[2];

    if (authline_room(self) == NULL)
        return fail_set(err, -EAGAIN, "too many salt-auth that were given up have not ended yet");
    if (path == NULL)
        return fail_set(err, -ENOENT, "there is no salt-auth beside salt-master: install it anew");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return fail_set(err, -errno, "socketpair: %s", strerror(errno));
    const auth_plan_t plan = { path, ends[1], getpid() };
    self->pid = proc_fork(authline_child, &plan);
    int code = errno;
    (void) close(ends[1]);
    self->item.fd = ends[0];
    if (self->pid > 0 && zloop_poller(self->loop, &self->item, authline_readable, self) == 0)
        return 0;
    if (self->pid > 0)
        authline_close(self);
    else
        (void) close(ends[0]);
    self->item.fd = -1;
    return fail_set(err, -code, "salt-auth can't be started: %s", strerror(code));
}

/* The text is wiped: it has the password. MSG_DONTWAIT: a program that does not read must not hold up the
 * front loop. */
int
authline_ask(authline_t *self, const json_t *question, fail_t *err)
{
    int rc = self->item.fd < 0 ? authline_start(self, err) : 0;

    if (rc < 0)
        return rc;
    char *text = value_dump(question);
    size_t len = strlen(text);
    ssize_t n = len < LIMIT_AUTH_MSG ? send(self->item.fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL) : -1;
    int code = len < LIMIT_AUTH_MSG ? errno : EMSGSIZE;
    explicit_bzero(text, len);
    free(text);
    if (n >= 0)
        return 0;
    return fail_set(err, -code, "salt-auth takes no question: %s", strerror(code));
}
