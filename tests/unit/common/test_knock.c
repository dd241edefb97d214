/* test_knock.c - a look at ports: a name without an address, ports that refuse, and what the first one
 * greets with. */
#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zmq.h>

#include "common/net/knock.h"
#include "common/net/sock.h"
#include "unit/unit.h"

#define PATIENCE_MS 10000
#define SHORT_MS    200

/* A listener on a port of the system's choice. */
static int
listener(int *ret_port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *) &at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *) &at, &len), 0);
    *ret_port = ntohs(at.sin_port);
    return fd;
}

static int
closed_port(void)
{
    int port, fd = listener(&port);

    close(fd);
    return port;
}

static knock_said_t
look(void *zctx, const char *host, int first, int second, int timeout_ms)
{
    fail_auto_t err = FAIL_INIT;
    knock_said_t said;
    knock_t *knock = knock_new(
        zctx, &(knock_conf_t){ .host = host, .ports = { first, second, 0 }, .timeout_ms = timeout_ms }, &err);

    assert_non_null(knock);
    zmq_pollitem_t item = { knock_sock(knock), 0, ZMQ_POLLIN, 0 };
    assert_int_equal(zmq_poll(&item, 1, PATIENCE_MS), 1);
    assert_true(knock_take(knock, &said));
    assert_false(knock_take(knock, &said));
    knock_destroy(&knock);
    return said;
}

static int
set_up(void **state)
{
    *state = zmq_ctx_new();
    return *state != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
    return zmq_ctx_term(*state);
}

static void
test_name(void **state)
{
    assert_int_not_equal(look(*state, "no..name", 4506, 4505, SHORT_MS).name, 0);
}

static void
test_refused(void **state)
{
    knock_said_t said = look(*state, "127.0.0.1", closed_port(), closed_port(), PATIENCE_MS);

    assert_int_equal(said.name, 0);
    assert_int_equal(said.code[0], ECONNREFUSED);
    assert_int_equal(said.code[1], ECONNREFUSED);
    assert_int_equal(said.code[2], 0);
    assert_int_equal(said.greets, KNOCK_NOT);
}

static void
test_silent(void **state)
{
    int port, fd = listener(&port);
    knock_said_t said = look(*state, "127.0.0.1", port, closed_port(), SHORT_MS);

    assert_int_equal(said.code[0], 0);
    assert_int_equal(said.code[1], ECONNREFUSED);
    assert_int_equal(said.greets, KNOCK_NOT);
    close(fd);
}

/* Accepts one and says hello as a mail server does. */
static void *
speak(void *arg)
{
    static const char text[] = "220 mail ESMTP\r\n";
    int fd = accept(*(int *) arg, NULL, NULL);

    (void) send(fd, text, strlen(text), MSG_NOSIGNAL);
    close(fd);
    return NULL;
}

static void
test_foreign(void **state)
{
    int port, fd = listener(&port);
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, speak, &fd), 0);
    knock_said_t said = look(*state, "127.0.0.1", port, 0, PATIENCE_MS);
    assert_int_equal(said.greets, KNOCK_FOREIGN);
    assert_int_equal(pthread_join(thread, NULL), 0);
    close(fd);
}

static int
bound_port(void *sock)
{
    char endpoint[64];
    size_t n = sizeof(endpoint);

    assert_int_equal(zmq_bind(sock, "tcp://127.0.0.1:*"), 0);
    assert_int_equal(zmq_getsockopt(sock, ZMQ_LAST_ENDPOINT, endpoint, &n), 0);
    return (int) strtol(strrchr(endpoint, ':') + 1, NULL, 10);
}

static void
test_mechanisms(void **state)
{
    key_pair_t *keys = key_pair_new();
    void *ours = sock_new(*state, SOCK_ROUTER_SERVER, keys, NULL, NULL),
         *salt = zmq_socket(*state, ZMQ_ROUTER);
    knock_said_t to_us = look(*state, "127.0.0.1", bound_port(ours), 0, PATIENCE_MS);
    knock_said_t to_salt = look(*state, "127.0.0.1", bound_port(salt), 0, PATIENCE_MS);

    /* What is left open would hold up the end of the context. */
    sock_close(&ours);
    sock_close(&salt);
    assert_int_equal(to_us.greets, KNOCK_ZMTP);
    assert_string_equal(to_us.mechanism, "CURVE");
    assert_int_equal(to_salt.greets, KNOCK_ZMTP);
    assert_string_equal(to_salt.mechanism, "NULL");
    key_pair_destroy(&keys);
}

/* Who does not wait for the answer may go. */
static void
test_left_alone(void **state)
{
    int port, fd = listener(&port);
    fail_auto_t err = FAIL_INIT;
    knock_t *knock = knock_new(
        *state, &(knock_conf_t){ .host = "127.0.0.1", .ports = { port, 0, 0 }, .timeout_ms = SHORT_MS },
        &err);

    assert_non_null(knock);
    knock_destroy(&knock);
    assert_null(knock);
    close(fd);
}

#define IN_CONTEXT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

UNIT_MAIN(IN_CONTEXT(test_name), IN_CONTEXT(test_refused), IN_CONTEXT(test_silent), IN_CONTEXT(test_foreign),
          IN_CONTEXT(test_mechanisms), IN_CONTEXT(test_left_alone))
