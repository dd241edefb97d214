/* test_sock.c - the sockets' options at work on loopback: keys, unreachable and full peers, huge frames,
 * monitors, ports. */
#include <czmq.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/net/sock.h"
#include "common/net/tcpcount.h"
#include "salt/limits.h"
#include "unit/unit.h"

#define PATIENCE_MS 10000

typedef struct fixture {
    void *zctx;
    key_pair_t *server_keys, *client_keys;
    void *router, *dealer;
    void *more[8]; /* of single tests; closed at the end, also after a failure */
    int port;
} fixture_t;

static void *
own(fixture_t *f, void *sock)
{
    assert_non_null(sock);
    for (size_t i = 0; i < NELEMS(f->more); i++)
        if (!f->more[i]) {
            f->more[i] = sock;
            return sock;
        }
    fail();
    return NULL;
}

static int
bound_port(void *sock)
{
    char endpoint[128];
    size_t n = sizeof(endpoint);

    assert_int_equal(zmq_getsockopt(sock, ZMQ_LAST_ENDPOINT, endpoint, &n), 0);
    return atoi(strrchr(endpoint, ':') + 1);
}

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));
    fail_auto_t err = FAIL_INIT;

    f->zctx = zmq_ctx_new();
    f->server_keys = key_pair_new();
    f->client_keys = key_pair_new();
    f->router = sock_new(f->zctx, SOCK_ROUTER_SERVER, f->server_keys, NULL, &err);
    assert_non_null(f->router);
    assert_int_equal(sock_bind(f->router, "127.0.0.1", 0, false, &err), 0);
    f->port = bound_port(f->router);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    for (size_t i = 0; i < NELEMS(f->more); i++)
        sock_close(&f->more[i]);
    sock_close(&f->dealer);
    sock_close(&f->router);
    (void) zmq_ctx_term(f->zctx);
    key_pair_destroy(&f->server_keys);
    key_pair_destroy(&f->client_keys);
    free(f);
    return 0;
}

static void *
client(fixture_t *f, const uint8_t *server_key)
{
    fail_auto_t err = FAIL_INIT;
    void *sock = sock_new(f->zctx, SOCK_DEALER_CLIENT, f->client_keys, server_key, &err);

    assert_non_null(sock);
    return sock;
}

/* Next frame within the patience: its length, or -1. What looks like one may be a late answer that is
 * dropped. */
static int
receive(void *sock, void *out, size_t cap)
{
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    int n = -1;

    while (n < 0 && clock_mono_ms() < until) {
        zmq_pollitem_t item = { sock, 0, ZMQ_POLLIN, 0 };
        if (zmq_poll(&item, 1, 100) == 1)
            n = zmq_recv(sock, out, cap, ZMQ_DONTWAIT);
    }
    return n;
}

/* The dealer says "hi"; its routing id. */
static int
greet(fixture_t *f, uint8_t rid[256])
{
    char text[16];

    f->dealer = client(f, key_pair_public(f->server_keys));
    assert_int_equal(sock_connect(f->dealer, "127.0.0.1", f->port, NULL), 0);
    assert_int_equal(sock_send(f->dealer, "hi", 2), 0);
    int n = receive(f->router, rid, 256);
    assert_int_equal(receive(f->router, text, sizeof(text)), 2);
    /* The master's probe comes first. */
    assert_int_equal(receive(f->dealer, text, sizeof(text)), 0);
    return n;
}

static void
test_there_and_back(void **state)
{
    fixture_t *f = *state;
    uint8_t rid[256];
    char text[64];
    int n = greet(f, rid);

    /* Routing ids are libzmq's own: a zero and a number. */
    assert_int_equal(n, 5);
    assert_int_equal(rid[0], 0);
    assert_int_equal(sock_send_to(f->router, rid, (size_t) n, "welcome", 7), 0);
    assert_int_equal(receive(f->dealer, text, sizeof(text)), 7);
    assert_memory_equal(text, "welcome", 7);
    assert_int_equal(sock_send_to(f->router, "nobody", 6, "x", 1), -EHOSTUNREACH);
}

