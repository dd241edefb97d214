/* line.c - see line.h. What the socket does not take at once waits in `out` until the poller says that it is
 * writable. */
#include "api/line.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define READ_CHUNK (64 * 1024)
#define KEEP_MAX   (256 * 1024) /* of a buffer that a large answer has made grow */

struct line {
    watch_t watch;
    poller_t *poller;
    line_fn *fn;
    void *cookie;
    buf_t in, out;
    size_t in_at; /* bytes of `in` that were taken */
    json_int_t next_n;
    bool writes; /* the poller looks for EPOLLOUT, too */
    bool broken;
    int calls;   /* of line_ready that are under way */
    bool leaves; /* destroyed from within such a call */
};

static int
line_connect(const char *sock_dir, fail_t *err)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    AUTO_FREE char *path = fs_join(sock_dir, LOCAL_SOCKET_NAME);
    AUTO_FD fd = -1;

    if (!str_copy(addr.sun_path, sizeof(addr.sun_path), path))
        return fail_set(err, -ENAMETOOLONG, "%s: longer than a socket's name may be", path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fail_set(err, -errno, "socket: %s", strerror(errno));
    if (connect(fd, (struct sockaddr *) &addr, sizeof(addr)) != 0)
        return fail_set(err, -errno, "%s: %s", path, strerror(errno));
    int connected = fd;
    fd = -1;
    return connected;
}

static void
line_free(line_t *self)
{
    buf_free(&self->in);
    buf_free(&self->out);
    free(self);
}

void
line_destroy(line_t **self_p)
{
    line_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    poller_remove(self->poller, &self->watch);
    (void) close(self->watch.fd);
    self->leaves = true;
    if (self->calls == 0)
        line_free(self);
}

static void
line_break(line_t *self)
{
    if (self->broken)
        return;
    self->broken = true;
    poller_remove(self->poller, &self->watch);
    self->fn(self->cookie, NULL);
}

/* Hands on each whole message that lies in `in`. */
static void
line_take(line_t *self)
{
    const char *text;
    size_t len;
    int rc = 0;

    while (!self->leaves && !self->broken) {
        fail_auto_t err = FAIL_INIT;
        rc = frame_peek(&self->in, self->in_at, LIMIT_LOCAL_MSG, &text, &len, &err);
        if (rc <= 0)
            break;
        json_auto_t *msg = frame_parse(text, len, &err);
        self->in_at += FRAME_HEAD + len;
        if (msg == NULL) {
            rc = -EPROTO;
            break;
        }
        self->fn(self->cookie, msg);
    }
    if (self->leaves || self->broken)
        return;
    buf_consume(&self->in, self->in_at);
    self->in_at = 0;
    if (self->in.len == 0 && self->in.cap > KEEP_MAX)
        buf_free(&self->in);
    if (rc < 0)
        line_break(self);
}

static void
line_read(line_t *self)
{
    for (;;) {
        buf_reserve(&self->in, READ_CHUNK);
        ssize_t n = recv(self->watch.fd, self->in.data + self->in.len, READ_CHUNK, 0);
        if (n > 0) {
            self->in.len += (size_t) n;
            self->in.data[self->in.len] = '\0';
            line_take(self);
            if (self->leaves || self->broken || n < READ_CHUNK)
                return;
            continue;
        }
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        line_break(self);
        return;
    }
}

/* A refusal by the kernel shows itself as a broken line at the next turn of the poller. */
static void
line_flush(line_t *self)
{
    while (self->out.len > 0) {
        ssize_t n = send(self->watch.fd, self->out.data, self->out.len, MSG_NOSIGNAL);
        if (n < 0)
            break;
        buf_consume(&self->out, (size_t) n);
    }
    bool more = self->out.len > 0;
    if (more != self->writes && !self->broken) {
        (void) poller_change(self->poller, &self->watch, more ? EPOLLIN | EPOLLOUT : EPOLLIN);
        self->writes = more;
    }
}

static void
line_ready(void *cookie, uint32_t events)
{
    line_t *self = cookie;

    self->calls++;
    if ((events & EPOLLOUT) != 0)
        line_flush(self);
    if ((events & ~(uint32_t) EPOLLOUT) != 0)
        line_read(self);
    if (--self->calls == 0 && self->leaves)
        line_free(self);
}

line_t *
line_new(poller_t *poller, const char *sock_dir, line_fn *fn, void *cookie, fail_t *err)
{
    int fd = line_connect(sock_dir, err);

    if (fd < 0)
        return NULL;
    line_t *self = xcalloc(1, sizeof(*self));
    self->watch = (watch_t){ fd, line_ready, self };
    self->poller = poller;
    self->fn = fn;
    self->cookie = cookie;
    if (poller_add(poller, &self->watch, EPOLLIN) == 0)
        return self;
    fail_set(err, -errno, "epoll_ctl: %s", strerror(errno));
    line_destroy(&self);
    return NULL;
}

json_int_t
line_ask(line_t *self, json_t **request_p)
{
    json_auto_t *request = STEAL(*request_p);
    json_int_t n = ++self->next_n;

    json_object_set_new(request, "n", json_integer(n));
    frame_add(&self->out, request);
    line_flush(self);
    return n;
}

void
line_hand_over(line_t *self, line_fn *fn, void *cookie)
{
    self->fn = fn;
    self->cookie = cookie;
}
