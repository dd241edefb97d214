/* netproc.c - see netproc.h. Frames in both directions are buffered here; a process that is replaced takes
 * its buffers with it, and the outbox sends again what was lost.
 */
#include "uplink/netproc.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/host/proc.h"
#include "common/local/client.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define READ_CHUNK (64 * 1024)
#define RETRY_MS   1000
#define PING_MS    20000 /* between two pings */
#define HANG_MS    90000 /* silence after which it counts as hung */

struct netproc {
    netproc_env_t env;
    pid_t pid;
    int fd;                    /* our end of the socketpair; -1: no process */
    bool child;                /* this is the networking process itself */
    int64_t retry_ms;          /* monotonic: when the next one may be started */
    int64_t heard_ms, ping_ms; /* monotonic: its last byte; when the next ping is due */
    buf_t in, out;
};

bool
netproc_is_up(const netproc_t *self)
{
    return self->fd >= 0;
}

static void
netproc_flush(netproc_t *self)
{
    while (self->fd >= 0 && self->out.len > 0) {
        ssize_t n = send(self->fd, self->out.data, self->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0)
            buf_consume(&self->out, (size_t) n);
        else if (errno != EINTR)
            return;
    }
}

void
netproc_send(netproc_t *self, const json_t *frame, const jobret_t *ret)
{
    if (self->fd < 0)
        return;
    if (ret != NULL)
        frame_add_with(&self->out, frame, ret->text, ret->len);
    else
        frame_add(&self->out, frame);
    netproc_flush(self);
}

/* The process ended or is given up: close, drop both buffers, restart after RETRY_MS. */
static void
netproc_gone(netproc_t *self)
{
    (void) close(self->fd);
    self->fd = -1;
    buf_clear(&self->in);
    buf_clear(&self->out);
    self->retry_ms = clock_mono_ms() + RETRY_MS;
    self->env.down(self->env.cookie);
}

/* Forks. Returns twice: in the child after `run`, with self->child set. 0 or a negative errno. */
static int
netproc_start(netproc_t *self, fail_t *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return fail_set(err, -errno, "socketpair: %s", strerror(errno));
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) {
        int code = errno;
        (void) close(ends[0]), (void) close(ends[1]);
        return fail_set(err, -code, "fork: %s", strerror(code));
    }
    if (pid == 0) {
        proc_end_with(parent);
        (void) close(ends[0]);
        self->child = true;
        self->env.run(self->env.cookie, ends[1]);
        return 0;
    }
    (void) close(ends[1]);
    self->pid = pid;
    self->fd = ends[0];
    self->heard_ms = clock_mono_ms();
    self->ping_ms = self->heard_ms + PING_MS;
    self->env.up(self->env.cookie);
    return 0;
}

void
netproc_tick(netproc_t *self, int64_t now)
{
    fail_auto_t err = FAIL_INIT;
    if (self->fd < 0 && now >= self->retry_ms && netproc_start(self, &err) < 0) {
        log_error("the networking process can't be started: %s", fail_text(&err));
        self->retry_ms = now + RETRY_MS;
    }
    if (self->fd < 0 || now < self->ping_ms)
        return;

    /* This process was stopped or starved itself: no ping was sent and nothing was read, so silence proves
     * nothing. */
    if (now - self->ping_ms > PING_MS)
        self->heard_ms = now;
    self->ping_ms = now + PING_MS;
    if (now - self->heard_ms > HANG_MS) {
        log_error("the networking process says nothing any more: it is ended");
        (void) kill(self->pid, SIGKILL);
        netproc_gone(self);
        return;
    }
    json_auto_t *frame = json_pack("{s:s}", "t", "ping");
    netproc_send(self, frame, NULL);
}

int64_t
netproc_next_ms(const netproc_t *self)
{
    return self->fd < 0 ? self->retry_ms : self->ping_ms;
}

int
netproc_fd(const netproc_t *self, short *ret_ask)
{
    *ret_ask = (short) (POLLIN | (self->out.len > 0 ? POLLOUT : 0));
    return self->fd;
}

/* NEW frame; the master's message that travels behind it, if there is one, becomes its "body". NULL with
 * *err. */
static json_t *
netproc_parse(const char *text, size_t len, fail_t *err)
{
    const char *behind = memchr(text, '\0', len);
    size_t head = behind != NULL ? (size_t) (behind - text) : len;
    json_auto_t *frame = frame_parse(text, head, err);
    if (frame == NULL || behind == NULL)
        return json_incref(frame);
    json_t *body = value_parse_peer(behind + 1, len - head - 1, LIMIT_LOCAL_MSG, "the master's message", err);
    if (body == NULL)
        return NULL;
    json_object_set_new(frame, "body", body);
    return json_incref(frame);
}

/* Handles the whole frames in the buffer. False: the stream is unusable, and the process must be replaced; a
 * job lost with it is sent again, as the next process's hello lists the ones we have. A frame that can't be
 * parsed is skipped. */
static bool
netproc_frames(netproc_t *self)
{
    for (;;) {
        fail_auto_t err = FAIL_INIT;
        const char *text;
        size_t len;
        int rc = frame_peek(&self->in, 0, LIMIT_LOCAL_MSG, &text, &len, &err);
        if (rc == 0)
            return true;
        json_auto_t *frame = rc > 0 ? netproc_parse(text, len, &err) : NULL;
        if (frame == NULL)
            log_error("a message of the networking process can't be read: %s", fail_text(&err));
        if (rc < 0 || err.code == -ENOMEM)
            return false;
        buf_consume(&self->in, FRAME_HEAD + len);
        if (frame != NULL)
            self->env.frame(self->env.cookie, frame);
    }
}

void
netproc_ready(netproc_t *self, short events)
{
    if (events & POLLOUT)
        netproc_flush(self);
    while (events & (POLLIN | POLLHUP)) {
        buf_reserve(&self->in, READ_CHUNK);
        ssize_t n = recv(self->fd, self->in.data + self->in.len, READ_CHUNK, MSG_DONTWAIT);
        int code = errno;
        if (n > 0) {
            self->in.len += (size_t) n;
            self->heard_ms = clock_mono_ms();
        }
        bool sound = netproc_frames(self);
        if (!sound)
            (void) kill(self->pid, SIGKILL);
        if (!sound || n == 0 || (n < 0 && code != EAGAIN && code != EINTR)) {
            netproc_gone(self);
            return;
        }
        if (n < 0)
            return;
    }
}

netproc_t *
netproc_new(const netproc_env_t *env, int64_t first_ms)
{
    netproc_t *self = xcalloc(1, sizeof(*self));
    self->env = *env;
    self->fd = -1;
    self->retry_ms = first_ms;
    return self;
}

void
netproc_destroy(netproc_t **self_p)
{
    netproc_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    if (self->fd >= 0 && !self->child)
        (void) kill(self->pid, SIGKILL);
    if (self->fd >= 0)
        (void) close(self->fd);
    if (self->pid > 0 && !self->child)
        (void) waitpid(self->pid, NULL, 0);
    buf_free(&self->in);
    buf_free(&self->out);
    free(self);
}