static void
test_gone_peer(void **state)
{
    fixture_t *f = *state;
    uint8_t rid[256];
    int n = greet(f, rid), rc;
    int64_t until = clock_mono_ms() + PATIENCE_MS;

    sock_close(&f->dealer);
    /* The end is noticed by who also listens, as the master does. */
    while ((rc = sock_send_to(f->router, rid, (size_t) n, "x", 1)) == 0) {
        zmq_pollitem_t item = { f->router, 0, ZMQ_POLLIN, 0 };
        (void) zmq_poll(&item, 1, 5);
        assert_true(zmq_recv(f->router, rid, 0, ZMQ_DONTWAIT) < 0);
        assert_true(clock_mono_ms() < until);
    }
    assert_int_equal(rc, -EHOSTUNREACH);
}

/* A peer that does not read fills its own queue and says so; nothing blocks. */
static void
test_full_peer(void **state)
{
    fixture_t *f = *state;
    uint8_t rid[256];
    AUTO_FREE char *chunk = xcalloc(1, 100000);
    int rc = 0, n;
    long sent = 0;

    /* The dealer's own memory is not the subject: it takes nothing in. */
    f->dealer = client(f, key_pair_public(f->server_keys));
    int one = 1;
    assert_int_equal(zmq_setsockopt(f->dealer, ZMQ_RCVHWM, &one, sizeof(one)), 0);
    assert_int_equal(sock_connect(f->dealer, "127.0.0.1", f->port, NULL), 0);
    assert_int_equal(sock_send(f->dealer, "hi", 2), 0);
    n = receive(f->router, rid, sizeof(rid));
    while (rc == 0 && sent < 200000) {
        rc = sock_send_to(f->router, rid, (size_t) n, sent < 500 ? chunk : "x", sent < 500 ? 100000 : 1);
        sent += rc == 0;
    }
    assert_int_equal(rc, -EAGAIN);
    assert_true(sent < 30000);
}

/* What one peer may have waiting in the ROUTER has a limit: the rest stays on its side. */
static void
test_peer_queue(void **state)
{
    fixture_t *f = *state;
    uint8_t rid[256];
    AUTO_FREE char *chunk = xcalloc(1, 1000000);
    char text[16];

    (void) greet(f, rid);
    for (int i = 0; i < 200; i++)
        assert_int_equal(sock_send(f->dealer, chunk, 1000000), 0);
    /* All arrive all the same, in order and whole. */
    for (int i = 0; i < 200; i++) {
        assert_int_equal(receive(f->router, rid, sizeof(rid)), 5);
        assert_int_equal(receive(f->router, text, sizeof(text)), 1000000);
    }
}

/* Waits for one of the events on a monitor; its value. */
static int
wait_event(void *monitor, int wanted)
{
    int event = 0, value = 0;
    int64_t until = clock_mono_ms() + PATIENCE_MS;

    for (;;) {
        zmq_pollitem_t item = { monitor, 0, ZMQ_POLLIN, 0 };
        (void) zmq_poll(&item, 1, 100);
        while (sock_monitor_next(monitor, &event, &value))
            if (event & wanted)
                return value;
        if (clock_mono_ms() > until)
            fail_msg("event 0x%x did not come", (unsigned) wanted);
    }
}

static void
test_monitor(void **state)
{
    fixture_t *f = *state;
    uint8_t rid[256];
    fail_auto_t err = FAIL_INIT;
    void *monitor = own(
        f, sock_monitor(f->zctx, f->router, "r", ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED, &err));
    int event, value;

    assert_non_null(monitor);
    assert_false(sock_monitor_next(monitor, &event, &value));
    (void) greet(f, rid);
    int fd = wait_event(monitor, ZMQ_EVENT_ACCEPTED);
    sock_close(&f->dealer);
    /* The end names the same descriptor. */
    assert_int_equal(wait_event(monitor, ZMQ_EVENT_DISCONNECTED), fd);
}

static void
test_wrong_server_key(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) other = key_pair_new();
    void *dealer = own(f, client(f, key_pair_public(other)));
    void *monitor = own(f, sock_monitor(f->zctx, dealer, "d", ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL, NULL));

    assert_int_equal(sock_connect(dealer, "127.0.0.1", f->port, NULL), 0);
    (void) wait_event(monitor, ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL);
}

