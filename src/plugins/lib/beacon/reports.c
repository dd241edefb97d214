/* reports.c - see reports.h. */
#include "plugins/lib/beacon/reports.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/host/proc.h"
#include "salt/limits.h"

struct reports {
    const char *who;
    int fd;
    pid_t pid;
    bool skips; /* inside of a line that is too long */
    buf_t in;
};

typedef struct reporter {
    reports_fn *run;
    const void *cookie;
    int out;
    pid_t parent;
} reporter_t;

static void
reports_child(const void *cookie)
{
    const reporter_t *how = cookie;
    proc_fresh_signals(NULL);
    proc_end_with(how->parent);
    how->run(how->out, how->cookie);
}

reports_t *
reports_new(const char *who, reports_fn *run, const void *cookie, fail_t *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0)
        return (void) fail_set(err, -errno, "pipe: %s", strerror(errno)), NULL;
    const reporter_t how = { run, cookie, ends[1], getpid() };
    pid_t pid = proc_fork(reports_child, &how);
    int code = errno;
    (void) close(ends[1]);
    if (pid < 0) {
        (void) close(ends[0]);
        return (void) fail_set(err, -code, "fork: %s", strerror(code)), NULL;
    }
    reports_t *self = xcalloc(1, sizeof(*self));
    self->who = who;
    self->fd = ends[0];
    self->pid = pid;
    return self;
}

void
reports_destroy(reports_t **self_p, bool copied)
{
    reports_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    if (!copied)
        (void) kill(self->pid, SIGTERM);
    (void) close(self->fd);
    buf_free(&self->in);
    free(self);
}

int
reports_fd(const reports_t *self)
{
    return self->fd;
}

int
reports_read(reports_t *self, reports_take_fn *take, void *cookie, fail_t *err)
{
    buf_reserve(&self->in, LIMIT_BEACON_READ);
    ssize_t n = read(self->fd, self->in.data + self->in.len, LIMIT_BEACON_READ);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n < 0)
        return fail_set(err, -errno, "%s: %s", self->who, strerror(errno));
    if (n == 0)
        return fail_set(err, -EPIPE, "%s has ended", self->who);
    self->in.len += (size_t) n;
    size_t at = 0;
    for (const char *line, *end; at < self->in.len; at += (size_t) (end - line) + 1) {
        line = self->in.data + at;
        if ((end = memchr(line, '\n', self->in.len - at)) == NULL)
            break;
        if (!self->skips)
            take(cookie, (const char *) line, (size_t) (end - line));
        self->skips = false;
    }
    buf_consume(&self->in, at);
    if (self->in.len > LIMIT_BEACON_READ) {
        self->skips = true;
        buf_clear(&self->in);
    }
    if (self->in.len == 0)
        buf_free(&self->in);
    return 0;
}
