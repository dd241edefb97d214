/* sock.c - see sock.h. One row per kind of socket: type, options, security. Options that hold for all are set
 * first. */
#include "common/net/sock.h"

#include <czmq.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/str.h"
#include "salt/limits.h"

#define SERVER_BACKLOG    4096
#define SERVER_SNDHWM     20000
#define ACTOR_FILES       4     /* two sockets' signals, and as many to spare */
#define CLIENT_HEARTBEAT  20000 /* ms */
#define CLIENT_HB_TIMEOUT 60000
#define RECONNECT_MAX     2000
#define ENDPOINT_MAX      256
#define REBIND_MS         2000
#define RECONNECT_NEVER   (24 * 3600 * 1000) /* -1 would suppress the event of a failed attempt */

typedef struct int_option {
    int name, value;
} int_option_t;

#define OPTIONS_END ROW(0, 0)
static const int_option_t all_options[] = { { ZMQ_LINGER, 0 },
                                            { ZMQ_MAXMSGSIZE, LIMIT_WIRE_MSG + 1024 },
                                            { ZMQ_TCP_KEEPALIVE, 1 },
                                            { ZMQ_TCP_KEEPALIVE_IDLE, 60 },
                                            { ZMQ_TCP_KEEPALIVE_INTVL, 10 },
                                            { ZMQ_TCP_KEEPALIVE_CNT, 3 },
                                            { ZMQ_TCP_MAXRT, 90000 },
                                            OPTIONS_END };
static const int_option_t router_options[] = {
    { ZMQ_BACKLOG, SERVER_BACKLOG },  { ZMQ_ROUTER_MANDATORY, 1 }, { ZMQ_SNDHWM, SERVER_SNDHWM },
    { ZMQ_RCVHWM, LIMIT_PEER_QUEUE }, { ZMQ_PROBE_ROUTER, 1 },     OPTIONS_END
};
static const int_option_t pub_options[] = {
    { ZMQ_BACKLOG, SERVER_BACKLOG },  { ZMQ_SNDHWM, SERVER_SNDHWM },     { ZMQ_XPUB_VERBOSE, 1 },
    { ZMQ_RCVHWM, LIMIT_PEER_QUEUE }, { ZMQ_MAXMSGSIZE, LIMIT_SUB_MSG }, OPTIONS_END
};
static const int_option_t hello_options[] = { { ZMQ_BACKLOG, SERVER_BACKLOG },
                                              { ZMQ_MAXMSGSIZE, LIMIT_HELLO_MSG },
                                              OPTIONS_END };
static const int_option_t client_options[] = { { ZMQ_RCVHWM, 0 },
                                               { ZMQ_SNDHWM, 0 },
                                               { ZMQ_HEARTBEAT_IVL, CLIENT_HEARTBEAT },
                                               { ZMQ_HEARTBEAT_TIMEOUT, CLIENT_HB_TIMEOUT },
                                               { ZMQ_RECONNECT_IVL, 100 },
                                               { ZMQ_RECONNECT_IVL_MAX, RECONNECT_MAX },
                                               { ZMQ_CONNECT_TIMEOUT, 10000 },
                                               OPTIONS_END };
static const int_option_t ask_options[] = { { ZMQ_REQ_RELAXED, 1 },
                                            { ZMQ_REQ_CORRELATE, 1 },
                                            { ZMQ_RECONNECT_IVL, 100 },
                                            { ZMQ_RECONNECT_IVL_MAX, RECONNECT_MAX },
                                            { ZMQ_MAXMSGSIZE, LIMIT_HELLO_ANSWER },
                                            OPTIONS_END };

typedef struct sock_row {
    int zmq_type;
    const int_option_t *options;
    const char *zap_domain; /* servers with CURVE */
    bool curve_client;
} sock_row_t;

static const sock_row_t kinds[] = {
    [SOCK_ROUTER_SERVER] = { ZMQ_ROUTER, router_options, "req", false },
    [SOCK_PUB_SERVER] = { ZMQ_XPUB, pub_options, "pub", false },
    [SOCK_HELLO_SERVER] = { ZMQ_REP, hello_options, NULL, false },
    [SOCK_DEALER_CLIENT] = { ZMQ_DEALER, client_options, NULL, true },
    [SOCK_SUB_CLIENT] = { ZMQ_SUB, client_options, NULL, true },
    [SOCK_HELLO_CLIENT] = { ZMQ_REQ, ask_options, NULL, false },
};

