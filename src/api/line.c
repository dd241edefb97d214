/* line.c - see line.h. What the socket does not take at once waits in `out` until the poller says that it is
 * writable. */
#include "api/line.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define READ_CHUNK (64 * 1024)
#define KEEP_MAX   (256 * 1024) /* of a buffer that a large answer has made grow */

struct line {
    line_t *next, *prev; /* of those that wait */
    watch_t watch;       /* fd -1: it waits */
    const char *sock_dir;
    char *who;   /* owned */
    bool is_new; /* has no answer yet */
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

static struct lines {
    line_t *first, *last; /* that wait, in order */
    size_t n, n_new;      /* connected ones */
    map_t *by_who;        /* how many of them each has: size_t */
    char *why;            /* owned: why the last one could not connect, as it was told; NULL: it could */
} lines;

/* The counter of connected lines of one; NEW ones are 0. BORROWED. */
static size_t *
lines_of_user(const char *who)
{
    if (lines.by_who == NULL)
        lines.by_who = map_new(free);
    size_t *n = map_get(lines.by_who, who);
    if (n == NULL)
        map_set(lines.by_who, who, n = xcalloc(1, sizeof(*n)));
    return n;
}

/* Non-blocking: the local socket accepts at once, or the master's queue of connections is full and the line
 * fails. */
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

/* `who` is a token or a login's words: it is wiped. */
static void
line_free(line_t *self)
{
    buf_free(&self->in);
    buf_free(&self->out);
    explicit_bzero(self->who, strlen(self->who));
    free(self->who);
    free(self);
}

static void
line_unqueue(line_t *self)
{
    *(self->prev != NULL ? &self->prev->next : &lines.first) = self->next;
    *(self->next != NULL ? &self->next->prev : &lines.last) = self->prev;
    self->next = self->prev = NULL;
}

static void
line_known(line_t *self)
{
    lines.n_new -= self->is_new ? 1 : 0;
    self->is_new = false;
}

/* Takes a connected line out of the poller and the counters. */
static void
line_disconnect(line_t *self)
{
    poller_remove(self->poller, &self->watch);
    (void) close(self->watch.fd);
    self->watch.fd = -1;
    line_known(self);
    lines.n--;
    if (--*lines_of_user(self->who) == 0)
        (void) map_del(lines.by_who, self->who);
}

/* May be called from the line's own callback: then the last line_ready() on the stack frees it. */
void
line_destroy(line_t **self_p)
{
    line_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    if (self->watch.fd >= 0)
        line_disconnect(self);
    else if (!self->broken)
        line_unqueue(self);
    self->leaves = true;
    if (self->calls == 0)
        line_free(self);
}

/* Tells the owner once, with NULL; the owner destroys the line. */
static void
line_break(line_t *self)
{
    if (self->broken)
        return;
    self->broken = true;
    line_disconnect(self);
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
        line_known(self);
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

/* Reads until the socket is empty. The callback may destroy or break the line, which ends the loop. */
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

/* Says why the master can't be asked, once while the reason stays the same, and when that is over. `why`
 * NULL: it can. */
static void
lines_tell(const char *why)
{
    if (str_eq(lines.why, why))
        return;
    if (why != NULL)
        log_error("the master can't be asked: %s", why);
    else
        log_warning("the master can be asked again");
    free(lines.why);
    lines.why = why != NULL ? xstrdup(why) : NULL;
}

/* 0, or a negative errno with *err. */
static int
line_begin(line_t *self, fail_t *err)
{
    int fd = line_connect(self->sock_dir, err);

    lines_tell(fd < 0 ? fail_text(err) : NULL);
    if (fd < 0)
        return fd;
    self->watch = (watch_t){ fd, line_ready, self };
    int rc = poller_add(self->poller, &self->watch, EPOLLIN);
    if (rc < 0) {
        (void) close(fd);
        self->watch.fd = -1;
        return fail_set(err, rc, "epoll_ctl: %s", strerror(-rc));
    }
    self->is_new = true;
    lines.n++;
    lines.n_new++;
    ++*lines_of_user(self->who);
    line_flush(self);
    return 0;
}

static bool
lines_are_full(void)
{
    return lines.n >= LINES || lines.n_new >= LINES_NEW;
}

static bool
line_has_turn(const line_t *self)
{
    const size_t *n = lines.by_who != NULL ? map_get(lines.by_who, self->who) : NULL;

    return !lines_are_full() && (n == NULL || *n < LINES_WHO);
}

line_t *
line_new(line_host_t host, const char *who, line_fn *fn, void *cookie, fail_t *err)
{
    line_t *self = xcalloc(1, sizeof(*self));

    *self = (line_t){ .watch.fd = -1,
                      .poller = host.poller,
                      .sock_dir = host.sock_dir,
                      .who = xstrdup(who),
                      .fn = fn,
                      .cookie = cookie };
    if (lines.first != NULL || !line_has_turn(self)) {
        /* Behind those that wait already: lines are opened in the order in which they were asked for. */
        self->prev = lines.last;
        *(self->prev != NULL ? &self->prev->next : &lines.first) = self;
        lines.last = self;
        return self;
    }
    if (line_begin(self, err) == 0)
        return self;
    line_free(self);
    return NULL;
}

/* The first line that has its turn; others who have too many already are overtaken. NULL: none. */
static line_t *
lines_next(void)
{
    line_t *line = lines_are_full() ? NULL : lines.first;

    while (line != NULL && !line_has_turn(line))
        line = line->next;
    return line;
}

/* Begins lines that have waited for a place. Their owners have the line already, so a failure is told by the
 * callback. */
void
lines_turn(void)
{
    line_t *line;

    while ((line = lines_next()) != NULL) {
        fail_auto_t err = FAIL_INIT;
        line_unqueue(line);
        if (line_begin(line, &err) == 0)
            continue;
        line->broken = true;
        line->fn(line->cookie, NULL);
    }
}

void
lines_end(void)
{
    map_destroy(&lines.by_who);
    free(STEAL(lines.why));
}

/* Returns the request's number, which its answer repeats. Before the line is open the frame waits in `out`.
 */
json_int_t
line_ask(line_t *self, json_t **request_p)
{
    json_auto_t *request = STEAL(*request_p);
    json_int_t n = ++self->next_n;

    json_object_set_new(request, "n", json_integer(n));
    frame_add(&self->out, request);
    if (self->watch.fd >= 0)
        line_flush(self);
    return n;
}
