/* mbus.c - see mbus.h. */
#include "minion/mbus.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "minion/mreactor.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define LINES      16 /* at one time */
#define READ_CHUNK 4096

typedef struct mline {
    int fd; /* -1: free */
    buf_t in;
} mline_t;

struct mbus {
    jobserver_t *owner;
    char *path;
    int listen_fd, epoll_fd;
    mline_t lines[LINES];
};

void
mbus_event(mbus_t *self, const char *tag, json_t *data)
{
    if (self->owner->reactor)
        mreactor_event(self->owner->reactor, tag, data);
}

/* ---- the socket ---------------------------------------------------------------------------------------- */

static void
s_watch(mbus_t *self, int fd, mline_t *line)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = line };
    (void) epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

static int
s_listen(mbus_t *self, fail_t *err)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    const char *dir = value_str(self->owner->opts, "sock_dir", "");
    self->path = fs_join(dir, MINION_SOCKET_NAME);
    if (!str_copy(addr.sun_path, sizeof(addr.sun_path), self->path))
        return fail_set(err, -ENAMETOOLONG, "%s: set sock_dir to a shorter path", self->path);
    if (fs_mkdirs(dir, 0755, err) < 0)
        return err->code;
    (void) unlink(self->path);
    self->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t old = umask(0177);
    int rc = bind(self->listen_fd, (struct sockaddr *) &addr, sizeof(addr));
    int code = errno;
    (void) umask(old);
    if (rc != 0 || listen(self->listen_fd, LINES) != 0)
        return fail_set(err, -code, "%s: can't listen: %s", self->path, strerror(code));
    self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    s_watch(self, self->listen_fd, NULL);
    return 0;
}

static void
s_close_line(mline_t *line)
{
    if (line->fd >= 0)
        (void) close(line->fd);
    line->fd = -1;
    buf_free(&line->in);
}

static void
s_deaf(mbus_t *self)
{
    for (size_t i = 0; i < LINES; i++)
        s_close_line(&self->lines[i]);
    if (self->listen_fd >= 0)
        (void) close(self->listen_fd);
    if (self->listen_fd >= 0 && self->path)
        (void) unlink(self->path);
    if (self->epoll_fd >= 0)
        (void) close(self->epoll_fd);
    self->listen_fd = self->epoll_fd = -1;
    free(STEAL(self->path));
}

static void
s_accept(mbus_t *self)
{
    int fd = accept4(self->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    for (size_t i = 0; fd >= 0 && i < LINES; i++)
        if (self->lines[i].fd < 0) {
            self->lines[i].fd = fd;
            s_watch(self, fd, &self->lines[i]);
            return;
        }
    if (fd >= 0)
        (void) close(fd);
}

/* {op: "event", tag, data} -> {}: who may write to the socket is root, or the minion's user. */
static void
s_answer(mbus_t *self, mline_t *line, const json_t *msg)
{
    const char *tag = value_str(msg, "tag", "");
    bool ok = str_eq(value_str(msg, "op", ""), "event") && *tag && strlen(tag) <= LIMIT_TAG_LEN;
    json_auto_t *reply = json_pack("{s:I, s:b}", "n", value_int(msg, "n", 0), "ok", ok);
    buf_auto_t out = BUF_INIT;
    if (ok)
        mbus_event(self, tag, value_get(msg, "data"));
    else
        json_object_set_new(reply, "error", json_string("not an event"));
    frame_add(&out, reply);
    if (send(line->fd, out.data, out.len, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t) out.len)
        s_close_line(line);
}

static void
s_read_line(mbus_t *self, mline_t *line)
{
    buf_reserve(&line->in, READ_CHUNK);
    ssize_t n = recv(line->fd, line->in.data + line->in.len, READ_CHUNK, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        s_close_line(line);
        return;
    }
    line->in.len += (size_t) n;
    json_t *msg = NULL;
    int rc = 0;
    while (line->fd >= 0 && (rc = frame_take(&line->in, LIMIT_LOCAL_USER_MSG, &msg, NULL)) > 0) {
        s_answer(self, line, msg);
        json_decref(msg);
    }
    if (rc < 0)
        s_close_line(line);
}

int
mbus_fd(const mbus_t *self)
{
    return self->epoll_fd;
}

void
mbus_read(mbus_t *self)
{
    struct epoll_event events[LINES + 1];
    int n = epoll_wait(self->epoll_fd, events, LINES + 1, 0);
    for (int i = 0; i < n; i++) {
        mline_t *line = events[i].data.ptr;
        if (!line)
            s_accept(self);
        else if (line->fd >= 0)
            s_read_line(self, line);
    }
}

/* ---- life ---------------------------------------------------------------------------------------------- */

void
mbus_listen(mbus_t *self, bool yes)
{
    fail_auto_t err = FAIL_INIT;
    if (yes == (self->listen_fd >= 0))
        return;
    s_deaf(self);
    if (yes && s_listen(self, &err) < 0) {
        log_error("salt-call can't reach the minion's bus: %s", fail_text(&err));
        s_deaf(self);
    }
}

mbus_t *
mbus_new(jobserver_t *owner)
{
    mbus_t *self = xcalloc(1, sizeof(*self));
    self->owner = owner;
    self->listen_fd = self->epoll_fd = -1;
    for (size_t i = 0; i < LINES; i++)
        self->lines[i].fd = -1;
    return self;
}

void
mbus_destroy(mbus_t **self_p)
{
    mbus_t *self = STEAL(*self_p);
    if (!self)
        return;
    if (self->owner->in_session) /* the socket's name is the first process's */
        free(STEAL(self->path));
    s_deaf(self);
    free(self);
}