static int
sock_set_int(void *sock, const int_option_t *o)
{
    if (o->name == ZMQ_MAXMSGSIZE) {
        int64_t wide = o->value;
        return zmq_setsockopt(sock, o->name, &wide, sizeof(wide));
    }
    return zmq_setsockopt(sock, o->name, &o->value, sizeof(o->value));
}

static int
set_curve(void *sock, const sock_row_t *row, const key_pair_t *own, const uint8_t *server_key)
{
    int rc = 0;
    if (row->zap_domain != NULL) {
        int one = 1;
        rc |= zmq_setsockopt(sock, ZMQ_CURVE_SERVER, &one, sizeof(one));
        rc |= zmq_setsockopt(sock, ZMQ_ZAP_DOMAIN, row->zap_domain, strlen(row->zap_domain));
    } else {
        rc |= zmq_setsockopt(sock, ZMQ_CURVE_SERVERKEY, server_key, KEY_BYTES);
        rc |= zmq_setsockopt(sock, ZMQ_CURVE_PUBLICKEY, key_pair_public(own), KEY_BYTES);
    }
    rc |= zmq_setsockopt(sock, ZMQ_CURVE_SECRETKEY, key_pair_secret(own), KEY_BYTES);
    return rc;
}

void *
sock_new(void *zctx, sock_kind_t kind, const key_pair_t *own, const uint8_t *server_key, fail_t *err)
{
    const sock_row_t *row = &kinds[kind];
    void *sock = zmq_socket(zctx, row->zmq_type);
    if (sock == NULL) {
        (void) fail_set(err, -zmq_errno(), "zmq_socket: %s", zmq_strerror(zmq_errno()));
        return NULL;
    }
    int rc = 0;
    for (const int_option_t *o = all_options; o->name; o++)
        rc |= sock_set_int(sock, o);
    for (const int_option_t *o = row->options; o->name; o++)
        rc |= sock_set_int(sock, o);
    if (row->zap_domain != NULL || row->curve_client)
        rc |= set_curve(sock, row, own, server_key);
    if (row->zmq_type == ZMQ_SUB)
        rc |= zmq_setsockopt(sock, ZMQ_SUBSCRIBE, "", 0);
    if (rc != 0) {
        (void) fail_set(err, -EINVAL, "zmq_setsockopt: %s (is libzmq built with CURVE?)",
                        zmq_strerror(zmq_errno()));
        sock_close(&sock);
    }
    return sock;
}

void
sock_close(void **sock_p)
{
    void *sock = STEAL(*sock_p);
    if (sock != NULL)
        (void) zmq_close(sock);
}

static char *
sock_endpoint(const char *host, int port)
{
    bool literal6 = strchr(host, ':') != NULL;
    return xasprintf(literal6 ? "tcp://[%s]:%d" : "tcp://%s:%d", host, port);
}

/* Build an endpoint. libzmq expects the source address before the destination: "tcp://SOURCE:0;HOST:PORT".
 * NEW. */
static char *
route(const char *source, const char *host, int port)
{
    AUTO_FREE char *to = sock_endpoint(host, port);
    if (str_empty(source))
        return STEAL(to);
    AUTO_FREE char *from = sock_endpoint(source, 0);
    return xasprintf("%s;%s", from, to + strlen("tcp://"));
}

int
sock_bind(void *sock, const char *host, int port, bool ipv6, fail_t *err)
{
    int on = ipv6 || strchr(host, ':') != NULL;
    (void) zmq_setsockopt(sock, ZMQ_IPV6, &on, sizeof(on));
    AUTO_FREE char *endpoint = sock_endpoint(host, port);
    if (zmq_bind(sock, endpoint) == 0)
        return 0;
    int code = zmq_errno();
    if (code == EADDRINUSE)
        return fail_set(err, -code,
                        "%s: the port is in use; is another master running? (see ss -tlnp sport = :%d)",
                        endpoint, port);
    return fail_set(err, -code, "%s: can't listen: %s", endpoint, zmq_strerror(code));
}

/* Bind again with the new key: libzmq fixes a listener's options when it is bound. The port is free only
 * after libzmq's thread has closed it, so binding is tried for REBIND_MS. */