/* A frame over the limit ends its connection, and only that. */
static void
test_huge_frame(void **state)
{
    fixture_t *f = *state;
    uint8_t rid[256];
    char text[16];
    void *huge = own(f, client(f, key_pair_public(f->server_keys)));
    void *monitor = own(f, sock_monitor(f->zctx, f->router, "r", ZMQ_EVENT_DISCONNECTED, NULL));
    AUTO_FREE char *chunk = xcalloc(1, LIMIT_WIRE_MSG + 4096);

    (void) greet(f, rid);
    assert_int_equal(sock_connect(huge, "127.0.0.1", f->port, NULL), 0);
    assert_int_equal(sock_send(huge, chunk, LIMIT_WIRE_MSG + 4096), 0);
    (void) wait_event(monitor, ZMQ_EVENT_DISCONNECTED);
    assert_int_equal(sock_send(f->dealer, "still here", 10), 0);
    assert_int_equal(receive(f->router, rid, sizeof(rid)), 5);
    assert_int_equal(receive(f->router, text, sizeof(text)), 10);
}

/* Who speaks another language, or none. */
static void
test_strangers(void **state)
{
    static const char *const words[] = { "GET / HTTP/1.0\r\n\r\n", "\xff\0\0\0\0\0\0\0\1\x7f",
                                         "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "" };
    fixture_t *f = *state;
    uint8_t rid[256];
    char text[16], sink[256];

    for (size_t i = 0; i < NELEMS(words); i++) {
        struct sockaddr_in addr = { .sin_family = AF_INET,
                                    .sin_port = htons((uint16_t) f->port),
                                    .sin_addr = { htonl(INADDR_LOOPBACK) } };
        AUTO_FD fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(fd, (struct sockaddr *) &addr, sizeof(addr)), 0);
        (void) !write(fd, words[i], i == 1 ? 10 : strlen(words[i]));
        if (i != 0)
            continue;
        /* What is no ZMTP is hung up on. */
        struct pollfd pfd = { fd, POLLIN, 0 };
        while (poll(&pfd, 1, PATIENCE_MS) == 1 && read(fd, sink, sizeof(sink)) > 0)
            continue;
    }
    void *null = own(f, zmq_socket(f->zctx, ZMQ_DEALER));
    int zero = 0;
    (void) zmq_setsockopt(null, ZMQ_LINGER, &zero, sizeof(zero));
    void *monitor = own(f, sock_monitor(f->zctx, null, "n", ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL, NULL));
    assert_int_equal(sock_connect(null, "127.0.0.1", f->port, NULL), 0);
    (void) wait_event(monitor, ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL);
    (void) greet(f, rid);
    assert_int_equal(sock_send(f->dealer, "x", 1), 0);
    assert_int_equal(receive(f->router, rid, sizeof(rid)), 5);
    assert_int_equal(receive(f->router, text, sizeof(text)), 1);
}

static void
test_publish(void **state)
{
    fixture_t *f = *state;
    void *pub = own(f, sock_new(f->zctx, SOCK_PUB_SERVER, f->server_keys, NULL, NULL));
    void *sub = own(
        f, sock_new(f->zctx, SOCK_SUB_CLIENT, f->client_keys, key_pair_public(f->server_keys), NULL));
    char text[16];

    assert_int_equal(sock_bind(pub, "127.0.0.1", 0, false, NULL), 0);
    assert_int_equal(sock_connect(sub, "127.0.0.1", bound_port(pub), NULL), 0);
    assert_int_equal(receive(pub, text, sizeof(text)), 1);
    assert_int_equal(text[0], 1);
    assert_int_equal(sock_send(pub, "job", 3), 0);
    assert_int_equal(receive(sub, text, sizeof(text)), 3);
}

