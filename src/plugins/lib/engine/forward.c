/* forward.c - see forward.h. */
#include "plugins/lib/engine/forward.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "salt/log.h"

#define AGAIN_MS  500   /* before the next try: doubled each time, */
#define AGAIN_MAX 30000 /* up to this */
#define TIMEOUT_S 10    /* for a connection, and for a peer to take more */

static const char unix_mark[] = "unix://";

struct forward {
    char *name, *host; /* owned */
    int port, fd;      /* fd -1: there is none */
    bool udp;
};

forward_t *
forward_new(const char *name, const char *host, int port, bool udp)
{
    forward_t *self = xcalloc(1, sizeof(*self));

    *self = (forward_t){ .name = xstrdup(name), .host = xstrdup(host), .port = port, .fd = -1, .udp = udp };
    return self;
}

static void
forward_close(forward_t *self)
{
    if (self->fd >= 0)
        (void) close(self->fd);
    self->fd = -1;
}

void
forward_destroy(forward_t **self_p)
{
    forward_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    forward_close(self);
    free(self->name);
    free(self->host);
    free(self);
}

/* A connected socket, or a negative errno. */
static int
forward_try(int family, int type, const void *address, socklen_t len)
{
    const struct timeval limit = { .tv_sec = TIMEOUT_S };
    int fd = socket(family, type | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0 && connect(fd, address, len) == 0)
        return fd;
    int code = errno == EINPROGRESS ? ETIMEDOUT : errno;
    (void) close(fd);
    return -code;
}

static int
forward_connect(forward_t *self, fail_t *err)
{
    AUTO_FREE char *port = xasprintf("%d", self->port);
    int type = self->udp ? SOCK_DGRAM : SOCK_STREAM;
    const struct addrinfo hints = { .ai_socktype = type };
    struct addrinfo *found = NULL;
    struct sockaddr_un local = { .sun_family = AF_UNIX };
    int fd = -ENOENT;

    if (str_starts(self->host, unix_mark)) {
        if (!str_copy(local.sun_path, sizeof(local.sun_path), self->host + strlen(unix_mark)))
            return fail_set(err, -ENAMETOOLONG, "%s: the path is too long for a socket", self->host);
        fd = forward_try(AF_UNIX, SOCK_STREAM, &local, sizeof(local));
    } else {
        int rc = getaddrinfo(self->host, port, &hints, &found);
        if (rc != 0)
            return fail_set(err, -ENOENT, "%s: %s", self->host, gai_strerror(rc));
        for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next)
            fd = forward_try(a->ai_family, type, a->ai_addr, a->ai_addrlen);
        freeaddrinfo(found);
    }
    if (fd < 0)
        return fail_set(err, fd, "%s port %d: %s", self->host, self->port, strerror(-fd));
    self->fd = fd;
    return 0;
}

static int
forward_once(forward_t *self, const buf_t *message, fail_t *err)
{
    /* A peer that has ended the connection is connected anew; what it says is not looked at. */
    if (self->fd >= 0 && !self->udp) {
        char bytes[512];
        ssize_t n;
        while ((n = recv(self->fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
            continue;
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            forward_close(self);
    }
    if (self->fd < 0 && forward_connect(self, err) < 0)
        return err->code;
    for (size_t at = 0; at < message->len;) {
        ssize_t n = send(self->fd, message->data + at, message->len - at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_set(err, -errno, "%s port %d: %s", self->host, self->port,
                            errno == EAGAIN ? "it takes nothing more" : strerror(errno));
        at += (size_t) n;
    }
    return 0;
}

void
forward_send(forward_t *self, const buf_t *message)
{
    int64_t pause_ms = AGAIN_MS;

    for (;;) {
        fail_auto_t err = FAIL_INIT;
        int rc = forward_once(self, message, &err);
        if (rc == 0)
            break;
        if (rc == -EMSGSIZE) {
            log_error("engine %s: an event of %zu bytes is too large for a datagram, and left out",
                      self->name, message->len);
            return;
        }
        if (pause_ms == AGAIN_MS)
            log_error("engine %s: %s; events wait", self->name, fail_text(&err));
        forward_close(self);
        clock_pause((double) pause_ms / 1000);
        pause_ms = pause_ms * 2 < AGAIN_MAX ? pause_ms * 2 : AGAIN_MAX;
    }
    if (pause_ms != AGAIN_MS)
        log_warning("engine %s: %s takes events again", self->name, self->host);
}