int
sock_rekey(void *sock, const key_pair_t *own, fail_t *err)
{
    char endpoint[ENDPOINT_MAX];
    size_t n = sizeof(endpoint);
    if (zmq_getsockopt(sock, ZMQ_LAST_ENDPOINT, endpoint, &n) != 0 ||
        zmq_setsockopt(sock, ZMQ_CURVE_SECRETKEY, key_pair_secret(own), KEY_BYTES) != 0 ||
        zmq_unbind(sock, endpoint) != 0)
        return fail_set(err, -zmq_errno(), "the key of a port can't be changed: %s",
                        zmq_strerror(zmq_errno()));
    for (int waited_ms = 0; zmq_bind(sock, endpoint) != 0; waited_ms++) {
        if (zmq_errno() != EADDRINUSE || waited_ms >= REBIND_MS)
            return fail_set(err, -zmq_errno(), "%s: can't listen again: %s", endpoint,
                            zmq_strerror(zmq_errno()));
        (void) zmq_poll(NULL, 0, 1);
    }
    return 0;
}

int
sock_connect(void *sock, const char *host, int port, fail_t *err)
{
    return sock_connect_from(sock, NULL, host, port, err);
}

int
sock_connect_from(void *sock, const char *source, const char *host, int port, fail_t *err)
{
    int on = strchr(host, ':') != NULL;
    (void) zmq_setsockopt(sock, ZMQ_IPV6, &on, sizeof(on));
    AUTO_FREE char *endpoint = route(source, host, port);
    if (zmq_connect(sock, endpoint) == 0)
        return 0;
    return fail_set(err, -zmq_errno(), "%s: %s", endpoint, zmq_strerror(zmq_errno()));
}

/* ZMQ_IMMEDIATE is not an alternative: with it libzmq drops, together with a connection, messages received on
 * it that were not read yet. */
void
sock_once(void *sock)
{
    int never = RECONNECT_NEVER;
    (void) zmq_setsockopt(sock, ZMQ_RECONNECT_IVL, &never, sizeof(never));
}

void
sock_no_heartbeat(void *sock)
{
    int never = 0;
    (void) zmq_setsockopt(sock, ZMQ_HEARTBEAT_IVL, &never, sizeof(never));
}

int
sock_disconnect(void *sock, const char *source, const char *host, int port)
{
    AUTO_FREE char *endpoint = route(source, host, port);
    return zmq_disconnect(sock, endpoint);
}

void
sock_expect(void *sock, const uint8_t server_key[KEY_BYTES])
{
    (void) zmq_setsockopt(sock, ZMQ_CURVE_SERVERKEY, server_key, KEY_BYTES);
}

int
sock_fd(void *sock)
{
    int fd = -1;
    size_t n = sizeof(fd);
    (void) zmq_getsockopt(sock, ZMQ_FD, &fd, &n);
    return fd;
}

/* The pair has no limit of waiting events, so that none is dropped while the reader is busy. */
void *
sock_monitor(void *zctx, void *sock, const char *name, int events, fail_t *err)
{
    AUTO_FREE char *endpoint = xasprintf("inproc://monitor-%s-%p", name, sock);
    void *pair = zmq_socket(zctx, ZMQ_PAIR);
    int hwm = 0;
    if (pair == NULL || zmq_socket_monitor(sock, endpoint, events) != 0 ||
        zmq_setsockopt(pair, ZMQ_RCVHWM, &hwm, sizeof(hwm)) != 0 || zmq_connect(pair, endpoint) != 0) {
        (void) fail_set(err, -zmq_errno(), "socket monitor: %s", zmq_strerror(zmq_errno()));
        sock_close(&pair);
    }
    return pair;
}

void
sock_unmonitor(void *sock, void **monitor_p)
{
    if (*monitor_p)
        (void) zmq_socket_monitor(sock, NULL, 0);
    sock_close(monitor_p);
}

bool
sock_monitor_next(void *monitor, int *ret_event, int *ret_value)
{
    struct {
        uint16_t event;
        uint32_t value;
    } __attribute__((packed)) head;
    zmq_msg_t frame;
    (void) zmq_msg_init(&frame);
    if (zmq_msg_recv(&frame, monitor, ZMQ_DONTWAIT) < (int) sizeof(head)) {
        (void) zmq_msg_close(&frame);
        return false;
    }
    memcpy(&head, zmq_msg_data(&frame), sizeof(head));
    *ret_event = head.event;
    *ret_value = (int) head.value;
    /* The second frame is the endpoint, which the descriptor identifies better. */
    while (zmq_msg_more(&frame) && zmq_msg_recv(&frame, monitor, ZMQ_DONTWAIT) >= 0)
        ;
    (void) zmq_msg_close(&frame);
    return true;
}

