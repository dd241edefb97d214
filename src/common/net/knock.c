/* knock.c - see knock.h. A detached thread resolves, connects and reads the greeting with non-blocking
 * sockets, and sends its result through an inproc PAIR. Both ends may go first: sending to a closed pair is
 * simply dropped. */
#include "common/net/knock.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include "common/base/clock.h"
#include "common/base/str.h"

#define GREETING_BYTES 64
#define MECHANISM_AT   12
#define SIGNATURE_LAST 9 /* its bytes are 0xff, a length, and 0x7f here */

struct knock {
    void *sock;
};

/* State of the thread, which owns and frees it. */
typedef struct look {
    void *sock;
    char *host, *source;
    int ports[KNOCK_PORTS], timeout_ms;
    int fds[KNOCK_PORTS];
    uint8_t greeting[GREETING_BYTES]; /* as far as it came */
    size_t greeted;
    knock_said_t said;
} look_t;

/* ---- connections ------------------------------------------------------------------------------- */

typedef struct address {
    struct sockaddr_storage is;
    socklen_t len;
} address_t;

/* Resolve to the first address, as libzmq does: IPv6 only for a literal. 0, or getaddrinfo's code. */
static int
knock_resolve(const char *host, address_t *out)
{
    struct addrinfo hints = { .ai_family = strchr(host, ':') != NULL ? AF_INET6 : AF_INET,
                              .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    int rc = getaddrinfo(host, NULL, &hints, &found);

    if (rc != 0)
        return rc;
    memcpy(&out->is, found->ai_addr, found->ai_addrlen);
    out->len = found->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

/* Start a connection. 0 with the descriptor in self->fds[i], or an errno. */
static int
open_port(look_t *self, const address_t *to, int i)
{
    int fd = socket(to->is.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return errno;
    self->fds[i] = fd;
    address_t from;
    int code = 0;
    if (!str_empty(self->source) && knock_resolve(self->source, &from) != 0)
        code = EADDRNOTAVAIL;
    else if (!str_empty(self->source) && bind(fd, (struct sockaddr *) &from.is, from.len) != 0)
        code = errno;
    if (code == 0 && connect(fd, (const struct sockaddr *) &to->is, to->len) != 0 && errno != EINPROGRESS)
        code = errno;
    return code;
}

static void
close_port(look_t *self, int i)
{
    if (self->fds[i] >= 0)
        (void) close(self->fds[i]);
    self->fds[i] = -1;
}

/* ---- the greeting ------------------------------------------------------------------------------ */

/* Read more of the greeting. True when nothing more is needed from this connection. */
static bool
take_greeting(look_t *self)
{
    ssize_t n = recv(self->fds[0], self->greeting + self->greeted, GREETING_BYTES - self->greeted, 0);

    if (n > 0)
        self->greeted += (size_t) n;
    bool foreign = self->greeted > 0 &&
                   (self->greeting[0] != 0xff ||
                    (self->greeted > SIGNATURE_LAST && self->greeting[SIGNATURE_LAST] != 0x7f));
    if (foreign)
        self->said.greets = KNOCK_FOREIGN;
    else if (self->greeted == GREETING_BYTES) {
        /* Reads the mechanism's name. */
        char *name = self->said.mechanism;
        memcpy(name, self->greeting + MECHANISM_AT, KNOCK_MECHANISM - 1);
        /* Accept only characters that ZMTP allows, because the name is shown to users. */
        bool good = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+") == strlen(name);
        self->said.greets = good ? KNOCK_ZMTP : KNOCK_FOREIGN;
    }
    return foreign || self->greeted == GREETING_BYTES || n == 0 ||
           (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* ---- the look ---------------------------------------------------------------------------------- */

/* Handle a port whose socket became writable or readable, or failed. */
static void
happened(look_t *self, int i, bool *connected)
{
    socklen_t len = sizeof(self->said.code[i]);

    if (!*connected) {
        (void) getsockopt(self->fds[i], SOL_SOCKET, SO_ERROR, &self->said.code[i], &len);
        *connected = self->said.code[i] == 0;
        if (*connected && i == 0) {
            /* Send signature and version: libzmq answers with its whole greeting. Our mechanism is not
             * sent, since libzmq would close the connection without a word if it differs from its own. */
            int fd = self->fds[i];
            static const uint8_t begin[] = { 0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0 };
            (void) send(fd, begin, sizeof(begin), MSG_NOSIGNAL);
        } else {
            close_port(self, i);
        }
    } else if (take_greeting(self)) {
        close_port(self, i);
    }
}

/* Poll all ports at once until the timeout or until each is done. */
static void
look_at_ports(look_t *self)
{
    int64_t until = clock_mono_ms() + self->timeout_ms, left;
    bool connected[KNOCK_PORTS] = { false };

    while ((left = until - clock_mono_ms()) > 0) {
        struct pollfd items[KNOCK_PORTS];
        int open = 0;
        for (int i = 0; i < KNOCK_PORTS; i++) {
            items[i] = (struct pollfd){ self->fds[i], connected[i] ? POLLIN : POLLOUT, 0 };
            open += self->fds[i] >= 0;
        }
        if (open == 0 || (poll(items, KNOCK_PORTS, (int) left) < 0 && errno != EINTR))
            return;
        for (int i = 0; i < KNOCK_PORTS; i++)
            if (self->fds[i] >= 0 && items[i].revents != 0)
                happened(self, i, &connected[i]);
    }
}

static void *
knock_run(void *arg)
{
    look_t *self = arg;

    /* Opens a connection to each port. */
    address_t to;
    self->said.name = knock_resolve(self->host, &to);
    for (int i = 0; i < KNOCK_PORTS && self->said.name == 0; i++) {
        if (self->ports[i] <= 0)
            continue;

        /* Sets the port in the address. */
        int port = self->ports[i];
        if (to.is.ss_family == AF_INET6)
            ((struct sockaddr_in6 *) &to.is)->sin6_port = htons((uint16_t) port);
        else
            ((struct sockaddr_in *) &to.is)->sin_port = htons((uint16_t) port);

        self->said.code[i] = open_port(self, &to, i);
        if (self->said.code[i] != 0)
            close_port(self, i);
        else
            self->said.code[i] = ETIMEDOUT; /* until the outcome is known */
    }

    look_at_ports(self);
    for (int i = 0; i < KNOCK_PORTS; i++)
        close_port(self, i);
    (void) zmq_send(self->sock, &self->said, sizeof(self->said), ZMQ_DONTWAIT);
    (void) zmq_close(self->sock);
    free(self->host);
    free(self->source);
    free(self);
    return NULL;
}

/* ---- life -------------------------------------------------------------------------------------- */

static void *
pair_new(void *zctx)
{
    void *sock = zmq_socket(zctx, ZMQ_PAIR);
    int linger = 0;

    if (sock != NULL)
        (void) zmq_setsockopt(sock, ZMQ_LINGER, &linger, sizeof(linger));
    return sock;
}

/* Start the thread with all signals blocked: they belong to the threads with handlers. 0, or an errno. */
static int
knock_begin(look_t *look)
{
    pthread_t thread;
    sigset_t all, old;

    (void) sigfillset(&all);
    (void) pthread_sigmask(SIG_SETMASK, &all, &old);
    int code = pthread_create(&thread, NULL, knock_run, look);
    (void) pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (code == 0)
        (void) pthread_detach(thread);
    return code;
}

knock_t *
knock_new(void *zctx, const knock_conf_t *conf, fail_t *err)
{
    knock_t *self = xcalloc(1, sizeof(*self));
    look_t *look = xcalloc(1, sizeof(*look));
    AUTO_FREE char *endpoint = xasprintf("inproc://knock-%p", (void *) self);

    look->host = xstrdup(conf->host);
    look->source = xstrdup(conf->source != NULL ? conf->source : "");
    memcpy(look->ports, conf->ports, sizeof(look->ports));
    look->timeout_ms = conf->timeout_ms;
    for (int i = 0; i < KNOCK_PORTS; i++)
        look->fds[i] = -1;
    self->sock = pair_new(zctx);
    look->sock = pair_new(zctx);
    int code = self->sock != NULL && look->sock != NULL && zmq_bind(self->sock, endpoint) == 0 &&
                       zmq_connect(look->sock, endpoint) == 0
                   ? knock_begin(look)
                   : zmq_errno();

    if (code == 0)
        return self;
    (void) fail_set(err, -code, "a look at the ports of %s can't begin: %s", conf->host, zmq_strerror(code));
    if (look->sock != NULL)
        (void) zmq_close(look->sock);
    free(look->host);
    free(look->source);
    free(look);
    knock_destroy(&self);
    return NULL;
}

void *
knock_sock(const knock_t *self)
{
    return self->sock;
}

bool
knock_take(knock_t *self, knock_said_t *out)
{
    return zmq_recv(self->sock, out, sizeof(*out), ZMQ_DONTWAIT) == (int) sizeof(*out);
}

void
knock_destroy(knock_t **self_p)
{
    knock_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    if (self->sock != NULL)
        (void) zmq_close(self->sock);
    free(self);
}
