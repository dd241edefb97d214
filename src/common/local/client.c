/* client.c - the blocking side of the local socket.
 *
 * Requests and replies are matched by "n"; pushes that arrive in between are queued. Writes never block
 * (MSG_DONTWAIT): a master that does not read is noticed by the patience that applies to reads too. */
#include "common/local/client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/value.h"

#define READ_CHUNK (64 * 1024)

struct local_client {
    int fd;
    json_int_t next_n;
    buf_t in;
    size_t in_at;   /* bytes of it that were taken */
    json_t *pushes; /* arrived while a reply was awaited */
    char *path;
    int64_t timeout_ms; /* of a call; -1: none */
    void (*note)(void); /* NULL: none */
};

/* Deadlines of one call. */
typedef struct wait {
    int64_t until_ms, note_ms; /* monotonic; -1: never */
} wait_t;

/* If the queue of a stopped master is full, connect() waits: for so long (SO_SNDTIMEO), in seconds. */
#define CONNECT_S 10

/* A full backlog makes connect() wait: the timeout of sending bounds that, and is taken off again for the
 * requests. */
static int
client_connect(const char *path, const char *whose, fail_t *err)
{
    const struct timeval patience = { .tv_sec = CONNECT_S }, none = { 0 };
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    if (!str_copy(addr.sun_path, sizeof(addr.sun_path), path))
        return fail_set(err, -ENAMETOOLONG,
                        "%s: longer than a socket's name may be; set sock_dir to a shorter path", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fail_set(err, -errno, "socket: %s", strerror(errno));
    (void) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (connect(fd, (struct sockaddr *) &addr, sizeof(addr)) == 0) {
        (void) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none));
        return fd;
    }
    int code = errno == EAGAIN ? -ETIMEDOUT : -errno;
    (void) close(fd);
    if (code == -EACCES)
        return fail_set(
            err, code,
            "%s: permission denied; run as root, as the master's user, or as one that publisher_acl names",
            path);
    return fail_set(
        err, code,
        "The salt %s could not be contacted at %s (%s). Is salt-%s running, with this configuration?", whose,
        path, strerror(-code), whose);
}

/* A full backlog that outlasts CONNECT_S is reported as a timeout. */
static local_client_t *
client_open(const char *sock_dir, const char *name, const char *whose, fail_t *err)
{
    AUTO_FREE char *path = fs_join(sock_dir, name);
    int fd = client_connect(path, whose, err);
    if (fd < 0)
        return NULL;
    local_client_t *self = xcalloc(1, sizeof(*self));
    self->fd = fd;
    self->pushes = json_array();
    self->path = STEAL(path);
    self->timeout_ms = -1;
    return self;
}

local_client_t *
local_connect(const char *sock_dir, fail_t *err)
{
    return client_open(sock_dir, LOCAL_SOCKET_NAME, "master", err);
}

local_client_t *
local_connect_minion(const char *sock_dir, fail_t *err)
{
    return client_open(sock_dir, MINION_SOCKET_NAME, "minion", err);
}

void
local_client_destroy(local_client_t **self_p)
{
    local_client_t *self = *self_p;
    *self_p = NULL;
    if (self == NULL)
        return;
    (void) close(self->fd);
    buf_free(&self->in);
    json_decref(self->pushes);
    free(self->path);
    free(self);
}

int
local_fd(const local_client_t *self)
{
    return self->fd;
}

/* Take one message from the buffer: 1, 0 when it is incomplete, or negative. Consumed bytes are dropped in
 * one go. */
static int
client_take(local_client_t *self, json_t **ret_msg, fail_t *err)
{
    const char *text;
    size_t len;
    int rc = frame_peek(&self->in, self->in_at, LIMIT_LOCAL_MSG, &text, &len, err);
    if (rc <= 0) {
        buf_consume(&self->in, self->in_at);
        self->in_at = 0;
        return rc;
    }
    *ret_msg = frame_parse(text, len, err);
    self->in_at += FRAME_HEAD + len;
    return *ret_msg ? 1 : -EPROTO;
}

void
local_timeout(local_client_t *self, int64_t timeout_ms, void (*note)(void))
{
    self->timeout_ms = timeout_ms;
    self->note = note;
}

static wait_t
client_begin(const local_client_t *self)
{
    int64_t now = clock_mono_ms();
    return (wait_t){ self->timeout_ms < 0 ? -1 : now + self->timeout_ms,
                     self->note != NULL ? now + LOCAL_QUIET_MS : -1 };
}

/* When still_waits must be called. Monotonic ms, -1: never. */
static int64_t
client_wake(const wait_t *p)
{
    if (p->until_ms < 0 || (p->note_ms >= 0 && p->note_ms < p->until_ms))
        return p->note_ms;
    return p->until_ms;
}

/* Nothing came until client_wake: note it or time out. 0 to go on waiting. */
static int
still_waits(const local_client_t *self, wait_t *p, fail_t *err)
{
    int64_t now = clock_mono_ms();
    if (p->note_ms >= 0 && now >= p->note_ms) { /* first, however late this is */
        p->note_ms = -1;
        self->note();
        return 0;
    }
    if (p->until_ms >= 0 && now >= p->until_ms)
        return fail_set(
            err, -ETIMEDOUT,
            "Salt request timed out. The master is not responding: nothing came from %s for %lld s. "
            "What was asked for begins only if the master has taken it already; when it answers "
            "again, 'salt-run jobs.active' and 'salt-run jobs.list_jobs' show it, and 'salt-key -L' the keys",
            self->path, (long long) (self->timeout_ms / 1000));
    return 0;
}