/* Ends the process when there is no memory, as an allocation of its own would. */
int
sock_send(void *sock, const void *data, size_t len)
{
    if (zmq_send(sock, data, len, ZMQ_DONTWAIT) >= 0)
        return 0;
    if (zmq_errno() == ENOMEM)
        salt_no_memory(len);
    return -zmq_errno();
}

int
sock_send_frame_to(void *router, const void *rid, size_t rid_len, zmq_msg_t *frame)
{
    /* With ROUTER_MANDATORY an unreachable peer is refused at the routing frame, before the body. */
    if (zmq_send(router, rid, rid_len, ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0 &&
        zmq_msg_send(frame, router, ZMQ_DONTWAIT) >= 0)
        return 0;
    int code = zmq_errno();
    (void) zmq_msg_close(frame);
    return -code;
}

/* Bytes of a frame on the wire under CURVE: the parts of its MESSAGE command, and the frame's head, whose
 * length field is one byte up to 255 and eight beyond. */
size_t
sock_wire_bytes(size_t len)
{
    /* command name, short nonce, box authenticator, flags */
    size_t command = 8 + 8 + 16 + 1 + len;
    return command + (command <= UINT8_MAX ? 2 : 9);
}

/* Initialise a frame with a copy of these bytes. Ends the process without memory. */
static void
sock_frame(zmq_msg_t *frame, const void *data, size_t len)
{
    if (zmq_msg_init_size(frame, len) != 0)
        salt_no_memory(len);
    if (len > 0)
        memcpy(zmq_msg_data(frame), data, len);
}

int
sock_send_to(void *router, const void *rid, size_t rid_len, const void *data, size_t len)
{
    zmq_msg_t frame;
    /* Allocate the body first: if it failed after the routing frame, the next peer's routing frame would
     * become the body. */
    sock_frame(&frame, data, len);
    return sock_send_frame_to(router, rid, rid_len, &frame);
}

/* Sends the texts as the frames of one message, and waits while the actor's pipe is full. NULL ends the
 * list. */
void
sock_tell(void *actor, ...)
{
    void *sock = zsock_resolve(actor);
    va_list texts;
    va_start(texts, actor);
    for (const char *text = va_arg(texts, const char *), *next = NULL; text; text = next) {
        zmq_msg_t frame;
        next = va_arg(texts, const char *);
        sock_frame(&frame, text, strlen(text));
        int rc;
        while ((rc = zmq_msg_send(&frame, sock, next != NULL ? ZMQ_SNDMORE : 0)) < 0 && zmq_errno() == EINTR)
            ;
        if (rc < 0)
            (void) zmq_msg_close(&frame);
    }
    va_end(texts);
}

/* Waits for a message of an actor. Texts beyond `n_texts` are dropped, those that are missing are NULL.
 * Returns how many came; the texts are NEW. */
int
sock_hear(void *actor, char **ret_texts, int n_texts)
{
    void *sock = zsock_resolve(actor);
    int n = 0;
    bool more = true;
    for (int i = 0; i < n_texts; i++)
        ret_texts[i] = NULL;
    while (more) {
        zmq_msg_t frame;
        (void) zmq_msg_init(&frame);
        int len;
        while ((len = zmq_msg_recv(&frame, sock, 0)) < 0 && zmq_errno() == EINTR)
            ;
        if (len >= 0 && n < n_texts)
            ret_texts[n] = xstrndup(zmq_msg_data(&frame), (size_t) len);
        n += len >= 0;
        more = len >= 0 && zmq_msg_more(&frame);
        (void) zmq_msg_close(&frame);
    }
    return n;
}

static void *
sock_nothing(void *arg)
{
    return arg;
}

/* Try the descriptors and the thread, then give them back: czmq aborts when an actor can't be made. */
bool
sock_room_for_actor(void)
{
    int fds[ACTOR_FILES], n = 0;
    while (n < ACTOR_FILES && (fds[n] = eventfd(0, EFD_CLOEXEC)) >= 0)
        n++;
    for (int i = 0; i < n; i++)
        (void) close(fds[i]);
    pthread_t thread;
    if (n < ACTOR_FILES || pthread_create(&thread, NULL, sock_nothing, NULL) != 0)
        return false;
    (void) pthread_join(thread, NULL);
    return true;
}