static void
test_hello(void **state)
{
    fixture_t *f = *state;
    void *rep = own(f, sock_new(f->zctx, SOCK_HELLO_SERVER, NULL, NULL, NULL));
    void *req = own(f, sock_new(f->zctx, SOCK_HELLO_CLIENT, NULL, NULL, NULL));
    char text[LIMIT_HELLO_MSG];

    assert_int_equal(sock_bind(rep, "127.0.0.1", 0, false, NULL), 0);
    assert_int_equal(sock_connect(req, "127.0.0.1", bound_port(rep), NULL), 0);
    assert_int_equal(sock_send(req, "{}", 2), 0);
    assert_int_equal(receive(rep, text, sizeof(text)), 2);
    /* It may be asked again without an answer to the first question; a late one is not taken for the second.
     */
    assert_int_equal(sock_send(req, "{}", 2), 0);
    assert_int_equal(sock_send(rep, "old", 3), 0);
    assert_int_equal(receive(rep, text, sizeof(text)), 2);
    assert_int_equal(sock_send(rep, "new", 3), 0);
    assert_int_equal(receive(req, text, sizeof(text)), 3);
    assert_memory_equal(text, "new", 3);
}

static void
test_ports(void **state)
{
    fixture_t *f = *state;
    fail_auto_t used = FAIL_INIT, address = FAIL_INIT, name = FAIL_INIT;
    void *second = own(f, sock_new(f->zctx, SOCK_ROUTER_SERVER, f->server_keys, NULL, NULL));

    assert_int_equal(sock_bind(second, "127.0.0.1", f->port, false, &used), -EADDRINUSE);
    assert_non_null(strstr(fail_text(&used), "another master"));
    assert_true(sock_bind(second, "192.0.2.1", 0, false, &address) < 0);
    assert_true(sock_bind(second, "no such interface", 0, false, &name) < 0);
    if (sock_bind(second, "::1", 0, true, NULL) == 0) {
        void *six = own(f, client(f, key_pair_public(f->server_keys)));
        uint8_t rid[16];
        assert_int_equal(sock_connect(six, "::1", bound_port(second), NULL), 0);
        assert_int_equal(sock_send(six, "six", 3), 0);
        assert_int_equal(receive(second, rid, sizeof(rid)), 5);
        assert_int_equal(sock_disconnect(six, NULL, "::1", bound_port(second)), 0);
    }
}

static void
test_tcp_counts(void **state)
{
    struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t n = sizeof(addr);
    AUTO_FD server = socket(AF_INET, SOCK_STREAM, 0);
    AUTO_FD client = socket(AF_INET, SOCK_STREAM, 0);
    tcp_counts_t here, there;

    assert_int_equal(bind(server, (struct sockaddr *) &addr, n), 0);
    assert_int_equal(listen(server, 1), 0);
    assert_int_equal(getsockname(server, (struct sockaddr *) &addr, &n), 0);
    assert_int_equal(connect(client, (struct sockaddr *) &addr, n), 0);
    AUTO_FD one = accept(server, NULL, NULL);
    assert_true(tcp_counts(one, &here));
    assert_int_equal(here.received, 0);
    assert_int_equal(send(client, "seven b", 7, 0), 7);
    for (int64_t end = clock_mono_ms() + PATIENCE_MS; clock_mono_ms() < end;) {
        assert_true(tcp_counts(client, &there));
        if (there.idle && there.acked >= 7)
            break;
        (void) poll(NULL, 0, 1);
    }
    /* Nobody has read them. The first acknowledged byte is the connection itself. */
    assert_true(tcp_counts(one, &here));
    assert_int_equal(here.received, 7);
    assert_true(there.idle && there.acked - 7 <= 1);
    AUTO_FREE char *from = tcp_address(one);
    assert_string_equal(from, "127.0.0.1");
    AUTO_FD file = dup(STDIN_FILENO);
    AUTO_FREE char *nobody = tcp_address(file);
    assert_false(tcp_counts(file, &here));
    assert_int_equal(here.received, 0);
    assert_string_equal(nobody, "(unknown)");
}

/* A message's descriptor; its bytes are dropped. */
static int
receive_from(void *sock)
{
    zmq_msg_t frame;
    zmq_pollitem_t item = { sock, 0, ZMQ_POLLIN, 0 };

    assert_int_equal(zmq_poll(&item, 1, PATIENCE_MS), 1);
    (void) zmq_msg_init(&frame);
    assert_true(zmq_msg_recv(&frame, sock, 0) >= 0); /* the routing id */
    assert_true(zmq_msg_recv(&frame, sock, 0) >= 0);
    int fd = zmq_msg_get(&frame, ZMQ_SRCFD);
    (void) zmq_msg_close(&frame);
    return fd;
}