/* Wait until the socket can be read or written: 1, 0 on timeout, negative on failure. `until_ms` is
 * monotonic; -1: no limit. */
static int
client_ready(const local_client_t *self, short events, int64_t until_ms, fail_t *err)
{
    int wait = -1;
    if (until_ms >= 0) {
        int64_t left = until_ms - clock_mono_ms();
        wait = left > 0 ? (int) (left > INT32_MAX ? INT32_MAX : left) : 0;
    }
    struct pollfd pfd = { self->fd, events, 0 };
    int rc = poll(&pfd, 1, wait);
    return rc >= 0 ? rc : fail_set(err, -errno, "%s: %s", self->path, strerror(errno));
}

/* Read one message from the wire: 1, 0 on timeout, negative on failure. `until_ms` as above. */
static int
client_receive(local_client_t *self, int64_t until_ms, json_t **ret_msg, fail_t *err)
{
    for (;;) {
        int rc = client_take(self, ret_msg, err);
        if (rc != 0)
            return rc;
        rc = client_ready(self, POLLIN, until_ms, err);
        if (rc <= 0)
            return rc;
        buf_reserve(&self->in, READ_CHUNK);
        ssize_t n = recv(self->fd, self->in.data + self->in.len, READ_CHUNK, 0);
        if (n <= 0)
            return fail_set(err, n < 0 ? -errno : -EPIPE, "%s: the master closed the connection", self->path);
        self->in.len += (size_t) n;
        self->in.data[self->in.len] = '\0';
    }
}

static int
client_send(local_client_t *self, const json_t *msg, wait_t *p, fail_t *err)
{
    buf_auto_t out = BUF_INIT;
    frame_add(&out, msg);
    if (out.len > LIMIT_LOCAL_MSG)
        return fail_set(err, -EMSGSIZE, "the request has %zu bytes, the limit is %d", out.len,
                        LIMIT_LOCAL_MSG);
    for (size_t at = 0; at < out.len;) {
        ssize_t n = send(self->fd, out.data + at, out.len - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0) {
            at += (size_t) n;
            continue;
        }
        if (errno != EINTR && errno != EAGAIN)
            return fail_set(err, -errno, "%s: %s", self->path, strerror(errno));
        if (errno == EINTR)
            continue;

        /* The socket is full, as the master does not read now: wait for room, then try again. */
        int rc = client_ready(self, POLLOUT, client_wake(p), err);
        if (rc == 0)
            rc = still_waits(self, p, err);
        if (rc == -EINTR)
            fail_clear(err);
        else if (rc < 0)
            return rc;
    }
    return 0;
}

int
local_post(local_client_t *self, json_t **request_p, json_int_t *ret_n, fail_t *err)
{
    json_auto_t *request = STEAL(*request_p);
    json_int_t n = ++self->next_n;
    json_object_set_new(request, "n", json_integer(n));
    if (ret_n != NULL)
        *ret_n = n;
    wait_t p = client_begin(self);
    return client_send(self, request, &p, err);
}

/* Pushes that come before the reply are kept for local_next(). */
int
local_call(local_client_t *self, json_t **request_p, json_t **ret_reply, fail_t *err)
{
    json_auto_t *request = STEAL(*request_p);
    json_int_t n = ++self->next_n;
    json_object_set_new(request, "n", json_integer(n));
    wait_t p = client_begin(self);
    int rc = client_send(self, request, &p, err);
    if (rc < 0)
        return rc;
    for (;;) {
        json_t *msg = NULL;
        rc = client_receive(self, client_wake(&p), &msg, err);
        if (rc == -EINTR) {
            fail_clear(err);
            continue;
        }
        if (rc == 0)
            rc = still_waits(self, &p, err);
        if (rc < 0)
            return rc;
        if (msg == NULL)
            continue;
        if (value_int(msg, "n", 0) != n) {
            json_array_append_new(self->pushes, msg);
            continue;
        }
        if (value_bool(msg, "ok", false)) {
            *ret_reply = msg;
            return 0;
        }
        rc = fail_set(err, -EREMOTEIO, "%s", value_str(msg, "error", "the master refused"));
        json_decref(msg);
        return rc;
    }
}

bool
local_more(const local_client_t *self)
{
    const char *text;
    size_t len;
    return json_array_size(self->pushes) > 0 ||
           frame_peek(&self->in, self->in_at, LIMIT_LOCAL_MSG, &text, &len, NULL) != 0;
}

int
local_next(local_client_t *self, int timeout_ms, json_t **ret_push, fail_t *err)
{
    if (json_array_size(self->pushes) > 0) {
        *ret_push = json_incref(json_array_get(self->pushes, 0));
        json_array_remove(self->pushes, 0);
        return 1;
    }
    return client_receive(self, timeout_ms < 0 ? -1 : clock_mono_ms() + timeout_ms, ret_push, err);
}