static void
test_wire_bytes(void **state)
{
    /* Around the length from which a frame's takes eight bytes. */
    static const size_t sizes[] = { 0, 1, 221, 222, 223, 255, 256, 70000, 300000 };
    fixture_t *f = *state;
    tcp_counts_t before, after;
    size_t sum = 0;

    f->dealer = client(f, key_pair_public(f->server_keys));
    assert_int_equal(sock_connect(f->dealer, "127.0.0.1", f->port, NULL), 0);
    assert_int_equal(sock_send(f->dealer, "hi", 2), 0);
    int fd = receive_from(f->router);
    assert_true(tcp_counts(fd, &before));
    for (size_t i = 0; i < NELEMS(sizes); i++) {
        AUTO_FREE char *bytes = xcalloc(1, sizes[i] + 1);
        assert_int_equal(sock_send(f->dealer, bytes, sizes[i]), 0);
        assert_int_equal(receive_from(f->router), fd);
        sum += sock_wire_bytes(sizes[i]);
    }
    assert_true(tcp_counts(fd, &after));
    assert_int_equal(after.received - before.received, sum);
}

static void
test_unread(void **state)
{
    const tcp_counts_t busy = { 0, 1000, false }, idle = { 0, 1000, true };
    uint64_t said = 1700;

    assert_int_equal(tcp_unread(&busy, 500, &said), 700);
    assert_int_equal(tcp_unread(&idle, 500, &said), 700); /* libzmq has it */
    assert_int_equal(said, 1700);
    assert_int_equal(tcp_unread(&idle, 701, &said), 0);
    assert_int_equal(said, 1000);
    said = 900; /* pings have come there too */
    assert_int_equal(tcp_unread(&busy, 500, &said), 0);
    assert_int_equal(said, 900);
    assert_int_equal(tcp_unread(&idle, 500, &said), 0);
    assert_int_equal(said, 1000);
}

/* Says each message again: how many texts it had, and the first two. */
static void
echo(zsock_t *pipe, void *arg)
{
    (void) zsock_signal(pipe, 0);
    for (bool ended = false; !ended;) {
        char *texts[2];
        int n = sock_hear(pipe, texts, 2);
        AUTO_FREE char *count = xasprintf("%d", n);
        ended = n == 1 && str_eq(texts[0], "$TERM");
        if (!ended)
            sock_tell(pipe, count, texts[0], texts[1] ? texts[1] : "none", NULL);
        free(texts[0]), free(texts[1]);
    }
}

static void
test_texts(void **state)
{
    static const char *const expected[][3] = { { "1", "one", "none" },
                                               { "2", "", "two" },
                                               { "3", "a", "b" } };
    zactor_t *actor = zactor_new(echo, NULL);
    sock_tell(actor, "one", NULL);
    sock_tell(actor, "", "two", NULL);
    sock_tell(actor, "a", "b", "c", NULL);
    for (size_t i = 0; i < NELEMS(expected); i++) {
        char *texts[3];
        assert_int_equal(sock_hear(actor, texts, 3), 3);
        for (size_t k = 0; k < 3; k++) {
            assert_string_equal(texts[k], expected[i][k]);
            free(texts[k]);
        }
    }
    zactor_destroy(&actor);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void
test_no_room_for_an_actor(void **state)
{
    const struct rlimit none = { 0, 0 };
    int status;

    assert_true(sock_room_for_actor());
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        /* root has no limit of threads */
        bool bound = (getuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0)) &&
                     setrlimit(RLIMIT_NPROC, &none) == 0;
        _exit(!bound || !sock_room_for_actor() ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

UNIT_MAIN(cmocka_unit_test(test_no_room_for_an_actor), cmocka_unit_test(test_texts),
          TEST(test_there_and_back), TEST(test_gone_peer), TEST(test_full_peer), TEST(test_peer_queue),
          TEST(test_monitor), TEST(test_wrong_server_key), TEST(test_huge_frame), TEST(test_strangers),
          TEST(test_publish), TEST(test_hello), TEST(test_ports), TEST(test_tcp_counts),
          TEST(test_wire_bytes), cmocka_unit_test(test_unread))
